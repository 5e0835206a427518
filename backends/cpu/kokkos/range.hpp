// parallel_for, parallel_reduce and parallel_scan over ranges on the host pool.
#pragma once
#include "space.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace rlx::cpu::host_pool {

template <class Policy>
std::int64_t grain_of(const Policy& policy) {
  return std::max<std::int64_t>(1, policy.chunk_size());
}
template <class Policy>
std::int64_t chunks_of(const Policy& policy) {
  const std::int64_t extent = policy.end() - policy.begin(), grain = grain_of(policy);
  return (extent + grain - 1) / grain;
}

/// f(chunk, begin, end) for the first `chunks` chunks of a range.
template <class Policy, class F>
void each_chunk(const Policy& policy, std::int64_t chunks, const F& f) {
  using Index = typename Policy::member_type;
  static_assert(std::is_void_v<typename Policy::work_tag>, "bodies for the host pool have no tags");
  const std::int64_t grain = grain_of(policy), extent = policy.end() - policy.begin();
  auto run = [&](std::int64_t begin, std::int64_t end) {
    f(begin / grain, policy.begin() + static_cast<Index>(begin), policy.begin() + static_cast<Index>(end));
  };
  parallel_for(
      std::min(extent, chunks * grain), grain, policy.space().threads(),
      [](void* r, std::int64_t begin, std::int64_t end) { (*static_cast<decltype(run)*>(r))(begin, end); }, &run);
}

/// body(i, value) over a chunk, from a value that lives on the thread's own stack.
template <class V, class Index, class Body>
V value_of_chunk(V value, Index begin, Index end, const Body& body) {
  for (Index i = begin; i < end; ++i) body(i, value);
  return value;
}
template <class Reducer, class V>
V no_value(const Reducer& reducer) {
  static_assert(std::is_default_constructible_v<V> && std::is_copy_assignable_v<V>,
                "values of reductions and scans are plain: scalars or structs");
  V value{};
  reducer.init(&value);
  return value;
}

template <class V, class Policy, class Body, class Reducer>
V reduced(const Policy& policy, const Body& body, const Reducer& reducer) {
  const std::int64_t chunks = chunks_of(policy);
  const V none = no_value<Reducer, V>(reducer);
  const auto values = std::make_unique_for_overwrite<V[]>(static_cast<std::size_t>(chunks));
  each_chunk(policy, chunks, [&](std::int64_t chunk, auto begin, auto end) {
    values[static_cast<std::size_t>(chunk)] = value_of_chunk(none, begin, end, body);
  });
  V all = none;
  for (std::int64_t c = 0; c < chunks; ++c) reducer.join(&all, &values[static_cast<std::size_t>(c)]);
  reducer.final(&all);
  return all;
}

/// The first pass finds the values of all chunks but the last, from which each begins in the second. Gives the total.
template <class V, class Policy, class Body, class Reducer>
V scanned(const Policy& policy, const Body& body, const Reducer& reducer) {
  const std::int64_t chunks = chunks_of(policy);
  const V none = no_value<Reducer, V>(reducer);
  if (chunks == 0) return none;
  const auto values = std::make_unique_for_overwrite<V[]>(static_cast<std::size_t>(chunks));
  each_chunk(policy, chunks - 1, [&](std::int64_t chunk, auto begin, auto end) {
    values[static_cast<std::size_t>(chunk)] =
        value_of_chunk(none, begin, end, [&](auto i, V& value) { body(i, value, false); });
  });
  V before = none;
  for (std::int64_t c = 0; c < chunks; ++c) {
    const V begins = before;
    if (c + 1 < chunks) reducer.join(&before, &values[static_cast<std::size_t>(c)]);
    values[static_cast<std::size_t>(c)] = begins;
  }
  each_chunk(policy, chunks, [&](std::int64_t chunk, auto begin, auto end) {
    V& value = values[static_cast<std::size_t>(chunk)];
    value = value_of_chunk(value, begin, end, [&](auto i, V& v) { body(i, v, true); });
  });
  return values[static_cast<std::size_t>(chunks - 1)];
}

#if KOKKOS_VERSION < 40000
/// What Kokkos 4 calls FunctorAnalysis<..>::Reducer: how the values of a functor, or of a reducer, begin, are joined
/// and end; without such functions of theirs a value begins as V{} and is joined by +=. Kokkos 3's own adapters would
/// ask of a struct that it adds volatile ones.
template <class F, class V>
class Reducer {
 public:
  explicit Reducer(const F& f) : f_(f) {}
  void init(V* value) const {
    if constexpr (requires { f_.init(*value); }) f_.init(*value);
    else *value = V{};
  }
  void join(V* to, const V* from) const {
    if constexpr (requires { f_.join(*to, *from); }) f_.join(*to, *from);
    else *to += *from;
  }
  void final(V* value) const {
    if constexpr (requires { f_.final(*value); }) f_.final(*value);
  }

 private:
  const F& f_;
};
#endif

}  // namespace rlx::cpu::host_pool

template <class F, class... Properties>
class Kokkos::Impl::ParallelFor<F, Kokkos::RangePolicy<Properties...>, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;
  ParallelFor(const F& body, const Policy& policy) : body_(body), policy_(policy) {}
  void execute() const {
    rlx::cpu::host_pool::each_chunk(policy_, rlx::cpu::host_pool::chunks_of(policy_),
                                    [this](std::int64_t, auto begin, auto end) {
                                      for (auto i = begin; i < end; ++i) body_(i);
                                    });
  }

 private:
  const F body_;
  const Policy policy_;
};

#if KOKKOS_VERSION < 40000

template <class F, class R, class... Properties>
class Kokkos::Impl::ParallelReduce<F, Kokkos::RangePolicy<Properties...>, R, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;
  using Select = if_c<std::is_same_v<R, InvalidType>, F, R>;
  using Value = typename FunctorValueTraits<typename Select::type, void>::value_type;

  template <class View, std::enable_if_t<Kokkos::is_view<View>::value && std::is_same_v<R, InvalidType>, int> = 0>
  ParallelReduce(const F& body, const Policy& policy, const View& result)
      : body_(body), policy_(policy), result_(result.data()) {}
  ParallelReduce(const F& body, const Policy& policy, const R& reducer)
      : body_(body), policy_(policy), reducer_(reducer), result_(reducer.view().data()) {}
  void execute() const {
    const rlx::cpu::host_pool::Reducer<typename Select::type, Value> reducer(Select::select(body_, reducer_));
    *result_ = rlx::cpu::host_pool::reduced<Value>(policy_, body_, reducer);
  }

 private:
  const F body_;
  const Policy policy_;
  const R reducer_{};
  Value* const result_;
};

template <class F, class... Properties>
class Kokkos::Impl::ParallelScan<F, Kokkos::RangePolicy<Properties...>, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;
  using Value = typename FunctorAnalysis<FunctorPatternInterface::SCAN, Policy, F>::value_type;
  ParallelScan(const F& body, const Policy& policy) : body_(body), policy_(policy) {}
  void execute() const { total(); }

 protected:
  Value total() const {
    return rlx::cpu::host_pool::scanned<Value>(policy_, body_, rlx::cpu::host_pool::Reducer<F, Value>(body_));
  }

 private:
  const F body_;
  const Policy policy_;
};

template <class F, class Result, class... Properties>
class Kokkos::Impl::ParallelScanWithTotal<F, Kokkos::RangePolicy<Properties...>, Result, rlx::cpu::HostPool>
    : private ParallelScan<F, Kokkos::RangePolicy<Properties...>, rlx::cpu::HostPool> {
 public:
  using Scan = ParallelScan<F, Kokkos::RangePolicy<Properties...>, rlx::cpu::HostPool>;
  ParallelScanWithTotal(const F& body, const typename Scan::Policy& policy, Result& result)
      : Scan(body, policy), result_(result) {}
  void execute() const { result_ = this->total(); }

 private:
  Result& result_;
};

#else

template <class Combined, class... Properties>
class Kokkos::Impl::ParallelReduce<Combined, Kokkos::RangePolicy<Properties...>, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;
  using Value = typename Combined::reducer_type::value_type;
  template <class View>
  ParallelReduce(const Combined& body, const Policy& policy, const View& result)
      : body_(body), policy_(policy), result_(result.data()) {}
  void execute() const {
    *result_ = rlx::cpu::host_pool::reduced<Value>(policy_, body_.get_functor(), body_.get_reducer());
  }

 private:
  const Combined body_;
  const Policy policy_;
  Value* const result_;
};

template <class F, class Result, class... Properties>
class Kokkos::Impl::ParallelScanWithTotal<F, Kokkos::RangePolicy<Properties...>, Result, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;
  using Analysis = FunctorAnalysis<FunctorPatternInterface::SCAN, Policy, F, Result>;
  using Value = typename Analysis::value_type;
  template <class View>
  ParallelScanWithTotal(const F& body, const Policy& policy, const View& result)
      : body_(body, typename Analysis::Reducer{body}), policy_(policy), result_(result.data()) {}
  void execute() const {
    const Value total = rlx::cpu::host_pool::scanned<Value>(policy_, body_.get_functor(), body_.get_reducer());
    if (result_) *result_ = total;
  }

 private:
  const CombinedFunctorReducer<F, typename Analysis::Reducer> body_;
  const Policy policy_;
  Value* const result_;
};

template <class F, class... Properties>
class Kokkos::Impl::ParallelScan<F, Kokkos::RangePolicy<Properties...>, rlx::cpu::HostPool> {
 public:
  using Policy = Kokkos::RangePolicy<Properties...>;
  using Analysis = FunctorAnalysis<FunctorPatternInterface::SCAN, Policy, F, void>;
  ParallelScan(const F& body, const Policy& policy) : body_(body, typename Analysis::Reducer{body}), policy_(policy) {}
  void execute() const {
    rlx::cpu::host_pool::scanned<typename Analysis::value_type>(policy_, body_.get_functor(), body_.get_reducer());
  }

 private:
  const CombinedFunctorReducer<F, typename Analysis::Reducer> body_;
  const Policy policy_;
};

#endif
