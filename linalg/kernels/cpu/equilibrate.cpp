#include "equilibrate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rlx::linalg {

namespace {

// Logarithms to base 2 in fixed point: integers of 1/256 are added and compared faster, and the factors are rounded to
// powers of two anyway.
using Log = std::int32_t;
constexpr int fraction_bits = 8;
constexpr Log one = 1 << fraction_bits;

constexpr int max_sweeps = 20;       // the distance of the logarithms from 0 halves in each
constexpr Log settled = 2 * one;     // within a factor 4 of 1: nearer changes the condition by less than its estimate
constexpr Log kept = settled + one;  // and half a power of two for the rounding of each of two factors
constexpr Log exponent_limit = 1000 * one;  // a factor must be a normal number
constexpr Log none = std::numeric_limits<Log>::min() / 4;

double power_of_two(Log exponent) {
  const Log whole = (std::clamp(exponent, -exponent_limit, exponent_limit) + one / 2) >> fraction_bits;
  return std::bit_cast<double>(static_cast<std::uint64_t>(whole + 1023) << 52);
}

/// log2 of a positive number within 0.09, by its exponent and the chord over its mantissa.
constexpr Log log2_of_normal(double size) {
  constexpr int mantissa_bits = 52, bias = 1023;
  return static_cast<Log>(std::bit_cast<std::uint64_t>(size) >> (mantissa_bits - fraction_bits)) - bias * one;
}
Log rough_log2(double size) {
  if (size < std::numeric_limits<double>::min()) return static_cast<Log>(std::floor(std::log2(size) * one));
  return log2_of_normal(size);
}

double times_two_powers(double x, double a, double b) {
  // In the order that cannot overflow or underflow on the way: x is between the inverse of both factors, or near 1.
  return std::abs(x) > 1 ? (x * std::min(a, b)) * std::max(a, b) : (x * std::max(a, b)) * std::min(a, b);
}
std::complex<double> times_two_powers(std::complex<double> x, double a, double b) {
  return {times_two_powers(x.real(), a, b), times_two_powers(x.imag(), a, b)};
}

}  // namespace

template <class T, class Index>
Scaling equilibrate(const CscMatrix<T, Index>& a, const Scaling* start) {
  std::vector<Log> size(a.value.size());
  Log least = std::numeric_limits<Log>::max();
  for (std::size_t k = 0; k < size.size(); ++k) least = std::min(least, size[k] = log2_of_normal(std::abs(a.value[k])));
  if (least < log2_of_normal(std::numeric_limits<double>::min()))
    std::transform(a.value.begin(), a.value.end(), size.begin(), [](T v) { return rough_log2(std::abs(v)); });
  std::vector<Log> row(a.rows), col(a.cols), row_max(a.rows);
  if (start) {
    std::transform(start->row.begin(), start->row.end(), row.begin(), rough_log2);  // exact of powers of two
    std::transform(start->col.begin(), start->col.end(), col.begin(), rough_log2);
  }
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    std::fill(row_max.begin(), row_max.end(), none);
    Log worst = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      Log col_max = none;
      const Log factor = col[j];
      for (Index k = a.start[j]; k < a.start[j + 1]; ++k) {
        const Index i = a.row[k];
        const Log s = row[i] + size[k] + factor;
        row_max[i] = std::max(row_max[i], s);
        col_max = std::max(col_max, s);
      }
      worst = std::max(worst, std::abs(col_max));
      col[j] -= col_max / 2;
    }
    for (std::int64_t i = 0; i < a.rows; ++i) {
      worst = std::max(worst, std::abs(row_max[i]));
      row[i] -= row_max[i] / 2;
    }
    if (start && sweep == 0 && worst <= kept) return *start;
    if (worst <= settled) break;
  }
  Scaling scaling{std::vector<double>(a.rows), std::vector<double>(a.cols)};
  std::transform(row.begin(), row.end(), scaling.row.begin(), power_of_two);
  std::transform(col.begin(), col.end(), scaling.col.begin(), power_of_two);
  return scaling;
}

template <class T>
std::vector<double> equilibrate_hermitian(const CscMatrix<T>& triangle) {
  const std::int64_t n = triangle.cols;
  std::vector<double> diagonal(n), largest(n), scale(n, 1.0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = triangle.start[j]; k < triangle.start[j + 1]; ++k) {
      const std::int64_t i = triangle.row[k];
      if (i == j) diagonal[j] = real_of(triangle.value[k]);
      largest[i] = std::max(largest[i], std::abs(triangle.value[k]));
      largest[j] = std::max(largest[j], std::abs(triangle.value[k]));
    }
  for (std::int64_t i = 0; i < n; ++i)
    if (const double pivot = diagonal[i] > 0 ? diagonal[i] : largest[i]; pivot > 0)
      scale[i] = power_of_two(-rough_log2(pivot) / 2);
  return scale;
}

template <class T, class Index>
void apply_scaling(const Scaling& scaling, CscMatrix<T, Index>& a) {
  constexpr double moderate = 0x1p500;  // the product of two such factors is a normal number
  const auto is_moderate = [](double f) { return f <= moderate && f >= 1 / moderate; };
  if (std::all_of(scaling.row.begin(), scaling.row.end(), is_moderate) &&
      std::all_of(scaling.col.begin(), scaling.col.end(), is_moderate)) {
    for (std::int64_t j = 0; j < a.cols; ++j)
      for (Index k = a.start[j]; k < a.start[j + 1]; ++k) a.value[k] *= scaling.row[a.row[k]] * scaling.col[j];
    return;
  }
  for (std::int64_t j = 0; j < a.cols; ++j)
    for (Index k = a.start[j]; k < a.start[j + 1]; ++k)
      a.value[k] = times_two_powers(a.value[k], scaling.row[a.row[k]], scaling.col[j]);
}

#define RLX_INSTANTIATE(T, I)                                           \
  template Scaling equilibrate(const CscMatrix<T, I>&, const Scaling*); \
  template void apply_scaling(const Scaling&, CscMatrix<T, I>&);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE
template std::vector<double> equilibrate_hermitian(const CscMatrix<double>&);
template std::vector<double> equilibrate_hermitian(const CscMatrix<std::complex<double>>&);

}  // namespace rlx::linalg
