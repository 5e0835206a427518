// jit: a function over tensors, traced once for every signature of its arguments, compiled and kept.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/runtime/statistics.hpp>
#include <rlx/staging.hpp>

#include <ostream>
#include <typeinfo>

namespace rlx {

struct JitOptions {
  std::string device{};                    ///< Empty: default_device().
  Preference policy = Preference::native;  ///< As CompileOptions::preference.
  std::map<std::string, Preference, std::less<>> per_operator{};
  bool reproducible = false;                   ///< As in CompileOptions. RLX_POLICY and its like win over all of these.
  bool checked = checked_by_default();         ///< As in CompileOptions.
  bool exact_sizes = false, recognise = true;  ///< As in CompileOptions.
  /// Signatures whose programs are kept, at least 1: those called last. One that comes back after it went is traced and
  /// compiled again.
  std::size_t kept_signatures = runtime::kept_programs;
};

inline std::ostream& operator<<(std::ostream& out, const DispatchReport& r) { return out << r.to_table(); }

namespace detail {

/// Programs by signature. Threads may call at once; those that want the same new signature wait for one compilation.
class RLX_API JitCache {
 public:
  using Structure = std::shared_ptr<const void>;  ///< Of a result.
  struct Traced {
    std::shared_ptr<const Frame> frame;
    Structure structure;
  };
  struct Result {
    Handles leaves;
    Structure structure;
  };
  struct Arguments {
    std::string structure;
    Handles leaves;
    std::vector<bool> donated;  ///< One a leaf.
    std::string where{};        ///< Of the function, for errors.

    template <TreeLike T>
    void add(const T& x, bool is_donated) {
      Tree<T>::leaves(x, leaves);
      donated.resize(leaves.size(), is_donated);
    }
  };

  explicit JitCache(JitOptions options);  ///< Throws ArgumentError where no signature is to be kept.
  ~JitCache();
  /// `trace` over leaves of these types. `put` hands leaves back in the place of those that were donated.
  Result call(Arguments arguments, const std::function<Traced(const Types&)>& trace,
              const std::function<void(const Handles&)>& put);
  std::size_t signatures() const;
  DispatchReport report() const;
  std::vector<DispatchReport> reports() const;
  runtime::ExecutableStatistics statistics() const;
  Graph graph() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

template <class T>
constexpr bool is_donation = false;
template <class T>
constexpr bool is_donation<Donation<T>> = true;

template <class A, TreeLike T>
void put_back(const A& a, const T& like, LeafReader& leaves) {
  T tree = Tree<T>::rebuild(like, leaves);
  if constexpr (is_donation<A>) *a.tree = std::move(tree);
}

}  // namespace detail

/// Copies share their programs.
template <class F>
class Jit {
 public:
  Jit(F f, JitOptions options, Location where)
      : f_(std::move(f)), where_(std::move(where)), cache_(std::make_shared<detail::JitCache>(std::move(options))) {}

  /// Runs the program of the arguments' signature: their dtypes, shapes and numbers of stored entries. What f takes
  /// from around it is taken once, when it is traced. Inside another traced function it is a part of that one.
  /// Arguments may be donated: see donate().
  template <class... A>
  auto operator()(const A&... a) const {
    std::tuple<detail::argument_t<A>...> args{detail::plain(a)...};
    using R = std::decay_t<decltype(std::apply(f_, std::as_const(args)))>;
    if (is_tracing()) return R(std::apply(f_, std::as_const(args)));
    detail::JitCache::Arguments in{typeid(args).name() + detail::description_of(args), {}, {}, where_.to_string()};
    std::apply([&](const auto&... x) { (in.add(x, detail::is_donation<A>), ...); }, args);
    args = detail::hollow(args);  // Nothing but `in` and the caller must hold what is donated.
    const auto r = cache_->call(
        std::move(in),
        [&](const Types& types) {
          auto s = detail::stage("jit", f_, args, types, where_);
          return detail::JitCache::Traced{std::move(s.frame), std::make_shared<const R>(std::move(s.structure))};
        },
        [&](const Handles& leaves) {
          LeafReader next(leaves);
          std::apply([&](const auto&... like) { (detail::put_back(a, like, next), ...); }, args);
        });
    return detail::rebuilt(*static_cast<const R*>(r.structure.get()), r.leaves);
  }

  std::size_t signatures() const { return cache_->signatures(); }  ///< Whose programs are kept.
  DispatchReport report() const { return cache_->report(); }  ///< Of the signature called last; ArgumentError before.
  std::vector<DispatchReport> reports() const { return cache_->reports(); }          ///< One a signature, oldest first.
  runtime::ExecutableStatistics statistics() const { return cache_->statistics(); }  ///< Of that signature's calls.
  Graph graph() const { return cache_->graph(); }  ///< What was traced for the signature called last.

 private:
  F f_;
  Location where_;
  std::shared_ptr<detail::JitCache> cache_;
};

/// Reports and errors locate the function's nodes where it calls functions over tensors, what else it emits at this
/// call; with Here::nowhere() none of them.
template <class F>
Jit<std::decay_t<F>> jit(F&& f, JitOptions options = {}, Here here = std::source_location::current()) {
  return {std::forward<F>(f), std::move(options), here.location()};
}

}  // namespace rlx
