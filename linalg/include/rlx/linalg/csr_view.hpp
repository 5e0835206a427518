// Views of a caller's compressed sparse row matrix, and how an operator applies a matrix.
#pragma once
#include <complex>
#include <cstdint>
#include <span>
#include <string_view>

namespace rlx::linalg {

/// Which matrix a solve or product uses: A, A^T or A^H.
enum class Transpose { none, transpose, conjugate_transpose };
inline std::span<const std::string_view> enum_names(Transpose) {
  static constexpr std::string_view names[] = {"none", "transpose", "conjugate_transpose"};
  return names;
}

/// rows + 1 offsets, and for each stored entry its column (counted from 0, in any order within a row) and its value.
/// Entries of the same place are summed; stored zeros mean nothing. The view owns nothing.
template <class T, class Index = std::int32_t>
struct CsrView {
  std::int64_t rows = 0, cols = 0;
  std::span<const Index> row_offsets, columns;
  std::span<const T> values;
};

inline double conj_of(double x) noexcept { return x; }
inline std::complex<double> conj_of(std::complex<double> x) noexcept { return std::conj(x); }
inline double real_of(double x) noexcept { return x; }
inline double real_of(std::complex<double> x) noexcept { return x.real(); }
inline bool is_finite(double x) noexcept { return x - x == 0; }
inline bool is_finite(std::complex<double> x) noexcept { return is_finite(x.real()) && is_finite(x.imag()); }

}  // namespace rlx::linalg
