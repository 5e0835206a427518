// Structural similarity against its definition, written down as it is: one window after the other, in two dimensions.
#include "compile/emit_llvm/emit_llvm.hpp"
#include "references.hpp"

#include <rlx/transform/vjp.hpp>

#include <random>

namespace rlx::splat::testing {
namespace {

using Image = std::vector<double>;  // [h, w, c]

double by_definition(const Image& x, const Image& y, int h, int w, int c, bool inside, double range) {
  double weights[11][11], total = 0;
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 11; ++j) total += weights[i][j] = std::exp(-((i - 5) * (i - 5) + (j - 5) * (j - 5)) / 4.5);
  const double c1 = 0.0001 * range * range, c2 = 0.0009 * range * range;
  double sum = 0;
  int count = 0;
  for (int row = inside ? 5 : 0; row < (inside ? h - 5 : h); ++row)
    for (int column = inside ? 5 : 0; column < (inside ? w - 5 : w); ++column)
      for (int k = 0; k < c; ++k, ++count) {
        double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
        for (int i = -5; i <= 5; ++i)
          for (int j = -5; j <= 5; ++j) {
            if (row + i < 0 || row + i >= h || column + j < 0 || column + j >= w) continue;
            const double weight = weights[i + 5][j + 5] / total;
            const auto at = static_cast<std::size_t>(((row + i) * w + column + j) * c + k);
            mx += weight * x[at], my += weight * y[at];
            xx += weight * x[at] * x[at], yy += weight * y[at] * y[at], xy += weight * x[at] * y[at];
          }
        sum += (2 * mx * my + c1) * (2 * (xy - mx * my) + c2) /
               ((mx * mx + my * my + c1) * (xx - mx * mx + yy - my * my + c2));
      }
  return sum / count;
}

TEST(Ssim, AgreesWithItsDefinition) {
  std::mt19937_64 words(5);
  const auto random = [&](int n) {
    Image out;
    for (int i = 0; i < n; ++i) out.push_back(static_cast<double>(words() >> 11) * 0x1p-53);
    return out;
  };
  constexpr int h = 23, w = 17, c = 3;
  const Image x = random(h * w * c), y = random(h * w * c);
  for (const auto padding : {Padding::same, Padding::valid})
    for (const double range : {1.0, 3.0})
      for (const auto& [t, within] : {std::pair{DType::f64, 1e-13}, {DType::f32, 1e-5}}) {
        const std::vector<HostTensor> in{HostTensor::from(t, {h, w, c}, x), HostTensor::from(t, {h, w, c}, y)};
        const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
          return {ssim(v[0], v[1], {padding, range}), ssim(v[0], v[0], {padding, range})};
        });
        const auto got = run(g, in);
        EXPECT_NEAR(got[0].get_f64(0), by_definition(x, y, h, w, c, padding == Padding::valid, range), within);
        EXPECT_NEAR(got[1].get_f64(0), 1, within);
      }
}

// Similarity and gradients of two pairs of images: float64, which is decomposed, against the kernel of every
// instruction level, whose bits do not depend on the number of threads. Rows of 100 make bands and a rest of a vector.
TEST(Ssim, TheKernelAgreesWithFloat64) {
  constexpr std::int64_t h = 100, w = 37, c = 3;
  std::mt19937_64 words(6);
  Image x, y;
  for (std::int64_t i = 0; i < 2 * h * w * c; ++i) {
    x.push_back(static_cast<double>(words() >> 11) * 0x1p-53);
    y.push_back(0.5 * x.back() + 0.25);
  }
  const auto with = [&](DType t, Padding padding) {
    const std::vector<HostTensor> in{HostTensor::from(t, {2, h, w, c}, x), HostTensor::from(t, {2, h, w, c}, y)};
    const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values { return {ssim(v[0], v[1], {padding})}; });
    std::vector<HostTensor> arguments = in;
    arguments.push_back(HostTensor::from(t, {2}, std::vector<double>{1, -2}));
    return run(transform::vjp(g, catalog().operators, {{true, true}, {true}, true}), arguments);
  };
  for (const Padding padding : {Padding::same, Padding::valid}) {
    const auto exact = with(DType::f64, padding), best = with(DType::f32, padding);
    const auto near = [&](const std::vector<HostTensor>& got) {
      for (std::size_t k = 0; k < 3; ++k) EXPECT_LE(relative_difference(got[k], exact[k]), 1e-5) << "result " << k;
    };
    near(best);
    for (const char* level : {"generic", "avx2"})
      if (emit_llvm::best_host_isa() >= emit_llvm::parse_isa(level)) {
        const Setting setting("RLX_ISA", level);
        near(with(DType::f32, padding));
      }
    for (const char* threads : {"1", "2", "4"}) {
      const Setting setting("RLX_THREADS", threads);
      const auto got = with(DType::f32, padding);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(got[k].identical(best[k])) << threads << " threads, result " << k;
    }
  }
}

}  // namespace
}  // namespace rlx::splat::testing
