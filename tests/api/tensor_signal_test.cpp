// Convolutions, windows, cumulative combinations and random words over Tensor, against plain loops and answers by hand.
#include "refused.hpp"

#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace rlx {
namespace {

using Reals = std::vector<double>;
using ops::Combine;

Reals whole_numbers(std::size_t n, std::uint64_t seed) {  // whose sums of products are exact
  std::mt19937_64 random(seed);
  Reals v(n);
  for (double& x : v) x = static_cast<double>(random() % 17) - 8;
  return v;
}
std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

TEST(Conv, EqualsALoop) {
  const std::int64_t n = 2, h = 7, w = 5, c = 4, groups = 2, f = 6, kh = 3, kw = 2;
  const Reals x = whole_numbers(place(n * h * w * c), 1), k = whole_numbers(place(kh * kw * c / groups * f), 2);
  const ops::ConvAttrs a{.stride = {2, 1}, .low = {1, 0}, .high = {1, 2}, .kernel_dilation = {1, 2}, .groups = groups};
  const Tensor y = conv(Tensor::from(x, Extents{n, h, w, c}), Tensor::from(k, Extents{kh, kw, c / groups, f}), a);
  const std::int64_t oh = (h + 2 - kh) / 2 + 1, ow = w + 2 - ((kw - 1) * 2 + 1) + 1;
  EXPECT_EQ(y.shape(), (Extents{n, oh, ow, f}));
  Reals wanted;
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t i = 0; i < oh; ++i)
      for (std::int64_t j = 0; j < ow; ++j)
        for (std::int64_t o = 0; o < f; ++o) {
          double s = 0;
          for (std::int64_t u = 0; u < kh; ++u)
            for (std::int64_t v = 0; v < kw; ++v)
              for (std::int64_t q = 0; q < c / groups; ++q) {
                const std::int64_t r = i * 2 + u - 1, t = j + 2 * v, from = o / (f / groups) * (c / groups) + q;
                if (r < 0 || r >= h || t >= w) continue;
                s += x[place(((b * h + r) * w + t) * c + from)] * k[place(((u * kw + v) * (c / groups) + q) * f + o)];
              }
          wanted.push_back(s);
        }
  EXPECT_EQ(y.to_vector<double>(), wanted);
  EXPECT_EQ(jit([&](const Tensor& p, const Tensor& q) { return conv(p, q, a); })(
                Tensor::from(x, Extents{n, h, w, c}), Tensor::from(k, Extents{kh, kw, c / groups, f}))
                .to_vector<double>(),
            wanted);
  // Linear in the kernel: its gradient along itself is the sum of the results.
  const auto total = [&](const Tensor& q) { return sum(conv(Tensor::from(x, Extents{n, h, w, c}), q, a)); };
  const Tensor q = Tensor::from(k, Extents{kh, kw, c / groups, f});
  EXPECT_EQ(sum(grad(total)(q) * q).item(), total(q).item());
}

/// Windows of an image [n, h, w, c] by a loop: f(values inside, size of the window).
template <class F>
Reals pooled(const Reals& x, const Extents& s, const Pool& p, const F& f) {
  Reals out;
  const auto low = [&](std::size_t d) { return p.low.empty() ? 0 : p.low[d]; };
  const auto high = [&](std::size_t d) { return p.high.empty() ? 0 : p.high[d]; };
  const Extents& step = p.stride.empty() ? p.window : p.stride;
  const auto count = [&](std::size_t d) { return (s[d + 1] + low(d) + high(d) - p.window[d]) / step[d] + 1; };
  for (std::int64_t b = 0; b < s[0]; ++b)
    for (std::int64_t i = 0; i < count(0); ++i)
      for (std::int64_t j = 0; j < count(1); ++j)
        for (std::int64_t c = 0; c < s[3]; ++c) {
          Reals inside;
          for (std::int64_t u = 0; u < p.window[0]; ++u)
            for (std::int64_t v = 0; v < p.window[1]; ++v) {
              const std::int64_t r = i * step[0] + u - low(0), t = j * step[1] + v - low(1);
              if (r >= 0 && r < s[1] && t >= 0 && t < s[2])
                inside.push_back(x[place(((b * s[1] + r) * s[2] + t) * s[3] + c)]);
            }
          out.push_back(f(inside, static_cast<double>(p.window[0] * p.window[1])));
        }
  return out;
}

TEST(Pooling, EqualsALoop) {
  const Extents shape{2, 6, 5, 3};
  const Reals x = whole_numbers(180, 3);
  const Tensor t = Tensor::from(x, shape);
  const auto total = [](const Reals& v) {
    double s = 0;
    for (double d : v) s += d;
    return s;
  };
  for (const Pool& p : {Pool{.window = {2, 2}}, Pool{.window = {3, 2}, .stride = {1, 2}},
                        Pool{.window = {3, 3}, .stride = {2, 2}, .low = {1, 1}, .high = {1, 1}}}) {
    EXPECT_EQ(max_pool(t, p).to_vector<double>(),
              pooled(x, shape, p, [](const Reals& v, double) { return *std::max_element(v.begin(), v.end()); }));
    // One division, correctly rounded, of exact sums.
    EXPECT_EQ(avg_pool(t, p).to_vector<double>(),
              pooled(x, shape, p, [&](const Reals& v, double size) { return total(v) / size; }));
    EXPECT_EQ(avg_pool(t, p, false).to_vector<double>(),
              pooled(x, shape, p, [&](const Reals& v, double) { return total(v) / static_cast<double>(v.size()); }));
  }
  EXPECT_EQ(max_pool(zeros({1, 4, 1}), {.window = {2}}).shape(), (Extents{1, 2, 1}));
  const auto greatest = [](const Tensor& v) { return sum(max_pool(reshape(v, {1, 4, 1}), {.window = {2}})); };
  EXPECT_EQ(grad(greatest)(Tensor::from({1.0, 2.0, 4.0, 3.0})).to_vector<double>(), (Reals{0, 1, 1, 0}));
}

TEST(ReduceWindow, CombinesByKind) {
  const Tensor x = Tensor::from({1.0, 2.0, 4.0, 8.0});
  EXPECT_EQ(reduce_window(x, {.window = {2}}).to_vector<double>(), (Reals{3, 6, 12}));
  EXPECT_EQ(reduce_window(x, {.kind = Combine::mul, .window = {2}, .stride = {2}}).to_vector<double>(), (Reals{2, 32}));
  EXPECT_EQ(reduce_window(x, {.kind = Combine::min, .window = {2}, .dilation = {2}}).to_vector<double>(),
            (Reals{1, 2}));
}

TEST(Cumulative, RunsBothWaysAndWithoutTheElement) {
  const Tensor x = Tensor::from({3.0, 1.0, 4.0, 2.0});
  EXPECT_EQ(cumsum(x, 0, true).to_vector<double>(), (Reals{10, 7, 6, 2}));
  EXPECT_EQ(cumsum(x, 0, false, true).to_vector<double>(), (Reals{0, 3, 4, 8}));
  EXPECT_EQ(cumprod(x).to_vector<double>(), (Reals{3, 3, 12, 24}));
  EXPECT_EQ(cumprod(x, 0, true).to_vector<double>(), (Reals{24, 8, 8, 2}));
  EXPECT_EQ(cumprod(x, 0, false, true).to_vector<double>(), (Reals{1, 3, 3, 12}));
  EXPECT_EQ(cummax(x).to_vector<double>(), (Reals{3, 3, 4, 4}));
  EXPECT_EQ(cummin(x, -1, true).to_vector<double>(), (Reals{1, 1, 2, 2}));
  EXPECT_EQ(cummax(Tensor::from({-5, -7}), 0).to_vector<int>(), (std::vector<int>{-5, -5}));
  const Tensor m = reshape(arange(6), {2, 3});
  EXPECT_EQ(cumprod(m + 1, 0).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3, 4, 10, 18}));
  EXPECT_EQ(cumprod(m + 1, 1).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 6, 4, 20, 120}));
  // d / dx of x, xy, xyz summed; with a zero among them.
  const auto f = [](const Tensor& v) { return sum(cumprod(v)); };
  EXPECT_EQ(grad(f)(Tensor::from({2.0, 0.0, 5.0})).to_vector<double>(), (Reals{1, 12, 0}));
}

TEST(Random, BitsAreRandom123s) {
  EXPECT_EQ(random_bits(random_key(0), 0, {4}).to_vector<std::uint32_t>(),
            (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  // Known answer for every bit set of counter and key needs the upper counter words; by key alone: the next block.
  EXPECT_EQ(random_bits(random_key(7), 1, {2, 2}).to_vector<std::uint32_t>(),
            slice(random_bits(random_key(7), 0, {8}), {4}, {8}).to_vector<std::uint32_t>());
}

TEST(Pad, PutsElementsBetween) {
  EXPECT_EQ(pad(Tensor::from({1, 2, 3}), 0, {1}, {-1}, {1}).to_vector<int>(), (std::vector<int>{0, 1, 0, 2, 0}));
}

TEST(TensorSignal, RefusesByName) {
  const Tensor x = zeros({1, 4, 4, 2});
  EXPECT_EQ(refused([&] { max_pool(x, {.window = {2}}); }),
            "max_pool: x is f64[1,4,4,2], so window, and stride, low and high unless they are empty, have 2 entries, "
            "one a spatial dimension");
  EXPECT_EQ(refused([&] { avg_pool(convert(x, DType::i32), {.window = {2, 2}}); }),
            "avg_pool: x is i32[1,4,4,2], expected {f16, bf16, f32, f64, c64, c128}");
  EXPECT_EQ(refused([&] { cummax(convert(zeros({3}), DType::c64)); }),
            "cummax: x is c64[3]: complex numbers have no order");
  EXPECT_EQ(refused([&] { cumprod(x, 4); }), "cumprod: there is no axis 4 of f64[1,4,4,2]");
  EXPECT_EQ(refused([&] { conv(x, zeros({2, 2, 3, 1})); }).substr(0, 9), "conv: C4:");
  EXPECT_EQ(refused([&] { max_pool(x, {.window = {5, 2}}); }).substr(0, 37), "max_pool: in its operators: reduce_wi");
}

}  // namespace
}  // namespace rlx
