// Element types of generated kernels against the host's conversions and C++: small floats, integers, complex, bool.
#include "kernel_program.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

namespace rlx::testing_kernels {
namespace {

using ops::Direction;

// Sixteen- and eight-bit floats round once, to even, at every named value; the host's conversions are the reference.
TEST(EmitLlvmTypes, SmallFloats) {
  for (DType t : {DType::f16, DType::bf16}) {
    const std::int64_t n = 65536;
    Program p;
    std::vector<Value> b = {p.buffer(t, n), p.buffer(t, n), p.buffer(t, n), p.buffer(DType::f64, n), p.buffer(t, n)};
    p.kernel({n}, b, 2, [t](const Body& k) {
      const Value i = k.index[0];
      k.store(2, i, k.add(k.mul(k.load(0, i), k.load(1, i)), k.load(1, i)));
      k.store(4, i, k.convert(k.load(3, i), t));
    });
    HostTensor x(t, {n}), y(t, {n}), wide(DType::f64, {n});
    std::mt19937_64 g(13);
    for (std::int64_t i = 0; i < n; ++i) {
      x.as_mutable<std::uint16_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i);
      y.as_mutable<std::uint16_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(g());
      // Near ties of the narrow type, in its subnormals too.
      const double base =
          t == DType::f16 ? f16_value(static_cast<std::uint16_t>(i)) : bf16_value(static_cast<std::uint16_t>(i));
      wide.set_f64(i, base * (1 + std::ldexp(1.0, t == DType::f16 ? -11 : -8)) +
                          (static_cast<double>(g() % 3) - 1) * 1e-18 * base);
    }
    const auto r = run_everywhere(p, {x, y, HostTensor(t, {n}), wide, HostTensor(t, {n})});
    for (std::int64_t i = 0; i < n; ++i) {
      const double product = round_to(t, static_cast<float>(x.get_f64(i)) * static_cast<float>(y.get_f64(i)));
      const double sum = round_to(t, static_cast<float>(product) + static_cast<float>(y.get_f64(i)));
      if (std::isnan(sum)) EXPECT_TRUE(std::isnan(r[2].get_f64(i)));
      else ASSERT_EQ(r[2].get_f64(i), sum) << name(t) << " " << x.get_f64(i) << " * " << y.get_f64(i);
      const double narrow = round_to(t, wide.get_f64(i));
      if (std::isnan(narrow)) EXPECT_TRUE(std::isnan(r[4].get_f64(i)));
      else ASSERT_EQ(r[4].get_f64(i), narrow) << name(t) << " from " << wide.get_f64(i);
    }
  }
  for (DType t : {DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz}) {
    const std::int64_t n = 4096;
    Program p;
    std::vector<Value> b = {p.buffer(t, n), p.buffer(DType::f32, n), p.buffer(DType::f32, n), p.buffer(t, n)};
    p.kernel({n}, b, 2, [t](const Body& k) {
      const Value i = k.index[0];
      k.store(2, i, k.convert(k.load(0, i), DType::f32));
      k.store(3, i, k.convert(k.load(1, i), t));
    });
    HostTensor x(t, {n}), y(DType::f32, {n});
    std::mt19937 g(14);
    for (std::int64_t i = 0; i < n; ++i) {
      x.mutable_data()[i] = static_cast<std::byte>(i);
      y.set_f64(i, std::ldexp(std::round(static_cast<double>(g() % 64)) / 32 + (g() % 2 ? 1e-6 : 0),
                              static_cast<int>(g() % 40) - 22) *
                       (g() % 2 ? 1 : -1));
    }
    y.set_f64(0, std::nan(""));
    y.set_f64(1, INFINITY);
    y.set_f64(2, -0.0);
    const auto r = run_everywhere(p, {x, y, HostTensor(DType::f32, {n}), HostTensor(t, {n})});
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = f8_value(t, static_cast<std::uint8_t>(i));
      if (std::isnan(value)) EXPECT_TRUE(std::isnan(r[2].get_f64(i)));
      else ASSERT_EQ(r[2].get_f64(i), value) << name(t) << " code " << i % 256;
      if (i == 0) EXPECT_TRUE(std::isnan(r[3].get_f64(i)));
      else ASSERT_EQ(static_cast<int>(r[3].data()[i]), f8_bits(t, y.get_f64(i))) << name(t) << " of " << y.get_f64(i);
    }
  }
}

template <class T>
std::int64_t divided(T a, T b) {
  return b == 0                              ? -1
         : std::is_signed_v<T> && b == T(-1) ? static_cast<T>(-static_cast<std::uint64_t>(a))
                                             : static_cast<T>(a / b);
}
template <class T>
std::int64_t remainder_of(T a, T b) {
  return b == 0 ? a : std::is_signed_v<T> && b == T(-1) ? 0 : static_cast<T>(a % b);
}

template <class T>
void integer_semantics(DType t) {
  std::vector<T> edge = {0,
                         1,
                         2,
                         3,
                         5,
                         7,
                         31,
                         63,
                         64,
                         100,
                         std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::min(),
                         static_cast<T>(std::numeric_limits<T>::max() - 1),
                         static_cast<T>(-1),
                         static_cast<T>(-2),
                         static_cast<T>(-7)};
  const auto n = static_cast<std::int64_t>(edge.size() * edge.size());
  Program p;
  std::vector<Value> b;
  for (int i = 0; i < 12; ++i) b.push_back(p.buffer(t, n));
  static constexpr const char* binary[] = {"div", "rem", "shift_left", "shift_right_logical", "shift_right_arithmetic",
                                           "min", "max", "pow"};
  p.kernel({n}, b, 10, [](const Body& k) {
    const Value i = k.index[0], x = k.load(0, i), y = k.load(1, i);
    for (std::size_t o = 0; o < 8; ++o) k.store(2 + o, i, k.op(binary[o], {x, y}));
    k.store(10, i, k.op("clz", {x}));
    k.store(11, i, k.op("popcount", {x}));
  });
  std::vector<HostTensor> data(12, HostTensor(t, {n}));
  for (std::size_t i = 0; i < edge.size(); ++i)
    for (std::size_t j = 0; j < edge.size(); ++j) {
      data[0].as_mutable<T>()[i * edge.size() + j] = edge[i];
      data[1].as_mutable<T>()[i * edge.size() + j] = edge[j];
    }
  const auto r = run_everywhere(p, data);
  using U = std::make_unsigned_t<T>;
  constexpr int width = sizeof(T) * 8;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const T x = data[0].as<T>()[i], y = data[1].as<T>()[i];
    auto at = [&](std::size_t o) { return r[2 + o].as<T>()[i]; };
    const auto big = static_cast<U>(y) >= width;
    EXPECT_EQ(at(0), static_cast<T>(divided(x, y))) << +x << "/" << +y;
    EXPECT_EQ(at(1), static_cast<T>(remainder_of(x, y))) << +x << "%" << +y;
    EXPECT_EQ(at(2), big ? T(0) : static_cast<T>(static_cast<U>(x) << y));
    EXPECT_EQ(at(3), big ? T(0) : static_cast<T>(static_cast<U>(x) >> y));
    EXPECT_EQ(at(4), static_cast<T>(static_cast<std::make_signed_t<T>>(x) >> (big ? width - 1 : static_cast<int>(y))));
    EXPECT_EQ(at(5), std::min(x, y));
    EXPECT_EQ(at(6), std::max(x, y));
    std::uint64_t power = 1, base = static_cast<std::uint64_t>(x);
    bool negative = std::is_signed_v<T> && y < T(0);
    if (negative) power = x == T(1) ? 1 : x == T(-1) ? (y & 1 ? ~std::uint64_t{0} : 1) : 0;
    else
      for (U e = static_cast<U>(y); e; e = static_cast<U>(e >> 1), base *= base)
        if (e & 1) power *= base;
    EXPECT_EQ(at(7), static_cast<T>(power)) << +x << "^" << +y;
    EXPECT_EQ(at(8), static_cast<T>(std::countl_zero(static_cast<U>(x))));
    EXPECT_EQ(at(9), static_cast<T>(std::popcount(static_cast<U>(x))));
  }
}

TEST(EmitLlvmTypes, Integers) {
  integer_semantics<std::int8_t>(DType::i8);
  integer_semantics<std::int32_t>(DType::i32);
  integer_semantics<std::int64_t>(DType::i64);
  integer_semantics<std::uint8_t>(DType::u8);
  integer_semantics<std::uint16_t>(DType::u16);
  integer_semantics<std::uint64_t>(DType::u64);
}

// Every conversion between element types, against the host's.
TEST(EmitLlvmTypes, Conversions) {
  const double edge[] = {0,     -0.0, 1,     -1,   0.5,   -0.5, 2.5,   127, 128,      255,       256, -128, -129, 65504,
                         65520, 1e10, -1e10, 1e30, -1e30, 3e38, 1e-30, NAN, INFINITY, -INFINITY, 7,   9,    -8,   -9};
  const auto n = static_cast<std::int64_t>(std::size(edge));
  for (int a = 0; a < dtype_count; ++a)
    for (int c = 0; c < dtype_count; ++c) {
      const auto from = static_cast<DType>(a), to = static_cast<DType>(c);
      Program p;
      std::vector<Value> b = {p.buffer(from, n), p.buffer(to, n)};
      p.kernel({n}, b, 1, [to](const Body& k) { k.store(1, k.index[0], k.convert(k.load(0, k.index[0]), to)); });
      HostTensor x(from, {n}), expected(to, {n});
      for (std::int64_t i = 0; i < n; ++i) {
        if (is_complex(from)) x.set_c128(i, {edge[i], 2.5});
        else x.set_f64(i, edge[i]);
        if (is_complex(from)) expected.set_c128(i, x.get_c128(i));
        else if (is_floating(from)) expected.set_f64(i, x.get_f64(i));
        else if (is_signed_integer(from)) expected.set_i64(i, x.get_i64(i));
        else expected.set_u64(i, x.get_u64(i));
      }
      for (emit_llvm::Isa isa : host_levels()) {
        const auto device = device_of(isa);
        const auto r = run(*device, p.graph(), {x, HostTensor(to, {n})});
        for (std::int64_t i = 0; i < n; ++i) {
          const std::complex<double> got = r[1].get_c128(i), want = expected.get_c128(i);
          if (std::isnan(want.real()))
            EXPECT_TRUE(std::isnan(got.real())) << name(from) << " to " << name(to) << " of " << edge[i];
          else EXPECT_EQ(got, want) << name(from) << " to " << name(to) << " of " << edge[i] << " " << name(isa);
        }
      }
    }
}

// Integers that f64 does not hold: on the way to bf16 they must not become ties.
TEST(EmitLlvmTypes, LargeIntegersRoundOnce) {
  const double ulp = std::ldexp(1.0, 55), low = std::ldexp(1.0, 62);  // of bf16 at 2^62
  const std::int64_t start = std::int64_t{1} << 62, half = std::int64_t{1} << 54;
  const std::pair<std::int64_t, double> signed_cases[] = {{start + half, low},
                                                          {start + half + 1, low + ulp},
                                                          {start + 3 * half, low + 2 * ulp},
                                                          {start + 3 * half - 1, low + ulp},
                                                          {-start - half, -low},
                                                          {-start - half - 1, -low - ulp},
                                                          {-start - 3 * half + 1, -low - ulp},
                                                          {257, 256},
                                                          {-259, -260}};
  const std::pair<std::uint64_t, double> unsigned_cases[] = {
      {2 * (static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(half)) + 1, 2 * (low + ulp)},
      {2 * (static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(half)), 2 * low},
      {259, 260}};
  const auto check = [](DType from, const HostTensor& x, std::int64_t n, const auto& cases) {
    Program p;
    std::vector<Value> b = {p.buffer(from, n), p.buffer(DType::bf16, n)};
    p.kernel({n}, b, 1, [](const Body& k) { k.store(1, k.index[0], k.convert(k.load(0, k.index[0]), DType::bf16)); });
    const auto r = run_everywhere(p, {x, HostTensor(DType::bf16, {n})});
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(r[1].get_f64(i), cases[i].second) << cases[i].first;
  };
  const auto n = static_cast<std::int64_t>(std::size(signed_cases)),
             m = static_cast<std::int64_t>(std::size(unsigned_cases));
  HostTensor x(DType::i64, {n}), y(DType::u64, {m});
  for (std::int64_t i = 0; i < n; ++i) x.set_i64(i, signed_cases[i].first);
  for (std::int64_t i = 0; i < m; ++i) y.set_u64(i, unsigned_cases[i].first);
  check(DType::i64, x, n, signed_cases);
  check(DType::u64, y, m, unsigned_cases);
}

TEST(EmitLlvmTypes, Complex) {
  for (DType t : {DType::c64, DType::c128}) {
    const std::int64_t n = 77;
    Program p;
    std::vector<Value> b = {p.buffer(t, n), p.buffer(t, n),          p.buffer(t, n), p.buffer(t, n),
                            p.buffer(t, n), p.buffer(real_of(t), n), p.buffer(t, n)};
    p.kernel({n}, b, 5, [](const Body& k) {
      const Value i = k.index[0], x = k.load(0, i), y = k.load(1, k.sub(k.i64(n - 1), i));
      k.store(2, i, k.add(k.mul(x, y), x));
      k.store(3, i, k.op("div", {x, y}));
      k.store(4, i, k.op("exp", {x}));
      k.store(5, i, k.op("abs", {x}));
      k.store(6, i, k.op("sqrt", {x}));
    });
    const HostTensor x = random_tensor(t, n, 15), y = random_tensor(t, n, 16);
    std::vector<HostTensor> data = {x, y};
    for (std::size_t i = 2; i < 7; ++i) data.push_back(HostTensor(i == 5 ? real_of(t) : t, {n}));
    const auto r = run_everywhere(p, data);
    const double eps = t == DType::c64 ? 2e-6 : 1e-14;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::complex<double> a = x.get_c128(i), c = y.get_c128(n - 1 - i);
      EXPECT_LT(std::abs(r[2].get_c128(i) - (a * c + a)), eps * 10);
      EXPECT_LT(std::abs(r[3].get_c128(i) - a / c), eps * (1 + std::abs(a / c)));
      EXPECT_LT(std::abs(r[4].get_c128(i) - std::exp(a)), eps * std::abs(std::exp(a)));
      EXPECT_LT(std::abs(r[5].get_f64(i) - std::abs(a)), eps * std::abs(a));
      EXPECT_LT(std::abs(r[6].get_c128(i) - std::sqrt(a)), eps * std::abs(std::sqrt(a)));
    }
  }
}

TEST(EmitLlvmTypes, MinMaxPropagateNanAndOrderZeros) {
  const double edge[] = {0, -0.0, 1, -1, NAN, -NAN, INFINITY, -INFINITY, 1e-44};
  const std::int64_t m = std::size(edge), n = m * m;
  for (DType t : {DType::f32, DType::f64}) {
    Program p;
    std::vector<Value> b = {p.buffer(t, n), p.buffer(t, n), p.buffer(t, n), p.buffer(t, n),
                            p.buffer(DType::boolean, n)};
    p.kernel({n}, b, 3, [](const Body& k) {
      const Value i = k.index[0], x = k.load(0, i), y = k.load(1, i);
      k.store(2, i, k.op("min", {x, y}));
      k.store(3, i, k.op("max", {x, y}));
      k.store(4, i, k.op("not", {k.compare(x, y, Direction::ne)}));
    });
    HostTensor x(t, {n}), y(t, {n});
    for (std::int64_t i = 0; i < n; ++i) {
      x.set_f64(i, edge[i / m]);
      y.set_f64(i, edge[i % m]);
    }
    const auto r = run_everywhere(p, {x, y, HostTensor(t, {n}), HostTensor(t, {n}), HostTensor(DType::boolean, {n})});
    for (std::int64_t i = 0; i < n; ++i) {
      const double a = x.get_f64(i), c = y.get_f64(i);
      EXPECT_EQ(r[4].get_i64(i), a == c);
      if (std::isnan(a) || std::isnan(c)) {
        EXPECT_TRUE(std::isnan(r[2].get_f64(i)) && std::isnan(r[3].get_f64(i)));
        continue;
      }
      const double low = a < c || (a == c && std::signbit(a)) ? a : c,
                   high = a > c || (a == c && !std::signbit(a)) ? a : c;
      EXPECT_TRUE(r[2].get_f64(i) == low && std::signbit(r[2].get_f64(i)) == std::signbit(low)) << a << " " << c;
      EXPECT_TRUE(r[3].get_f64(i) == high && std::signbit(r[3].get_f64(i)) == std::signbit(high)) << a << " " << c;
    }
  }
}

// One NaN of a row, in whichever lane and whatever its sign, is what the row's maximum is.
TEST(EmitLlvmTypes, MaximumOfARowWithOneNan) {
  const std::int64_t n = 150;
  for (DType t : {DType::f32, DType::f64}) {
    Program p;
    p.kernel({2 * n + 1}, {p.buffer(t, (2 * n + 1) * n), p.buffer(t, 2 * n + 1)}, 1, [&](const Body& k) {
      const Value row = k.times(k.index[0], n);
      k.store(
          1, k.index[0],
          k.reduce(
              k.i64(0), k.i64(n), {k.number(t, -INFINITY)}, [&](Value j) { return Values{k.load(0, k.add(row, j))}; },
              [&](ValuesIn a, ValuesIn c) { return Values{k.op("max", {a[0], c[0]})}; })[0]);
    });
    HostTensor x = random_tensor(t, (2 * n + 1) * n, 3);
    for (std::int64_t i = 0; i < 2 * n; ++i) x.set_f64(i * n + i % n, i < n ? NAN : -NAN);
    const HostTensor y = run_everywhere(p, {x, HostTensor(t, {2 * n + 1})})[1];
    for (std::int64_t i = 0; i < 2 * n; ++i) EXPECT_TRUE(std::isnan(y.get_f64(i))) << i;
    double largest = -INFINITY;
    for (std::int64_t j = 0; j < n; ++j) largest = std::max(largest, x.get_f64(2 * n * n + j));
    EXPECT_EQ(y.get_f64(2 * n), largest);
  }
}

TEST(EmitLlvmTypes, ReducePrecisionAndBits) {
  const std::int64_t n = 1000;
  Program p;
  std::vector<Value> b = {p.buffer(DType::f32, n), p.buffer(DType::f32, n), p.buffer(DType::i32, n)};
  p.kernel({n}, b, 2, [](const Body& k) {
    const Value i = k.index[0], x = k.load(0, i);
    k.store(1, i, k.op("reduce_precision", {x}, ops::ReducePrecisionAttrs{5, 10}));
    k.store(2, i, k.op("bitcast", {x}, ops::DTypeAttrs{DType::i32}));
  });
  const HostTensor x = random_tensor(DType::f32, n, 17, -1e5, 1e5);
  const auto r = run_everywhere(p, {x, HostTensor(DType::f32, {n}), HostTensor(DType::i32, {n})});
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_EQ(r[1].get_f64(i), round_to(DType::f16, x.get_f64(i)));
    EXPECT_EQ(r[2].as<std::int32_t>()[static_cast<std::size_t>(i)],
              std::bit_cast<std::int32_t>(x.as<float>()[static_cast<std::size_t>(i)]));
  }
}

}  // namespace
}  // namespace rlx::testing_kernels
