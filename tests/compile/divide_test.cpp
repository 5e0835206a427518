// Division by a number that all lanes share against the processor's own division, bit for bit: quotients beside the
// middle of two floats, and every kind of exponent on both sides.
#include "kernel_program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace rlx::testing_kernels {
namespace {

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

/// A mantissa in [1, 2): the ends, the middle, or random.
template <class T>
T mantissa(std::mt19937_64& g) {
  const T one = 1, last = 2 - std::numeric_limits<T>::epsilon();
  switch (g() % 6) {
    case 0:
      return one;
    case 1:
      return one + std::numeric_limits<T>::epsilon();
    case 2:
      return last;
    default:
      return one + static_cast<T>(g() >> 11) * static_cast<T>(0x1p-53) * (last - one);
  }
}

template <class T>
std::vector<T> divisors(std::mt19937_64& g) {
  using L = std::numeric_limits<T>;
  std::vector<T> out{0, L::infinity(), L::quiet_NaN(), L::max(), L::min(), L::denorm_min(), 1, 3, 10, 1024, T(1) / 3};
  // The ends of the type's exponents, those of divide_by_shared and its middle.
  const int last = L::max_exponent - 1, edge = sizeof(T) == 4 ? 40 : 300;
  for (int e : {last, last - 1, last - 2, edge + 1, edge, edge - 1, 20, 1, 0})
    for (int sign : {1, -1})
      for (int k = 0; k < 8; ++k) out.push_back(std::ldexp(mantissa<T>(g), sign * e));
  for (int e = L::min_exponent - L::digits; e < L::min_exponent; e += 3) out.push_back(std::ldexp(mantissa<T>(g), e));
  for (std::size_t i = out.size(); i-- > 0;) out.push_back(-out[i]);
  return out;
}

template <class T>
std::vector<T> dividends(T divisor, std::mt19937_64& g) {
  using L = std::numeric_limits<T>;
  std::vector<T> out{0, -T(0), L::infinity(), -L::infinity(), L::quiet_NaN(), L::max(), L::min(), L::denorm_min()};
  const int lowest = L::min_exponent - L::digits, step = sizeof(T) == 4 ? 1 : 7;
  for (int e = lowest; e < L::max_exponent; e += step)
    out.push_back(std::copysign(std::ldexp(mantissa<T>(g), e), g() % 2 ? T(1) : T(-1)));
  // Near the product of the divisor and the middle of two floats: the quotient's rounding hangs on its last bits.
  for (int k = 0; k < 300; ++k) {
    const T q = std::ldexp(mantissa<T>(g), static_cast<int>(g() % 60) - 30);
    const T half_ulp = (std::nextafter(q, L::infinity()) - q) / 2;
    const T x = std::fma(q, divisor, half_ulp * divisor);
    for (T y : {std::nextafter(x, -L::infinity()), x, std::nextafter(x, L::infinity())}) out.push_back(y);
  }
  return out;
}

template <class T>
void expect_exact() {
  std::mt19937_64 g(1);
  const std::vector<T> b = divisors<T>(g);
  std::vector<T> x;
  for (T d : b) {
    const std::vector<T> row = dividends(d, g);
    x.insert(x.end(), row.begin(), row.end());
  }
  const auto rows = static_cast<std::int64_t>(b.size()), columns = static_cast<std::int64_t>(x.size()) / rows;
  Program p;
  const DType t = dtype_of<T>;
  p.kernel({rows, columns}, {p.buffer(t, rows * columns), p.buffer(t, rows), p.buffer(t, rows * columns)}, 1,
           [columns](const Body& k) {
             const Value at = k.add(k.times(k.index[0], columns), k.index[1]);
             k.store(2, at, k.op("div", {k.load(0, at), k.load(1, k.index[0])}));
           });
  HostTensor hx(t, {rows * columns}), hb(t, {rows});
  std::copy(x.begin(), x.end(), hx.as_mutable<T>().begin());
  std::copy(b.begin(), b.end(), hb.as_mutable<T>().begin());
  const auto out = run_everywhere(p, {hx, hb, HostTensor(t, {rows * columns})});
  const auto y = out[2].as<T>();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(i * columns + j);
      const volatile T numerator = x[at], denominator = b[static_cast<std::size_t>(i)];
      const T exact = numerator / denominator;
      const bool same =
          std::isnan(exact) ? std::isnan(y[at]) : y[at] == exact && std::signbit(y[at]) == std::signbit(exact);
      if (!same && ++wrong < 10)
        ADD_FAILURE() << numerator << " / " << denominator << " = " << exact << ", not " << y[at];
    }
  EXPECT_EQ(wrong, 0);
}

TEST(DivideByShared, F32) { expect_exact<float>(); }
TEST(DivideByShared, F64) { expect_exact<double>(); }

// By a constant that is known when the code is made, which a power of two is too.
TEST(DivideByShared, Constants) {
  for (double b : {3.0, 1024.0, 0.1, -7.0, 1e-300, 0.0}) {
    const std::int64_t n = 1000;
    Program p;
    p.kernel({n}, {p.buffer(DType::f64, n), p.buffer(DType::f64, n)}, 1, [b](const Body& k) {
      k.store(1, k.index[0], k.op("div", {k.load(0, k.index[0]), k.number(DType::f64, b)}));
    });
    const HostTensor x = random_tensor(DType::f64, n, 1);
    const HostTensor y = run_everywhere(p, {x, HostTensor(DType::f64, {n})})[1];
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(y.get_f64(i), x.get_f64(i) / b) << x.get_f64(i) << " / " << b;
  }
}

}  // namespace
}  // namespace rlx::testing_kernels
