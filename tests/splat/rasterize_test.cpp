// The host kernel of the rasterizer: against the decomposition, for every instruction level, number of threads and
// tile.
#include "compile/emit_llvm/emit_llvm.hpp"
#include "render_reference.hpp"

#include <rlx/transform/vjp.hpp>

#include <random>

namespace rlx::splat::testing {
namespace {

/// Operands of rasterize, and the cotangents of image and transmittance.
struct Case {
  RasterizeAttrs attrs;
  std::vector<HostTensor> in, cotangents;
};

/// n random Gaussians of 1 to 12 pixels in two images, most of them opaque enough to end pixels; lists as of
/// tile_lists.
Case random_case(DType t, std::int64_t n, std::int64_t channels, const RasterizeAttrs& a) {
  std::mt19937_64 words(7);
  const auto in = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(words() >> 11) * 0x1p-53;
  };
  std::vector<double> means, conics, opacities, features, depths, radii, backgrounds, image, through;
  for (std::int64_t i = 0; i < 2 * n; ++i) {
    const double x = in(1, 12), y = in(1, 12), turn = in(0, 3.14), c = std::cos(turn), s = std::sin(turn);
    const double xx = c * c * x * x + s * s * y * y + 0.3, xy = c * s * (x * x - y * y),
                 yy = s * s * x * x + c * c * y * y + 0.3;
    const double det = xx * yy - xy * xy;
    means.insert(means.end(), {in(-5, static_cast<double>(a.width) + 5), in(-5, static_cast<double>(a.height) + 5)});
    conics.insert(conics.end(), {yy / det, -xy / det, xx / det});
    radii.insert(radii.end(), {std::ceil(3.33 * std::sqrt(xx)), std::ceil(3.33 * std::sqrt(yy))});
    opacities.push_back(in(0, 1.1));
    depths.push_back(in(1, 9));
    for (std::int64_t k = 0; k < channels; ++k) features.push_back(in(0, 1));
  }
  for (std::int64_t k = 0; k < 2 * channels; ++k) backgrounds.push_back(in(0, 1));
  for (std::int64_t p = 0; p < 2 * a.width * a.height; ++p) {
    through.push_back(in(-1, 1));
    for (std::int64_t k = 0; k < channels; ++k) image.push_back(in(-1, 1));
  }
  const TileLists lists =
      tile_lists(HostTensor::from(DType::i32, {2, n, 2}, radii), HostTensor::from(t, {2, n, 2}, means),
                 HostTensor::from(t, {2, n}, depths), a.width, a.height, a.tile);
  return {a,
          {HostTensor::from(t, {2, n, 2}, means), HostTensor::from(t, {2, n, 3}, conics),
           HostTensor::from(t, {2, n}, opacities), HostTensor::from(t, {2, n, channels}, features),
           HostTensor::from(t, {2, channels}, backgrounds), lists.ids, lists.offsets, HostTensor(t, {2, n, 2})},
          {HostTensor::from(t, {2, a.height, a.width, channels}, image),
           HostTensor::from(t, {2, a.height, a.width}, through)}};
}

Graph forward(const Case& c) {
  return graph_of(c.in, [&](Builder&, ValuesIn v) -> Values {
    const Rasterized r = rasterize(v[0], v[1], v[2], v[3], v[4], v[5], v[6], c.attrs, v[7]);
    return {r.image, r.transmittance, r.used};
  });
}
/// Image, transmittance and used, then the gradients of the operands that are real, the probe last.
std::vector<HostTensor> all_of(const Case& c, const CompileOptions& options = {}) {
  const Graph g = transform::vjp(forward(c), catalog().operators,
                                 {{true, true, true, true, true, false, false, true}, {true, true, false}, true});
  std::vector<HostTensor> in = c.in;
  in.insert(in.end(), c.cotangents.begin(), c.cotangents.end());
  return run(g, in, options);
}

void expect_near(const std::vector<HostTensor>& got, const std::vector<HostTensor>& expected, double within) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_LE(relative_difference(got[k], expected[k]), within) << "result " << k;
}

const RasterizeAttrs odd{.width = 45, .height = 38, .tile = 16};

// Where a threshold is within rounding, the two may differ by a Gaussian's share: none of these pixels is.
TEST(Rasterize, TheKernelAgreesWithTheDecomposition) {
  for (const std::int64_t channels : {1, 3, 4, 7}) {
    const Case c = random_case(DType::f32, 60, channels, odd);
    expect_near(all_of(c), all_of(c, {.preference = Preference::force_common}), 1e-5);
  }
}

TEST(Rasterize, TheKernelAgreesWithFloat64) {
  for (const std::int64_t tile : {1, 5, 16, 33}) {
    RasterizeAttrs a = odd;
    a.tile = tile;
    expect_near(all_of(random_case(DType::f32, 60, 3, a)), all_of(random_case(DType::f64, 60, 3, a)), 2e-5);
  }
}

// Lists of another tile hold the same Gaussians in the same order: positions differ, the rest by the order of sums.
TEST(Rasterize, TheTileChangesNothingBeyondRounding) {
  const auto with = [](std::int64_t tile) {
    RasterizeAttrs a = odd;
    a.tile = tile;
    auto out = all_of(random_case(DType::f32, 60, 3, a));
    out.erase(out.begin() + 2);
    return out;
  };
  const auto expected = with(16);
  for (const std::int64_t tile : {8, 12, 64}) expect_near(with(tile), expected, 1e-5);
}

TEST(Rasterize, TheNumberOfThreadsChangesNoBit) {
  const Case c = random_case(DType::f32, 200, 3, odd);
  const auto with = [&](const char* threads) {
    const Setting setting("RLX_THREADS", threads);
    return all_of(c);
  };
  const auto one = with("1");
  for (const char* threads : {"2", "3", "7"}) {
    const auto many = with(threads);
    for (std::size_t k = 0; k < one.size(); ++k)
      EXPECT_TRUE(many[k].identical(one[k])) << threads << " threads, result " << k;
  }
}

// The gradient takes 2^17 entries at a time: lists longer than that, and several that are together. Entries that are
// too faint to count leave every bit as it is.
TEST(Rasterize, LongListsChangeNoBit) {
  Case c = random_case(DType::f32, 60, 3, odd);
  c.in[2].set_f64(0, 0.001);
  const auto expected = all_of(c);
  const HostTensor ids = c.in[5], offsets = c.in[6];
  std::vector<double> longer, ends{0};
  for (std::int64_t tile = 0; tile + 1 < offsets.numel(); ++tile) {
    longer.insert(longer.end(), tile == 4 ? 300000 : 30000, 0.0);
    for (std::int64_t i = offsets.get_i64(tile); i < offsets.get_i64(tile + 1); ++i)
      for (const double id : {static_cast<double>(ids.get_i64(i)), 0.0})
        longer.insert(longer.end(), tile == 4 && id == 0 ? 20000 : 1, id);
    ends.push_back(static_cast<double>(longer.size()));
  }
  c.in[5] = HostTensor::from(DType::i32, {static_cast<std::int64_t>(longer.size())}, longer);
  c.in[6] = HostTensor::from(DType::i32, offsets.shape(), ends);
  const auto got = all_of(c);
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (k == 2) continue;  // Positions are others.
    EXPECT_TRUE(got[k].identical(expected[k])) << "result " << k;
  }
}

TEST(Rasterize, EveryInstructionLevelAgrees) {
  const Case c = random_case(DType::f32, 200, 3, odd);
  const auto best = all_of(c);
  for (const char* level : {"generic", "avx2"}) {
    if (emit_llvm::best_host_isa() < emit_llvm::parse_isa(level)) GTEST_SKIP() << "this processor lacks " << level;
    const Setting setting("RLX_ISA", level);
    expect_near(all_of(c), best, 1e-5);
  }
}

// A probe gets what its definition says: the sum over pixels of the magnitudes of the gradient of means.
TEST(Rasterize, TheProbeGetsMagnitudesSummedOverPixels) {
  const Case c = random_case(DType::f64, 4, 2, {.width = 6, .height = 5, .tile = 4});
  const Graph g = transform::vjp(forward(c), catalog().operators,
                                 {{true, false, false, false, false, false, false, true}, {true, true, false}, false});
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  const auto pulled = [&](const std::vector<HostTensor>& cotangents) {
    HostValues in(c.in.begin(), c.in.end());
    in.insert(in.end(), cotangents.begin(), cotangents.end());
    const HostValues out = e.run(in);
    return std::vector<HostTensor>{std::get<HostTensor>(out[0]), std::get<HostTensor>(out[1])};
  };
  HostTensor sum(DType::f64, c.in[0].shape());
  for (std::int64_t p = 0; p < c.cotangents[1].numel(); ++p) {
    std::vector<HostTensor> one{HostTensor(DType::f64, c.cotangents[0].shape()),
                                HostTensor(DType::f64, c.cotangents[1].shape())};
    for (std::int64_t k = 0; k < 2; ++k) one[0].set_f64(2 * p + k, c.cotangents[0].get_f64(2 * p + k));
    one[1].set_f64(p, c.cotangents[1].get_f64(p));
    const HostTensor of_means = pulled(one)[0];
    for (std::int64_t i = 0; i < sum.numel(); ++i) sum.set_f64(i, sum.get_f64(i) + std::abs(of_means.get_f64(i)));
  }
  const auto whole = pulled(c.cotangents);
  EXPECT_LE(relative_difference(whole[1], sum), 1e-12);
  EXPECT_GT(largest(whole[1]), largest(whole[0]));
}

TEST(Rasterize, NumbersThatAreNoneStayWithTheirGaussian) {
  Case c = random_case(DType::f32, 60, 3, odd);
  const auto before = all_of(c);
  // The first Gaussian of the second image, in the lists as before: nothing of it counts.
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)})
    for (const std::size_t operand : {0, 1, 2}) {
      Case broken = c;
      const std::int64_t width = broken.in[operand].numel() / 120;
      for (std::int64_t k = 0; k < width; ++k) broken.in[operand].set_f64(60 * width + k, bad);
      for (const Preference p : {Preference::native, Preference::force_common}) {
        const auto after = all_of(broken, {.preference = p});
        for (std::size_t k = 0; k < after.size(); ++k)
          for (std::int64_t i = 0; i < after[k].numel(); ++i)
            ASSERT_TRUE(std::isfinite(after[k].get_f64(i)))
                << "operand " << operand << " is " << bad << ", preference " << static_cast<int>(p) << ": result " << k
                << ", element " << i;
      }
    }
}

TEST(Rasterize, ListsThatDoNotAscendAreRefused) {
  Case c = random_case(DType::f32, 10, 3, odd);
  const std::int64_t k = c.in[5].numel();
  for (const auto& [at, value] : {std::pair<std::int64_t, std::int64_t>{0, -1}, {3, k + 1}, {5, 0}}) {
    Case broken = c;
    broken.in[6].set_i64(at, value);
    EXPECT_THROW(all_of(broken), ArgumentError) << at;
  }
}

// Every pixel at which alpha is 1/255 or more is in the box of tiles, and boxes reach no more than a tile beyond.
TEST(TileBoxes, HoldThePixelsThatAreDrawn) {
  for (const DType t : {DType::f32, DType::f64}) {
    const RasterizeAttrs a{.width = 90, .height = 70, .tile = 8};
    const Case c = random_case(t, 200, 1, a);
    HostTensor radii(DType::i32, {2, 200, 2});
    for (std::int64_t i = 0; i < radii.numel(); ++i) radii.set_i64(i, i % 14 == 0 ? 0 : 1);
    const std::vector<HostTensor> in{c.in[0], c.in[1], c.in[2], radii};
    const HostTensor boxes = run(
        graph_of(in, [&](Builder&, ValuesIn v) -> Values { return {tile_boxes(v[0], v[1], v[2], v[3], a)}; }), in)[0];
    std::int64_t drawn = 0, with_box = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
      const auto box = [&](int k) { return boxes.get_i64(4 * i + k); };
      const bool seen = radii.get_i64(2 * i) > 0;
      std::int64_t left = a.width, right = -1, top = a.height, bottom = -1;
      for (std::int64_t y = 0; y < a.height && seen; ++y)
        for (std::int64_t x = 0; x < a.width; ++x) {
          const double dx = c.in[0].get_f64(2 * i) - static_cast<double>(x) - 0.5,
                       dy = c.in[0].get_f64(2 * i + 1) - static_cast<double>(y) - 0.5;
          const double sigma = 0.5 * (c.in[1].get_f64(3 * i) * dx * dx + c.in[1].get_f64(3 * i + 2) * dy * dy) +
                               c.in[1].get_f64(3 * i + 1) * dx * dy;
          if (c.in[2].get_f64(i) * std::exp(-sigma) < 1.0 / 255) continue;
          left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y);
        }
      drawn += right >= 0;
      with_box += box(2) > 0;
      if (right < 0) continue;
      EXPECT_LE(box(0), left / 8) << i;
      EXPECT_GE(box(0) + box(2) - 1, right / 8) << i;
      EXPECT_LE(box(1), top / 8) << i;
      EXPECT_GE(box(1) + box(3) - 1, bottom / 8) << i;
      // The ellipse reaches at most 2 pixels beyond the centres in it, where the image does not cut it.
      if (left == 0 || right == a.width - 1 || top == 0 || bottom == a.height - 1) continue;
      EXPECT_GE(box(0), (left - 2) / 8) << i;
      EXPECT_LE(box(0) + box(2) - 1, (right + 2) / 8) << i;
      EXPECT_GE(box(1), (top - 2) / 8) << i;
      EXPECT_LE(box(1) + box(3) - 1, (bottom + 2) / 8) << i;
    }
    EXPECT_GT(drawn, 200);
    EXPECT_LE(with_box, drawn + 20);  // A box may meet the image where the ellipse in it does not.
  }
}

TEST(Rasterize, NoGaussiansIsTheBackground) {
  const Case c = random_case(DType::f32, 0, 3, odd);
  const auto got = all_of(c);
  for (std::int64_t i = 0; i < got[0].numel(); ++i)
    ASSERT_EQ(got[0].get_f64(i), c.in[4].get_f64(i / (45 * 38 * 3) * 3 + i % 3)) << i;
}

}  // namespace
}  // namespace rlx::splat::testing
