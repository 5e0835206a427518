// Conversions between all pairs of dtypes, bit casts, constants and reduced precision on the oneapi device, against the
// conversions of HostTensor.
#include "oneapi_support.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace rlx {
namespace {

using test::Body;
using test::kernel;
using OneapiConversions = test::OneapiTest;

HostTensor converted(const HostTensor& x, DType t) {
  HostTensor y(t, x.shape());
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    if (is_complex(x.dtype())) y.set_c128(i, x.get_c128(i));
    else if (is_floating(x.dtype())) y.set_f64(i, x.get_f64(i));
    else if (is_signed_integer(x.dtype())) y.set_i64(i, x.get_i64(i));
    else y.set_u64(i, x.get_u64(i));
  }
  return y;
}

// Limits, ties and what lies beside them, for every type that a value might be converted to.
HostTensor tricky(DType t) {
  // clang-format off
  std::vector<double> v = {
      0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, 7.49, -8.6, 8, 126.7, 127.5, 128, -128.9, 255.5, 256, -129, 32767.5,
      32768, 65504, 65519.99, 65520, 65535.7, 2147483520.0, 2147483648.0, -2147483649.0, 4294967296.0,
      9.2233720368547748e18, 9.3e18, -9.3e18, 1.8446744073709552e19, 2e19, 448, 464, 465, 57344, 61439, 61440,
      240, 247.9, 248, 1e-3, 0.0009765625, 0x1p-9, 0x1.8p-9, 0x1p-10, 0x1.8p-10, 0x1.000002p-10, 0x1p-16,
      0x1.8p-17, 0x1p-24, 0x1.8p-25, 0x1p-25, 0x1.01p-25, 0x1p-126, 0x1.8p-134, 0x1p-149, 3.4e38, 3.39e38, 1e39,
      INFINITY, -INFINITY, NAN, 1.00048828125, 1.0004882812500002, 1.00390625, 1.0039062500000002,
      1.00390624999999, 0x1.ffffffp127, 16777217, 0x1.0000010000001p0};
  // clang-format on
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i)
    v.push_back(
        std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random), static_cast<int>(random() % 40) - 20));
  HostTensor x(t, {static_cast<std::int64_t>(v.size())});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double d = v[static_cast<std::size_t>(i)];
    if (is_complex(t)) x.set_c128(i, {d, i % 3 ? 1.0 : 0.0});
    else x.set_f64(i, d);
  }
  if (is_integer(t) && bit_width(t) >= 32)
    for (std::int64_t i = 0; i < 100; ++i)
      x.set_u64(i + 60, random() >> (random() % static_cast<unsigned>(bit_width(t))));
  if (t == DType::i64 || t == DType::u64) {
    // Just above a tie of float and of bf16, by less than a double can hold.
    x.set_u64(0, (1ull << 60) + (1ull << 36) + 1);
    x.set_u64(1, (1ull << 60) + (1ull << 52) + 1);
  }
  return x;
}

TEST_F(OneapiConversions, EveryPair) {
  for (int from = 0; from < dtype_count; ++from) {
    const HostTensor x = tricky(static_cast<DType>(from));
    std::vector<HostTensor> m{x};
    for (int to = 0; to < dtype_count; ++to) m.push_back(HostTensor(static_cast<DType>(to), x.shape()));
    Graph g;
    Builder b(g, test::scalar_registry());
    kernel(b, {.name = "from_" + std::string(name(x.dtype())), .extents = {x.numel()}, .writes = dtype_count},
           test::inputs_like(b, m), [&](const Body& w, ValuesIn i, ValuesIn p) {
             const Value v = w.load(p[0], i[0]);
             for (int to = 0; to < dtype_count; ++to)
               w.store(p[static_cast<std::size_t>(to) + 1], i[0], w.convert(v, static_cast<DType>(to)));
           });
    run(g, m);
    for (int to = 0; to < dtype_count; ++to) {
      const HostTensor want = converted(x, static_cast<DType>(to)), &got = m[static_cast<std::size_t>(to) + 1];
      int shown = 0;
      for (std::int64_t i = 0; i < x.numel() && shown < 2; ++i) {
        const auto same = [](double a, double b) {
          return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
        };
        const std::complex<double> a = want.get_c128(i), c = got.get_c128(i);
        if (same(a.real(), c.real()) && same(a.imag(), c.imag()) &&
            (!is_integer(want.dtype()) || want.get_u64(i) == got.get_u64(i)))
          continue;
        ++shown;
        char text[160];
        std::snprintf(text, sizeof text, "%a (%lld) gives %a, not %a", x.get_f64(i),
                      static_cast<long long>(x.get_i64(i)), c.real(), a.real());
        ADD_FAILURE() << name(x.dtype()) << " to " << name(want.dtype()) << ": " << text;
      }
    }
  }
}

// All codes of the types of 8 and 16 bits survive a load and a store; NaNs stay NaNs.
TEST_F(OneapiConversions, EveryCodeOfNarrowFloats) {
  for (DType t : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz}) {
    const std::int64_t n = std::int64_t{1} << bit_width(t);
    std::vector<HostTensor> m{HostTensor(t, {n}), HostTensor(t, {n}), HostTensor(DType::f32, {n})};
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(m[0].mutable_data() + i * bit_width(t) / 8, &i, static_cast<std::size_t>(bit_width(t) / 8));
    Graph g;
    Builder b(g, test::scalar_registry());
    kernel(b, {.name = "codes", .extents = {n}}, test::inputs_like(b, m), [&](const Body& w, ValuesIn i, ValuesIn p) {
      const Value v = w.load(p[0], i[0]), f = w.convert(v, DType::f32);
      w.store(p[2], i[0], f);
      w.store(p[1], i[0], w.convert(f, t));
    });
    run(g, m);
    for (std::int64_t i = 0; i < n; ++i) {
      const double want = m[0].get_f64(i);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(m[1].get_f64(i)) && std::isnan(m[2].get_f64(i))) << name(t) << " " << i;
        continue;
      }
      ASSERT_EQ(m[2].get_f64(i), want) << name(t) << " " << i;
      ASSERT_EQ(std::memcmp(m[0].data() + i * bit_width(t) / 8, m[1].data() + i * bit_width(t) / 8,
                            static_cast<std::size_t>(bit_width(t) / 8)),
                0)
          << name(t) << " " << i;
    }
  }
}

TEST_F(OneapiConversions, BitCasts) {
  const std::vector<std::vector<DType>> widths = {{DType::i8, DType::u8, DType::f8e4m3fn, DType::f8e5m2},
                                                  {DType::f16, DType::bf16, DType::i16, DType::u16},
                                                  {DType::f32, DType::i32, DType::u32},
                                                  {DType::f64, DType::i64, DType::u64, DType::c64}};
  for (const std::vector<DType>& types : widths)
    for (DType from : types) {
      HostTensor x(from, {6});
      for (std::int64_t i = 0; i < 6; ++i)
        x.set_f64(i, std::vector<double>{0, 1, 2.5, 96, 0.125, 3}[static_cast<std::size_t>(i)]);
      std::vector<HostTensor> m{x};
      for (DType to : types) m.push_back(HostTensor(to, {6}));
      Graph g;
      Builder b(g, test::scalar_registry());
      kernel(b, {.name = "bits", .extents = {6}}, test::inputs_like(b, m), [&](const Body& w, ValuesIn i, ValuesIn p) {
        for (std::size_t k = 0; k < types.size(); ++k)
          w.store(p[k + 1], i[0], b.emit1("bitcast", {w.load(p[0], i[0])}, ops::DTypeAttrs{types[k]}));
      });
      run(g, m);
      for (std::size_t k = 0; k < types.size(); ++k)
        EXPECT_EQ(std::memcmp(m[k + 1].data(), x.data(), static_cast<std::size_t>(x.bytes())), 0)
            << name(from) << " as " << name(types[k]);
    }
}

TEST_F(OneapiConversions, Constants) {
  std::vector<HostTensor> m;
  std::vector<std::vector<double>> values;
  for (int t = 0; t < dtype_count; ++t) {
    m.push_back(HostTensor(static_cast<DType>(t), {6}));
    values.push_back({0.1, -3, INFINITY, -INFINITY, NAN, 1e-40});
  }
  Graph g;
  Builder b(g, test::scalar_registry());
  kernel(b, {.name = "constants", .extents = {1}, .writes = dtype_count}, test::inputs_like(b, m),
         [&](const Body& w, ValuesIn, ValuesIn p) {
           for (std::size_t t = 0; t < dtype_count; ++t)
             for (std::int64_t i = 0; i < 6; ++i)
               w.store(p[t], w.i64(i), w.constant(static_cast<DType>(t), values[t][static_cast<std::size_t>(i)]));
         });
  run(g, m);
  for (std::size_t t = 0; t < dtype_count; ++t)
    for (std::int64_t i = 0; i < 6; ++i) {
      const double want = HostTensor::scalar(static_cast<DType>(t), values[t][static_cast<std::size_t>(i)]).get_f64(0),
                   got = m[t].get_f64(i);
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
          << name(static_cast<DType>(t)) << " " << got << " " << want;
    }
}

// bf16 as a reduced f32, f16 as a reduced f64 (whose subnormals become zero), and the type's own precision: nothing
// happens.
TEST_F(OneapiConversions, ReducedPrecision) {
  struct Row {
    DType t;
    int exponent, mantissa;
    DType like;
  };
  for (const Row& r : {Row{DType::f32, 8, 7, DType::bf16}, Row{DType::f64, 5, 10, DType::f16},
                       Row{DType::f16, 5, 10, DType::f16}, Row{DType::bf16, 8, 7, DType::bf16}}) {
    std::vector<HostTensor> m{tricky(r.t), tricky(r.t)};
    Graph g;
    Builder b(g, test::scalar_registry());
    kernel(b, {.name = "reduced", .extents = {m[0].numel()}}, test::inputs_like(b, m),
           [&](const Body& w, ValuesIn i, ValuesIn p) {
             w.store(
                 p[1], i[0],
                 b.emit1("reduce_precision", {w.load(p[0], i[0])}, ops::ReducePrecisionAttrs{r.exponent, r.mantissa}));
           });
    run(g, m);
    for (std::int64_t i = 0; i < m[0].numel(); ++i) {
      const double x = m[0].get_f64(i), least = r.like == DType::f16 ? 0x1p-14 : 0;
      const double want = r.t != r.like && std::fabs(x) < least ? std::copysign(0, x) : round_to(r.like, x);
      if (std::isnan(want)) continue;
      EXPECT_EQ(m[1].get_f64(i), want) << name(r.t) << " " << x;
    }
  }
}

}  // namespace
}  // namespace rlx
