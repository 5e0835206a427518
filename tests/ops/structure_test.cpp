// Operators that are not elementwise against independent arithmetic: published vectors, naive loops, examples of
// StableHLO's specification; sugar; shapes with symbols.
#include "sample_runner.hpp"

#include "ops/philox.hpp"
#include "ops/regions.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <numeric>

namespace rlx::testing {
namespace {

using namespace ops;  // NOLINT
using Reals = std::vector<double>;

Reals counted(int n, double first = 1) {
  Reals v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}
HostTensor f64_of(const Dims& shape, const Reals& v) { return tensor_of(DType::f64, shape, v); }
HostTensor i32_of(const Dims& shape, const Reals& v) { return tensor_of(DType::i32, shape, v); }
HostTensor random_f64(const Dims& shape, std::mt19937_64& random) {
  return filled(SampleOperand(tensor(DType::f64, Shape(shape.begin(), shape.end()))), random);
}
template <class F>
Reals value(const std::vector<HostTensor>& in, F f) {
  return elements(run(in, [&](Builder&, const Values& x) { return Values{f(x)}; })[0]);
}

// --- Random numbers.
// Random123's known answers for philox4x32 with 10 rounds: counter, key, result.
TEST(Philox, KnownAnswers) {
  struct Case {
    std::array<std::uint32_t, 4> counter;
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> words;
  };
  const Case cases[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                         {0xffffffff, 0xffffffff},
                         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0},
                         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (const Case& c : cases) {
    const HostValues out = run({}, [&](Builder& b, const Values&) {
      const auto word = [&](std::uint32_t v) { return constant(b, HostTensor::scalar_i64(DType::u32, v)); };
      std::array<Value, 4> x;
      for (std::size_t i = 0; i < 4; ++i) x[i] = word(c.counter[i]);
      const auto y = philox(x, {word(c.key[0]), word(c.key[1])});
      return Values(y.begin(), y.end());
    });
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::get<HostTensor>(out[i]).get_u64(0), c.words[i]) << i;
  }
}

TEST(Philox, BlocksContinueAcrossCallsAndTheUpperCounterWord) {
  const HostTensor key = tensor_of(DType::u32, {2}, {123, 456});
  HostTensor counter(DType::u64, {});
  counter.set_u64(0, 0xfffffffe);
  const auto bits = [&](std::uint64_t start, std::int64_t n) {
    HostTensor c(DType::u64, {});
    c.set_u64(0, start);
    return value({key, c}, [&](const Values& x) { return rng_bits(x[0], x[1], {n}); });
  };
  const Reals all = bits(0xfffffffe, 16);
  for (std::uint64_t block = 0; block < 4; ++block) {
    const Reals part = bits(0xfffffffe + block, 3);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(part[i], all[4 * block + i]);
  }
  EXPECT_NE(all[0], all[8]);
}

TEST(Random, MomentsAreThoseOfTheDistribution) {
  for (DType t : {DType::f32, DType::f64}) {
    constexpr int n = 40000;
    const HostTensor key = tensor_of(DType::u32, {2}, {7, 9}), counter = tensor_of(DType::u64, {}, {0});
    const Reals u = value({key, counter}, [&](const Values& x) { return rng_uniform(x[0], x[1], t, {n}); });
    const Reals z = value({key, counter}, [&](const Values& x) { return rng_normal(x[0], x[1], t, {n / 2, 2}); });
    double mean_u = 0, mean_z = 0, square = 0, fourth = 0;
    for (double v : u) {
      mean_u += v / n;
      EXPECT_TRUE(0 <= v && v < 1);
    }
    for (double v : z) mean_z += v / n, square += v * v / n, fourth += v * v * v * v / n;
    EXPECT_NEAR(mean_u, 0.5, 0.006);  // 4 standard errors
    EXPECT_NEAR(mean_z, 0, 0.02);
    EXPECT_NEAR(square, 1, 0.03);
    EXPECT_NEAR(fourth, 3, 0.2);
  }
}

// --- Convolution and transform against loops written here.
TEST(Conv, EqualsALoop) {
  std::mt19937_64 random(5);
  // N, H, W, C, groups, F, kernel 3 x 2, every attribute different.
  const std::int64_t n = 2, h = 6, w = 5, c = 4, g = 2, f = 6, kh = 3, kw = 2;
  const std::int64_t stride[] = {2, 1}, low[] = {2, -1}, high[] = {1, 3}, in_step[] = {1, 2}, k_step[] = {1, 3};
  const HostTensor x = random_f64({n, h, w, c}, random), k = random_f64({kh, kw, c / g, f}, random);
  const Reals got =
      value({x, k}, [&](const Values& v) { return conv(v[0], v[1], {{2, 1}, {2, -1}, {1, 3}, {1, 2}, {1, 3}, g}); });
  const std::int64_t size[] = {h, w}, window[] = {kh, kw};
  std::int64_t out[2];
  for (int d = 0; d < 2; ++d)
    out[d] = ((size[d] - 1) * in_step[d] + 1 + low[d] + high[d] - ((window[d] - 1) * k_step[d] + 1)) / stride[d] + 1;
  std::size_t at = 0;
  for (std::int64_t in = 0; in < n; ++in)
    for (std::int64_t oy = 0; oy < out[0]; ++oy)
      for (std::int64_t ox = 0; ox < out[1]; ++ox)
        for (std::int64_t of = 0; of < f; ++of) {
          double sum = 0;
          for (std::int64_t ky = 0; ky < kh; ++ky)
            for (std::int64_t kx = 0; kx < kw; ++kx) {
              const std::int64_t y = oy * stride[0] + ky * k_step[0] - low[0],
                                 z = ox * stride[1] + kx * k_step[1] - low[1];
              if (y < 0 || z < 0 || y % in_step[0] || z % in_step[1] || y / in_step[0] >= h || z / in_step[1] >= w)
                continue;
              for (std::int64_t ic = 0; ic < c / g; ++ic)
                sum += x.get_f64(((in * h + y / in_step[0]) * w + z / in_step[1]) * c + of / (f / g) * (c / g) + ic) *
                       k.get_f64(((ky * kw + kx) * (c / g) + ic) * f + of);
            }
          ASSERT_NEAR(got.at(at++), sum, 1e-14);
        }
  EXPECT_EQ(at, got.size());
}

TEST(Fft, EqualsTheSumAndComesBack) {
  std::mt19937_64 random(6);
  for (std::int64_t n : {1, 2, 5, 8, 12}) {
    const HostTensor x = random_f64({3, n}, random);
    const Reals y = value({x}, [&](const Values& v) { return fft(v[0], {FftKind::real_forward, n}); });
    const auto at = [&](std::int64_t row, std::int64_t k) {
      const auto i = static_cast<std::size_t>(2 * (row * (n / 2 + 1) + k));
      return std::complex<double>(y[i], y[i + 1]);
    };
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        std::complex<double> sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
          sum += x.get_f64(row * n + j) *
                 std::exp(std::complex<double>(0, -2 * std::numbers::pi * static_cast<double>(j) *
                                                      static_cast<double>(k) / static_cast<double>(n)));
        EXPECT_NEAR(std::abs(at(row, k) - sum), 0, 1e-13);
      }
    const Reals back = value(
        {x}, [&](const Values& v) { return fft(fft(v[0], {FftKind::real_forward, n}), {FftKind::real_inverse, n}); });
    for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], x.get_f64(static_cast<std::int64_t>(i)), 1e-14);
  }
}

// --- The examples of StableHLO's specification: a 2 x 3 x 4 x 2 operand that counts from 1, its first dimension paired
// with dimension 1 of the indices, pairs (place in dimension 2, place in dimension 1); one index is out of range.
const Reals spec_indices{0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0};

TEST(Gather, SpecificationExample) {
  const Reals got = value({f64_of({2, 3, 4, 2}, counted(48)), i32_of({2, 2, 3, 2}, spec_indices)}, [](const Values& v) {
    return gather(v[0], v[1], {{3, 4}, {1}, {0}, {1}, {2, 1}, 3, {1, 1, 2, 2}});
  });
  Reals want;
  for (double first : {1, 3, 13, 33, 35, 41, 1, 13, 21, 43, 33, 27})  // each slice is four numbers in a row
    for (int i = 0; i < 4; ++i) want.push_back(first + i);
  EXPECT_EQ(got, want);
}
TEST(Scatter, SpecificationExample) {
  const Reals got = value(
      {f64_of({2, 3, 4, 2}, counted(48)), i32_of({2, 2, 3, 2}, spec_indices), f64_of({2, 2, 3, 2, 2}, Reals(48, 1))},
      [](const Values& v) { return scatter(v[0], v[1], v[2], {{3, 4}, {1}, {0}, {1}, {2, 1}, 3, Combine::add}); });
  const Reals added{2, 3, 1, 0, 0, 0, 2, 2, 0, 0, 1, 1,
                    0, 1, 1, 0, 2, 3, 1, 0, 0, 1, 1, 0};  // hits of each pair of numbers
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<double>(i + 1) + added[i / 2]) << i;
}

// --- Sugar.
TEST(Sugar, Reductions) {
  const HostTensor x = f64_of({2, 3}, counted(6));
  EXPECT_EQ(value({x}, [](const Values& v) { return reduce_sum(v[0], {1}); }), (Reals{6, 15}));
  EXPECT_EQ(value({x}, [](const Values& v) { return reduce_prod(v[0], {1, 0}); }), (Reals{720}));
  EXPECT_EQ(value({x}, [](const Values& v) { return reduce_max(v[0], {0}, true) - v[0]; }), (Reals{3, 3, 3, 0, 0, 0}));
  EXPECT_EQ(value({x}, [](const Values& v) { return reduce_min(v[0], {1}); }), (Reals{1, 4}));
  EXPECT_EQ(value({x}, [](const Values& v) { return sum_to(v[0], {1, 3}); }), (Reals{5, 7, 9}));
  EXPECT_EQ(value({x}, [](const Values& v) { return sum_to(v[0], {}); }), (Reals{21}));
  EXPECT_EQ(value({x}, [](const Values& v) { return cumsum(v[0], 1, true, true); }), (Reals{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(value({x}, [](const Values& v) { return mean(v[0], {0}); }), (Reals{2.5, 3.5, 4.5}));
  EXPECT_EQ(value({tensor_of(DType::boolean, {3}, {1, 0, 1})}, [](const Values& v) { return reduce_and(v[0], {0}); }),
            (Reals{0}));
  EXPECT_EQ(value({tensor_of(DType::boolean, {3}, {1, 0, 1})}, [](const Values& v) { return reduce_or(v[0], {0}); }),
            (Reals{1}));
  // 1 + 4096 * 2^-11: in f16 alone every small term is lost.
  Reals small(4097, 0x1p-11);
  small[0] = 1;
  EXPECT_EQ(value({tensor_of(DType::f16, {4097}, small)}, [](const Values& v) { return sum_all(v[0]); }), (Reals{3}));
}

TEST(Sugar, AccessAndContractions) {
  const HostTensor x = f64_of({2, 3}, counted(6)), i = i32_of({2, 1}, {2, 0});
  EXPECT_EQ(value({x, i}, [](const Values& v) { return take(v[0], v[1], 1); }), (Reals{3, 1, 6, 4}));
  EXPECT_EQ(value({x, i}, [](const Values& v) { return take(v[0], reshape(v[1], {2}), 0); }),
            (Reals{4, 5, 6, 1, 2, 3}));  // 2 is clamped
  EXPECT_EQ(value({x, i32_of({3}, {1, 1, 5}), f64_of({3, 3}, Reals(9, 1))},
                  [](const Values& v) { return index_add(v[0], v[1], v[2]); }),
            (Reals{1, 2, 3, 6, 7, 8}));
  EXPECT_EQ(value({x, f64_of({3, 2}, counted(6))}, [](const Values& v) { return matmul(v[0], v[1]); }),
            (Reals{22, 28, 49, 64}));
  EXPECT_EQ(value({f64_of({3}, {1, 2, 3}), f64_of({3}, {4, 5, 6})}, [](const Values& v) { return dot(v[0], v[1]); }),
            (Reals{32}));
  EXPECT_THROW(value({x}, [](const Values& v) { return matmul(v[0], reduce_sum(v[0], {0})); }), ArgumentError);
  EXPECT_EQ(value({x}, [](const Values& v) { return broadcast_to(slice_axis(v[0], 0, 0, 1), {2, 3}); }),
            (Reals{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(value({x}, [](const Values& v) { return insert_axis(reduce_sum(v[0], {0}), 1, 2); }),
            (Reals{5, 5, 7, 7, 9, 9}));
}

TEST(Sugar, ControlFlow) {
  const Reals digits = value({f64_of({3}, {1, 2, 3}), f64_of({}, {10})}, [](const Values& v) {
    const Value zero = scalar(*v[0].builder, DType::f64, 0);
    return scan({&zero, 1}, {&v[0], 1}, {&v[1], 1}, [](ValuesIn a) { return Values{a[0] * a[2] + a[1]}; })[0];
  });
  EXPECT_EQ(digits, (Reals{123}));
  // Newton's iteration for the square root of 2, until it no longer moves.
  const Reals root = value({f64_of({}, {2})}, [](const Values& v) {
    const Values start{v[0], v[0] * 4};
    return while_(
        start, v,
        [](ValuesIn s) {
          return Values{compare(abs(s[0] - s[1]), scalar(*s[0].builder, DType::f64, 1e-12), Direction::gt)};
        },
        [](ValuesIn s) { return Values{(s[0] + s[2] / s[0]) * 0.5, s[0]}; }, 20)[0];
  });
  EXPECT_NEAR(root[0], std::numbers::sqrt2, 1e-15);
  EXPECT_THROW(value({f64_of({}, {2})},
                     [](const Values& v) {
                       return while_(
                           v, {}, [](ValuesIn s) { return Values{compare(s[0], s[0], Direction::eq)}; },
                           [](ValuesIn s) { return Values{s[0]}; }, 3)[0];
                     }),
               NumericalError);
}

// --- Regions.
TEST(Regions, CombinationsAreRecognised) {
  const auto recognised = [](DType t, const RegionBody& body, std::size_t operands = 1, std::size_t index = 0) {
    Graph g;
    Builder b(g, registry());
    Values xs, identities;
    for (std::size_t i = 0; i < operands; ++i)
      xs.push_back(b.input(tensor(t, {3}), "x" + std::to_string(i))), identities.push_back(scalar(b, t, 0));
    const Values y = reduce(xs, identities, {0}, body);
    return recognise_combine(g, g.node(g.value(y[0].id).node).regions[0], index);
  };
  EXPECT_EQ(recognised(DType::f32, [](ValuesIn v) { return Values{v[0] + v[1]}; }), Combine::add);
  EXPECT_EQ(recognised(DType::f32, [](ValuesIn v) { return Values{v[1] * v[0]}; }), Combine::mul);
  EXPECT_EQ(recognised(DType::f32, [](ValuesIn v) { return Values{min(v[0], v[1])}; }), Combine::min);
  EXPECT_EQ(recognised(DType::boolean, [](ValuesIn v) { return Values{logical_or(v[0], v[1])}; }), Combine::max);
  EXPECT_EQ(recognised(DType::i32, [](ValuesIn v) { return Values{logical_or(v[0], v[1])}; }),
            std::nullopt);  // bitwise
  EXPECT_EQ(recognised(DType::f32, [](ValuesIn v) { return Values{v[0] + v[0]}; }), std::nullopt);
  EXPECT_EQ(recognised(DType::f32, [](ValuesIn v) { return Values{v[1]}; }), std::nullopt);
  const RegionBody two = [](ValuesIn v) { return Values{v[0] + v[2], max(v[1], v[3])}; };
  EXPECT_EQ(recognised(DType::f32, two, 2, 0), Combine::add);
  EXPECT_EQ(recognised(DType::f32, two, 2, 1), Combine::max);
}

TEST(Regions, UnknownCombinationsHaveNoDerivative) {
  Graph g, h;
  Builder b(g, registry()), c(h, registry());
  const Values in{b.input(f64({3}), "x"), scalar(b, DType::f64, 0)};
  const Value y = reduce({&in[0], 1}, {&in[1], 1}, {0}, [](ValuesIn v) { return Values{v[0] - v[1]}; })[0];
  const Node& node = g.node(g.value(y.id).node);
  const Values operands{c.input(f64({3}), "x"), scalar(c, DType::f64, 0)}, out{scalar(c, DType::f64, 0)},
      t{c.input(f64({}), "t")};
  try {
    node.op->vjp({c, node.attrs, operands, out, {}, t, {true, false}, g, node});
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.op(), "reduce");
    EXPECT_EQ(e.constraint(), "vjp");
  }
}

// --- Symbols.
TEST(Symbols, ShapesAreInferred) {
  Graph g;
  Builder b(g, registry());
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  g.symbols["n"] = {1, 1000, 1};
  g.symbols["m"] = {1, 1000, 1};
  const Value x = b.input(f32({n, m, 4}), "x"), k = b.input(f32({3, 4, 8}), "k"), i = b.input(i32({m}), "i");
  const auto shape = [](Value v) { return to_string(v.shape()); };
  EXPECT_EQ(shape(transpose(x, {2, 0, 1})), "[4,n,m]");
  EXPECT_EQ(element_count(reshape(x, {n * m, 4}).shape()), n * m * 4);
  EXPECT_EQ(shape(concat(Values{x, x}, 0)), to_string(Shape{n * 2, m, 4}));
  EXPECT_EQ(shape(reduce_sum(x, {0})), "[m,4]");
  EXPECT_EQ(shape(pad(x, scalar(b, DType::f32, 0), {1, 0, 0}, {2, 0, 0})), to_string(Shape{n + 3, m, 4}));
  EXPECT_EQ(shape(conv(x, k, {.low = {1}, .high = {1}})), to_string(Shape{n, m, 8}));
  EXPECT_EQ(shape(take(x, i, 0)), "[m,m,4]");
  EXPECT_EQ(shape(slice(x, {0, 0, 0}, {n, m, 4}, {2, 1, 1})), to_string(Shape{floordiv(n + 1, 2), m, 4}));
  EXPECT_EQ(shape(matmul(x, transpose(x, {0, 2, 1}))), "[n,m,m]");
  EXPECT_EQ(shape(mean(x, {0, 2}, true)), "[1,m,1]");
  EXPECT_EQ(shape(softmax(x, 1)), "[n,m,4]");
}

TEST(Symbols, MeanDividesByTheBoundSize) {
  Graph g;
  Builder b(g, registry());
  const Value x = b.input(f64({Dim::symbol("n")}), "x");
  b.output(mean(x, {0}), "y");
  EXPECT_EQ(elements(run(g, {f64_of({4}, {1, 2, 3, 6})})[0]), (Reals{3}));
}

TEST(Symbols, AttributesTakeTheBoundSizes) {
  Graph g;
  Builder b(g, registry());
  const Dim n = Dim::symbol("n");
  g.symbols["n"] = {2, 1000, 1};
  const Value x = b.input(f64({n}), "x"), key = b.input(tensor(DType::u32, {2}), "key"),
              counter = b.input(tensor(DType::u64, {}), "counter");
  b.output(slice(x, {n - 2}, {n}), "last");
  b.output(b.emit1("rng_uniform", {key, counter}, RngRealAttrs{DType::f64, {n, 2}}), "u");
  const std::vector<HostTensor> random{tensor_of(DType::u32, {2}, {1, 2}), tensor_of(DType::u64, {}, {0})};
  const HostValues y = run(g, {f64_of({5}, {1, 2, 3, 4, 5}), random[0], random[1]});
  EXPECT_EQ(elements(y[0]), (Reals{4, 5}));
  const HostValues u =
      run(random, [](Builder& c, ValuesIn in) { return c.emit("rng_uniform", in, RngRealAttrs{DType::f64, {5, 2}}); });
  EXPECT_EQ(elements(y[1]), elements(u[0]));
}

}  // namespace
}  // namespace rlx::testing
