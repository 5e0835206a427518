// Arguments and results of traced functions as lists of leaves: Tensor, Csr, numbers, and std::vector, std::array,
// std::pair and std::tuple of them, nested at will. A type of your own takes part by a specialisation of Tree.
#pragma once
#include <rlx/csr.hpp>

#include <array>
#include <tuple>
#include <utility>

namespace rlx {

/// Hands out leaves in the order in which Tree::leaves wrote them.
class LeafReader {
 public:
  explicit LeafReader(std::span<const Handle> leaves) : leaves_(leaves) {}
  const Handle& next() {
    return next_ < leaves_.size() ? leaves_[next_++] : throw InternalError("fewer leaves than the structure has");
  }

 private:
  std::span<const Handle> leaves_;
  std::size_t next_ = 0;
};

/// `leaves` appends the leaves of a value; `rebuild` makes one of the same structure as `like`, whose own leaves it
/// does not look at, from others; `describe` appends whatever of the structure the C++ type leaves open (lengths).
template <class T>
struct Tree;

template <>
struct Tree<Tensor> {
  static void describe(const Tensor&, std::string&) {}
  static void leaves(const Tensor& x, Handles& out) { out.push_back(x); }
  static Tensor rebuild(const Tensor&, LeafReader& in) {
    const Handle& h = in.next();
    if (h.defined()) return Tensor(h);
    Tensor blank;
    static_cast<Handle&>(blank) = h;
    return blank;
  }
};
template <>
struct Tree<Csr> {
  static void describe(const Csr&, std::string&) {}
  static void leaves(const Csr& x, Handles& out) { out.push_back(x); }
  static Csr rebuild(const Csr&, LeafReader& in) {
    const Handle& h = in.next();
    if (h.defined()) return Csr(h);
    Csr blank;
    static_cast<Handle&>(blank) = h;
    return blank;
  }
};
template <class T>
struct Tree<std::vector<T>> {
  static void describe(const std::vector<T>& x, std::string& out) {
    out += '[' + std::to_string(x.size()) + ']';
    for (const T& e : x) Tree<T>::describe(e, out);
  }
  static void leaves(const std::vector<T>& x, Handles& out) {
    for (const T& e : x) Tree<T>::leaves(e, out);
  }
  static std::vector<T> rebuild(const std::vector<T>& like, LeafReader& in) {
    std::vector<T> r;
    for (const T& e : like) r.push_back(Tree<T>::rebuild(e, in));
    return r;
  }
};
template <class T, std::size_t n>
struct Tree<std::array<T, n>> {
  static void describe(const std::array<T, n>& x, std::string& out) {
    for (const T& e : x) Tree<T>::describe(e, out);
  }
  static void leaves(const std::array<T, n>& x, Handles& out) {
    for (const T& e : x) Tree<T>::leaves(e, out);
  }
  static std::array<T, n> rebuild(const std::array<T, n>& like, LeafReader& in) {
    std::array<T, n> r;
    for (std::size_t i = 0; i < n; ++i) r[i] = Tree<T>::rebuild(like[i], in);
    return r;
  }
};
template <class... T>
struct Tree<std::tuple<T...>> {
  static void describe(const std::tuple<T...>& x, std::string& out) {
    std::apply([&](const T&... e) { (Tree<T>::describe(e, out), ...); }, x);
  }
  static void leaves(const std::tuple<T...>& x, Handles& out) {
    std::apply([&](const T&... e) { (Tree<T>::leaves(e, out), ...); }, x);
  }
  static std::tuple<T...> rebuild(const std::tuple<T...>& like, LeafReader& in) {
    return std::apply([&](const T&... e) { return std::tuple<T...>{Tree<T>::rebuild(e, in)...}; },
                      like);  // braces: left to right
  }
};
template <class A, class B>
struct Tree<std::pair<A, B>> {
  static void describe(const std::pair<A, B>& x, std::string& out) {
    Tree<A>::describe(x.first, out), Tree<B>::describe(x.second, out);
  }
  static void leaves(const std::pair<A, B>& x, Handles& out) {
    Tree<A>::leaves(x.first, out), Tree<B>::leaves(x.second, out);
  }
  static std::pair<A, B> rebuild(const std::pair<A, B>& like, LeafReader& in) {
    A a = Tree<A>::rebuild(like.first, in);
    return {std::move(a), Tree<B>::rebuild(like.second, in)};
  }
};

template <class T>
concept TreeLike = requires(const T& x, Handles& out, LeafReader& in, std::string& text) {
  Tree<T>::leaves(x, out);
  Tree<T>::rebuild(x, in);
  Tree<T>::describe(x, text);
};

/// An argument of a jit function that the caller gives away; made by donate().
template <TreeLike T>
struct Donation {
  T* tree;
};
/// `state = step(rlx::donate(state), batch)`: the call writes its results over the memory of these tensors where their
/// types and last uses allow it (DispatchReport::donations says where), instead of taking memory of its own. A tensor
/// that other handles share is copied first, so that these keep their elements. Afterwards the leaves of `tree` are
/// undefined, and using one is an ArgumentError that names the argument. Arguments that are refused, and memory that
/// cannot be had, leave them as they were; a call that fails while it runs has used them up. Inside another traced
/// function, which is one program, it does nothing.
template <TreeLike T>
Donation<T> donate(T& tree) {
  return {&tree};
}

namespace detail {

/// What a traced function is given for an argument of type T: numbers become tensors.
template <class T>
struct Argument {
  using type = std::decay_t<T>;
};
template <class T>
  requires std::is_arithmetic_v<std::decay_t<T>>
struct Argument<T> {
  using type = Tensor;
};
template <class T>
struct Argument<Donation<T>> {
  using type = T;
};
template <class T>
using argument_t = typename Argument<T>::type;

template <TreeLike T>
Handles leaves_of(const T& x) {
  Handles out;
  Tree<T>::leaves(x, out);
  return out;
}
template <TreeLike T>
T rebuilt(const T& like, std::span<const Handle> leaves) {
  LeafReader in(leaves);
  return Tree<T>::rebuild(like, in);
}
/// The structure alone: holds no memory and no trace alive.
template <TreeLike T>
T hollow(const T& x) {
  return rebuilt(x, Handles(leaves_of(x).size()));
}
template <TreeLike T>
std::string description_of(const T& x) {
  std::string out;
  Tree<T>::describe(x, out);
  return out;
}

/// An argument as its function is given it.
template <class T>
const T& plain(const T& x) {
  return x;
}
template <class T>
const T& plain(const Donation<T>& d) {
  return *d.tree;
}

/// f on one state, or on its parts where f takes those.
template <class F, class S>
decltype(auto) invoke_state(const F& f, const S& s) {
  if constexpr (std::is_invocable_v<const F&, const S&>) return f(s);
  else return std::apply(f, s);
}
template <class F, class S>
using state_result_t = std::decay_t<decltype(invoke_state(std::declval<const F&>(), std::declval<const S&>()))>;

}  // namespace detail
}  // namespace rlx
