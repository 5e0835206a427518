#include "equilibrate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace rlx::linalg {

namespace {

constexpr int max_sweeps = 20;           // the distance of the logarithms from 0 halves in each
constexpr double settled = 0.5;          // within a factor sqrt(2) of 1: finer is lost in the rounding to powers of two
constexpr double kept = 1.5;             // settled, and half a power of two for the rounding of each of two factors
constexpr double exponent_limit = 1000;  // a factor must be a normal number

double power_of_two(double exponent) {
  return std::ldexp(1.0, static_cast<int>(std::lround(std::clamp(exponent, -exponent_limit, exponent_limit))));
}

/// log2 of a normal number within 0.09, by its exponent and the chord over its mantissa: the factors are rounded to
/// powers of two anyway.
double rough_log2(double size) {
  const auto bits = std::bit_cast<std::uint64_t>(size);
  const auto exponent = static_cast<std::int64_t>(bits >> 52);
  if (exponent == 0) return std::log2(size);  // subnormal
  constexpr double mantissa = 1.0 / static_cast<double>(std::uint64_t{1} << 52);
  return static_cast<double>(exponent - 1023) + static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) * mantissa;
}

double times_two_powers(double x, double a, double b) {
  // In the order that cannot overflow or underflow on the way: x is between the inverse of both factors, or near 1.
  return std::abs(x) > 1 ? (x * std::min(a, b)) * std::max(a, b) : (x * std::max(a, b)) * std::min(a, b);
}
std::complex<double> times_two_powers(std::complex<double> x, double a, double b) {
  return {times_two_powers(x.real(), a, b), times_two_powers(x.imag(), a, b)};
}

}  // namespace

template <class T>
Scaling equilibrate(const CscMatrix<T>& a, const Scaling* start) {
  std::vector<double> size(a.value.size());
  for (std::size_t k = 0; k < size.size(); ++k) size[k] = rough_log2(std::abs(a.value[k]));
  std::vector<double> row(a.rows), col(a.cols), row_max(a.rows), col_max(a.cols);
  if (start) {
    std::transform(start->row.begin(), start->row.end(), row.begin(), rough_log2);  // exact of powers of two
    std::transform(start->col.begin(), start->col.end(), col.begin(), rough_log2);
  }
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    std::fill(row_max.begin(), row_max.end(), -INFINITY);
    std::fill(col_max.begin(), col_max.end(), -INFINITY);
    for (std::int64_t j = 0; j < a.cols; ++j)
      for (std::int64_t k = a.start[j]; k < a.start[j + 1]; ++k) {
        const double s = row[a.row[k]] + size[k] + col[j];
        row_max[a.row[k]] = std::max(row_max[a.row[k]], s);
        col_max[j] = std::max(col_max[j], s);
      }
    double worst = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      worst = std::max(worst, std::abs(row_max[i]));
      row[i] -= row_max[i] / 2;
    }
    for (std::int64_t j = 0; j < a.cols; ++j) {
      worst = std::max(worst, std::abs(col_max[j]));
      col[j] -= col_max[j] / 2;
    }
    if (start && sweep == 0 && worst <= kept) return *start;
    if (worst <= settled) break;
  }
  Scaling scaling{std::move(row), std::move(col)};
  std::transform(scaling.row.begin(), scaling.row.end(), scaling.row.begin(), power_of_two);
  std::transform(scaling.col.begin(), scaling.col.end(), scaling.col.begin(), power_of_two);
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
      scale[i] = power_of_two(-std::log2(pivot) / 2);
  return scale;
}

template <class T>
void apply_scaling(const Scaling& scaling, CscMatrix<T>& a) {
  for (std::int64_t j = 0; j < a.cols; ++j)
    for (std::int64_t k = a.start[j]; k < a.start[j + 1]; ++k)
      a.value[k] = times_two_powers(a.value[k], scaling.row[a.row[k]], scaling.col[j]);
}

#define RLX_INSTANTIATE(T)                                                 \
  template Scaling equilibrate(const CscMatrix<T>&, const Scaling*);       \
  template std::vector<double> equilibrate_hermitian(const CscMatrix<T>&); \
  template void apply_scaling(const Scaling&, CscMatrix<T>&);
RLX_INSTANTIATE(double)
RLX_INSTANTIATE(std::complex<double>)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
