// Derivatives and batches of functions over tensors. Each gives a function again, which may be differentiated, batched
// and compiled in turn. Outside jit every call traces anew and runs at once: wrap what is called often in jit. What the
// function does not locate itself is located where the transform was called (`here`).
#pragma once
#include <rlx/ir/counted.hpp>
#include <rlx/staging.hpp>

namespace rlx {
namespace detail {

template <std::size_t... i>
struct Wrt {
  static constexpr bool has(std::size_t k) { return ((k == i) || ...); }
};
template <std::size_t... i>
struct WrtOr0 {
  using type = Wrt<i...>;
};
template <>
struct WrtOr0<> {
  using type = Wrt<0>;
};

/// One flag a leaf: whether its argument is among `i`.
template <std::size_t... i, class... A>
std::vector<bool> wanted_leaves(Wrt<i...>, const std::tuple<A...>& args) {
  std::vector<bool> out;
  std::size_t at = 0;
  const auto add = [&](std::size_t leaves) { out.insert(out.end(), leaves, Wrt<i...>::has(at++)); };
  std::apply([&](const A&... a) { (add(leaves_of(a).size()), ...); }, args);
  return out;
}

/// (value, gradient) of a function whose first leaf is the loss; the gradient has the structure of the arguments it is
/// for.
template <class F, std::size_t... i, class... A>
auto value_and_gradient(const F& f, Wrt<i...> wrt, const std::tuple<A...>& args, const Location& where) {
  static_assert(((i < sizeof...(A)) && ...), "a gradient was asked for of an argument that is not given");
  const Handles leaves = leaves_of(args);
  const auto s = stage("grad", f, args, where);
  const Handles out = apply_grad(*s.frame, leaves, wanted_leaves(wrt, args));
  LeafReader in(out);
  using R = std::decay_t<decltype(s.structure)>;
  R value = Tree<R>::rebuild(s.structure, in);
  // Gradients come in the order of the arguments, whatever the order that was asked for.
  std::tuple<A...> all;
  const auto take = [&](auto& to, const auto& like, bool is_wanted) {
    if (is_wanted) to = Tree<std::decay_t<decltype(like)>>::rebuild(like, in);
  };
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (take(std::get<k>(all), std::get<k>(args), Wrt<i...>::has(k)), ...);
  }(std::index_sequence_for<A...>());
  if constexpr (sizeof...(i) == 1) return std::pair(std::move(value), std::get<i...>(std::move(all)));
  else return std::pair(std::move(value), std::tuple(std::get<i>(all)...));
}

}  // namespace detail

/// (f(args...), gradient) of f's first result, a real scalar, with respect to argument 0, or to those named:
/// value_and_grad<0, 2>(f), whose gradient is a tuple. Further results of f are passed through. The gradient of a real
/// loss is dL/dx + i dL/dy, that of a Csr a Csr of its structure.
template <std::size_t... wrt, class F>
auto value_and_grad(F f, Here here = std::source_location::current()) {
  return [f = std::move(f), here]<class... A>(const A&... a) {
    return detail::value_and_gradient(f, typename detail::WrtOr0<wrt...>::type{},
                                      std::tuple<detail::argument_t<A>...>{a...}, here.location());
  };
}

template <std::size_t... wrt, class F>
auto grad(F f, Here here = std::source_location::current()) {
  return [g = value_and_grad<wrt...>(std::move(f), here)](const auto&... a) { return g(a...).second; };
}

/// jvp(f)(x..., tangents...) is (f(x...), its tangent): one tangent an argument, of its structure.
template <class F>
auto jvp(F f, Here here = std::source_location::current()) {
  return [f = std::move(f), here]<class... A>(const A&... a) {
    static_assert(sizeof...(A) % 2 == 0, "jvp(f) takes the arguments of f, then a tangent for each");
    const std::tuple<detail::argument_t<A>...> all{a...};
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      const std::tuple args{std::get<k>(all)...};
      const std::tuple tangents{std::get<k + sizeof...(A) / 2>(all)...};
      const auto s = detail::stage("jvp", f, args, here.location());
      const Handles out = detail::apply_jvp(*s.frame, detail::leaves_of(args), detail::leaves_of(tangents));
      const std::size_t half = out.size() / 2;
      return std::pair(detail::rebuilt(s.structure, std::span(out).first(half)),
                       detail::rebuilt(s.structure, std::span(out).subspan(half)));
    }(std::make_index_sequence<sizeof...(A) / 2>());
  };
}

/// The second result of vjp: takes a cotangent of the structure of f's result to one of the arguments', a tuple.
template <class R, class Args>
class Pullback {
 public:
  Pullback(detail::Stage<R> s, Args args) : stage_(std::move(s)), args_(std::move(args)) {}
  /// Leaves of the result that have no derivative (integers) are undefined.
  Args operator()(const R& cotangent) const {
    return detail::rebuilt(args_,
                           detail::apply_vjp(*stage_.frame, detail::leaves_of(args_), detail::leaves_of(cotangent)));
  }

 private:
  detail::Stage<R> stage_;
  Args args_;
};

/// vjp(f)(x...) is (f(x...), pullback).
template <class F>
auto vjp(F f, Here here = std::source_location::current()) {
  return [f = std::move(f), here]<class... A>(const A&... a) {
    using Args = std::tuple<detail::argument_t<A>...>;
    const Args args{a...};
    auto s = detail::stage("vjp", f, args, here.location());
    using R = std::decay_t<decltype(s.structure)>;
    R value = detail::rebuilt(s.structure, detail::apply(*s.frame, detail::leaves_of(args)));
    return std::pair<R, Pullback<R, Args>>(std::move(value), Pullback<R, Args>(std::move(s), args));
  };
}

/// f, of which reverse mode keeps nothing but the arguments (and what f uses from around it): what f computes inside is
/// computed again when its derivative is. Less memory for more work; values and derivatives are the same.
template <class F>
auto checkpoint(F f, Here here = std::source_location::current()) {
  return [f = std::move(f), here]<class... A>(const A&... a) {
    const std::tuple<detail::argument_t<A>...> args{a...};
    const auto s = detail::stage("checkpoint", f, args, here.location());
    return detail::rebuilt(s.structure,
                           detail::apply_checkpoint(*s.frame, detail::leaves_of(args), {"checkpoint", here}));
  };
}

/// f for every member of a batch at once. in_axes: one an argument, the dimension along which its tensors are batched,
/// -1: the same for all members; none: 0 for everything but sparse matrices. Results are batched along out_axis.
template <class F>
auto vmap(F f, std::vector<int> in_axes = {}, int out_axis = 0, Here here = std::source_location::current()) {
  return [f = std::move(f), in_axes = std::move(in_axes), out_axis, here]<class... A>(const A&... a) {
    const std::tuple<detail::argument_t<A>...> args{a...};
    if (!in_axes.empty() && in_axes.size() != sizeof...(A))
      throw ArgumentError("vmap: " + std::to_string(in_axes.size()) + " axes for " + counted(sizeof...(A), "argument"));
    const Handles leaves = detail::leaves_of(args);
    std::vector<int> axes;
    std::size_t at = 0;
    const auto spread = [&](const Handles& of_argument) {
      for (const Handle& h : of_argument)
        axes.push_back(!in_axes.empty() ? in_axes[at] : std::holds_alternative<TensorType>(h.type()) ? 0 : -1);
      ++at;
    };
    std::apply([&](const auto&... x) { (spread(detail::leaves_of(x)), ...); }, args);
    const detail::Members members = detail::members_of(leaves, axes);
    const auto s = detail::stage("vmap", f, args, members.types, here.location());
    return detail::rebuilt(s.structure, detail::apply_vmap(*s.frame, leaves, axes, members.size, out_axis));
  };
}

}  // namespace rlx
