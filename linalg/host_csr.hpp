// A csr matrix on the host, seen in its own types.
#pragma once
#include <rlx/ir/host_value.hpp>
#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

template <class T>
inline constexpr DType dtype_of = std::is_same_v<T, double> ? DType::f64 : DType::c128;
template <class I>
inline constexpr DType index_of = sizeof(I) == 4 ? DType::i32 : DType::i64;

template <class T, class Index>
CsrView<T, Index> view_of(const HostSparse& a) {
  return {a.type.shape[0].constant(), a.type.shape[1].constant(), a.offsets.as<Index>(), a.indices.as<Index>(),
          a.values.as<T>()};
}

/// Calls f with the view of the matrix, whose arrays are those of its type: csr of f64 or c128.
template <class F>
auto with_view(const HostSparse& a, F f) {
  const bool narrow = a.type.index == DType::i32;
  if (a.type.dtype == DType::f64)
    return narrow ? f(view_of<double, std::int32_t>(a)) : f(view_of<double, std::int64_t>(a));
  using c128 = std::complex<double>;
  return narrow ? f(view_of<c128, std::int32_t>(a)) : f(view_of<c128, std::int64_t>(a));
}

}  // namespace rlx::linalg
