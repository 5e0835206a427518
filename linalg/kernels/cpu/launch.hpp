// How launches of this family see their buffers: typed spans, and a call for each element type.
#pragma once
#include <rlx/compile/target.hpp>

#include <rlx/linalg/csr_view.hpp>

#include <complex>
#include <span>

namespace rlx::linalg {

template <class T>
std::span<const T> input(const LaunchCall& c, std::size_t i) {
  return {static_cast<const T*>(c.in[i].data), static_cast<std::size_t>(c.in[i].type.numel().constant())};
}
template <class T>
std::span<T> output(const LaunchCall& c, std::size_t i) {
  return {static_cast<T*>(c.out[i].data), static_cast<std::size_t>(c.out[i].type.numel().constant())};
}

/// Calls f.template operator()<T>() for the C++ type of a factorable dtype.
template <class F>
decltype(auto) for_element(DType t, F f) {
  switch (t) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::c64:
      return f.template operator()<std::complex<float>>();
    case DType::c128:
      return f.template operator()<std::complex<double>>();
    default:
      return f.template operator()<double>();
  }
}

/// The csr operand whose arrays start at buffer `first`.
template <class T, class Index>
CsrView<T, Index> csr_view(const LaunchCall& c, std::size_t first, const SparseType& s) {
  return {s.shape[0].constant(), s.shape[1].constant(), input<Index>(c, first), input<Index>(c, first + 1),
          input<T>(c, first + 2)};
}

/// Calls f(view) with the view's element and index types.
template <class F>
decltype(auto) for_csr(const LaunchCall& c, std::size_t first, const SparseType& s, F f) {
  if (s.dtype == DType::c128)
    return s.index == DType::i64 ? f(csr_view<std::complex<double>, std::int64_t>(c, first, s))
                                 : f(csr_view<std::complex<double>, std::int32_t>(c, first, s));
  return s.index == DType::i64 ? f(csr_view<double, std::int64_t>(c, first, s))
                               : f(csr_view<double, std::int32_t>(c, first, s));
}

}  // namespace rlx::linalg
