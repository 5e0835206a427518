// Lists of tiles against a sort of everything, and whole renders from parameters to pixels.
#include "render_reference.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/transform/vjp.hpp>

#include <random>

namespace rlx::splat::testing {
namespace {

struct Boxes {
  HostTensor boxes, depths;
  std::int64_t count = 0;
};
/// c images of n Gaussians over columns x rows tiles: none, some or all of them; equal depths among many.
Boxes random_boxes(std::int64_t c, std::int64_t n, std::int64_t columns, std::int64_t rows) {
  std::mt19937_64 words(11);
  const auto below = [&](std::int64_t m) { return static_cast<std::int64_t>(words() % static_cast<std::uint64_t>(m)); };
  Boxes out{HostTensor(DType::i32, {c, n, 4}), HostTensor(DType::f32, {c, n})};
  for (std::int64_t i = 0; i < c * n; ++i) {
    const std::int64_t x = below(columns), y = below(rows), wide = below(std::min<std::int64_t>(5, columns - x + 1)),
                       high = below(std::min<std::int64_t>(5, rows - y + 1));
    for (const auto& [k, v] : {std::pair<int, std::int64_t>{0, x}, {1, y}, {2, wide}, {3, high}})
      out.boxes.set_i64(4 * i + k, v);
    out.depths.set_f64(i, static_cast<double>(below(4000)) / 61 - 5);
    out.count += wide * high;
  }
  return out;
}

TileLists sorted_all(const Boxes& b, std::int64_t columns, std::int64_t rows) {
  struct Entry {
    std::int64_t tile, id;
    double depth;
  };
  std::vector<Entry> entries;
  const std::int64_t c = b.depths.shape()[0], n = b.depths.shape()[1];
  for (std::int64_t i = 0; i < c * n; ++i)
    for (std::int64_t y = 0; y < b.boxes.get_i64(4 * i + 3); ++y)
      for (std::int64_t x = 0; x < b.boxes.get_i64(4 * i + 2); ++x)
        entries.push_back({(i / n * rows + b.boxes.get_i64(4 * i + 1) + y) * columns + b.boxes.get_i64(4 * i) + x, i,
                           b.depths.get_f64(i)});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& p, const Entry& q) {
    return p.tile != q.tile ? p.tile < q.tile : p.depth < q.depth;
  });
  TileLists out{HostTensor(DType::i32, {static_cast<std::int64_t>(entries.size())}),
                HostTensor(DType::i32, {c * columns * rows + 1})};
  for (std::size_t k = 0; k < entries.size(); ++k) {
    out.ids.set_i64(static_cast<std::int64_t>(k), entries[k].id);
    out.offsets.set_i64(entries[k].tile + 1, out.offsets.get_i64(entries[k].tile + 1) + 1);
  }
  for (std::int64_t t = 0; t < c * columns * rows; ++t)
    out.offsets.set_i64(t + 1, out.offsets.get_i64(t) + out.offsets.get_i64(t + 1));
  return out;
}

TEST(TileBin, AgreesWithASortOfAllEntries) {
  constexpr std::int64_t columns = 13, rows = 9;
  const Boxes b = random_boxes(2, 500, columns, rows);
  const TileLists expected = sorted_all(b, columns, rows);
  const std::vector<HostTensor> in{b.boxes, b.depths};
  const RasterizeAttrs raster{.width = columns * 4, .height = rows * 4, .tile = 4};
  for (const Preference p : {Preference::native, Preference::force_common})
    for (const Dim& size : {Dim::symbol("entries"), Dim(b.count), Dim(b.count + 10)}) {
      const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
        const auto lists = tile_bin(v[0], v[1], raster, size, b.count + 50);
        return {lists.ids, lists.offsets};
      });
      const auto got = run(g, in, {.preference = p});
      EXPECT_TRUE(got[1].identical(expected.offsets)) << size.to_string();
      ASSERT_GE(got[0].numel(), b.count) << size.to_string();
      for (std::int64_t i = 0; i < got[0].numel(); ++i)
        ASSERT_EQ(got[0].get_i64(i), i < b.count ? expected.ids.get_i64(i) : 0) << size.to_string() << " " << i;
    }
}

// Enough Gaussians that each image is cut into parts.
TEST(TileBin, TheNumberOfThreadsChangesNoBit) {
  constexpr std::int64_t columns = 13, rows = 9;
  const Boxes b = random_boxes(2, 30000, columns, rows);
  const TileLists expected = sorted_all(b, columns, rows);
  const std::vector<HostTensor> in{b.boxes, b.depths};
  const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
    const auto lists = tile_bin(v[0], v[1], {.width = columns * 4, .height = rows * 4, .tile = 4}, b.count);
    return {lists.ids, lists.offsets};
  });
  for (const char* threads : {"1", "2", "4"}) {
    const Setting setting("RLX_THREADS", threads);
    const auto got = run(g, in);
    EXPECT_TRUE(got[0].identical(expected.ids)) << threads;
    EXPECT_TRUE(got[1].identical(expected.offsets)) << threads;
  }
}

TEST(TileBin, MoreEntriesThanTheirNumberAreRefused) {
  const Boxes b = random_boxes(1, 50, 8, 8);
  const std::vector<HostTensor> in{b.boxes, b.depths};
  for (const Preference p : {Preference::native, Preference::force_common}) {
    const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
      return {tile_bin(v[0], v[1], {.width = 64, .height = 64, .tile = 8}, b.count - 1).ids};
    });
    EXPECT_THROW(run(g, in, {.preference = p}), NumericalError);
  }
}

/// n Gaussians that meet each of the tiles of an image.
struct CoveredImage {
  static constexpr std::int64_t side = 1024;
  std::vector<HostTensor> in;
  explicit CoveredImage(std::int64_t n) {
    std::vector<double> boxes;
    for (std::int64_t i = 0; i < n; ++i) boxes.insert(boxes.end(), {0, 0, side, side});
    in = {HostTensor::from(DType::i32, {1, n, 4}, boxes), HostTensor(DType::f32, {1, n})};
  }
  Graph lists(const Dim& size) const {
    return graph_of(in, [&](Builder&, ValuesIn v) -> Values {
      return {tile_bin(v[0], v[1], {.width = side, .height = side, .tile = 1}, size).ids};
    });
  }
};

// 2100 times 2^20 entries: before anything asks for their memory. Sizes are rounded up to eighths of a power of two.
TEST(TileBin, MoreEntriesThanI32CountsAreRefused) {
  const CoveredImage image(2100);
  for (const Preference p : {Preference::native, Preference::force_common}) try {
      run(image.lists(Dim::symbol("entries")), image.in, {.preference = p});
      ADD_FAILURE() << "2100 x 2^20 entries were taken";
    } catch (const MemoryError& e) {
      EXPECT_NE(std::string(e.what()).find("with 2415919104 entries, of which i32 counts 2147483647 at most"),
                std::string::npos)
          << e.what();
      EXPECT_EQ(e.wanted_bytes(), 4 * 2415919104ull);
      EXPECT_LE(e.available_bytes(), 4 * 2147483647ull);
    }
  EXPECT_THROW(image.lists(std::int64_t{1} << 31), MemoryError);
}

// 40 times 2^20 entries, 160 MiB, where there is nothing left.
TEST(TileBin, MoreEntriesThanMemoryAreRefused) {
  const CoveredImage image(40);
  const Graph g = image.lists(Dim::symbol("entries"));
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  const Setting little("RLX_MEMORY_LIMIT", "1K");
  try {
    e.run(HostValues(image.in.begin(), image.in.end()));
    ADD_FAILURE() << "40 x 2^20 entries were taken";
  } catch (const MemoryError& error) {
    EXPECT_GE(error.wanted_bytes(), 4u * 40 << 20);
    EXPECT_EQ(error.available_bytes(), 0u);
  }
}

/// A scene of parameters in the order of `render`: means, quats, scales, opacities, sh, views, intrinsics.
std::vector<HostTensor> small_scene(const Reference& file) {
  std::vector<HostTensor> in;
  for (const char* name : {"means", "quats_wxyz", "scales", "opacities", "sh", "viewmats", "Ks_pinhole"})
    in.push_back(file(name));
  return in;
}
Graph rendering(const std::vector<HostTensor>& in, const RenderOptions& options) {
  return graph_of(in, [&](Builder&, ValuesIn v) -> Values {
    const Rendered r = render({v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], Value{}}, options);
    return {r.image, r.alpha};
  });
}

// One node is what it lowers to; a tile of another size changes the order of sums at most.
TEST(Render, TheOperatorIsItsParts) {
  const Reference file("gsplat_ops.h5");
  RLX_NEEDS(file);
  const std::vector<HostTensor> in = small_scene(file);
  const std::int64_t width = file.number("width"), height = file.number("height");
  RenderOptions options{.project = {.width = width, .height = height}, .entries = 40000};
  options.mode = RenderMode::antialiased, options.channels = Channels::depth;
  const auto expected = run(rendering(in, options), in);
  for (const std::int64_t tile : {16, 8, 24}) {
    const RenderAttrs attrs{
        .project = options.project, .mode = options.mode, .channels = options.channels, .tile = tile, .entries = 60000};
    const auto got = run(graph_of(in,
                                  [&](Builder&, ValuesIn v) -> Values {
                                    const Images r =
                                        render_images({v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], Value{}}, attrs);
                                    return {r.image, r.alpha};
                                  }),
                         in);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_LE(relative_difference(got[k], expected[k]), 1e-6) << tile << " " << k;
      EXPECT_TRUE(tile != 16 || got[k].identical(expected[k])) << k;
    }
  }
}

// Lists of their own length: on buffers of the bound, forward and backward have their kernels, and give the bits of
// lists of a given size.
TEST(Render, ListsUpToABoundKeepTheKernels) {
  const Reference file("gsplat_ops.h5");
  RLX_NEEDS(file);
  std::vector<HostTensor> in = small_scene(file);
  RenderOptions options{.project = {.width = file.number("width"), .height = file.number("height")}, .entries = 40000};
  const auto pulled = [&] {
    return transform::vjp(rendering(in, options), catalog().operators,
                          {{true, true, true, true, true, true, false}, {true, true}, true});
  };
  const Graph given = pulled();
  options.entries = Dim::symbol("entries"), options.bound = 50000;
  const Graph introduced = pulled();
  for (const ValueId v : given.outputs())
    if (in.size() < 9) in.push_back(HostTensor(DType::f32, constant_shape(given.tensor_type(v).shape)));
  for (std::int64_t i = 0; i < in[7].numel(); ++i) in[7].set_f64(i, 1);
  const runtime::Executable e(runtime::open_device("cpu"), introduced, catalog());
  int kernels = 0;
  for (const ReportRow& row : e.report().rows)
    if (row.op.starts_with("splat.rasterize")) {
      EXPECT_EQ(row.path, Path::native) << row.op << ": " << row.lowering;
      ++kernels;
    }
  EXPECT_EQ(kernels, 2);
  const auto expected = run(given, in);
  const HostValues got = e.run(HostValues(in.begin(), in.end()));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_TRUE(std::get<HostTensor>(got[k]).identical(expected[k])) << "result " << k;
}

TEST(Render, WhatCannotBeSeenIsTheBackground) {
  const std::vector<double> views{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, lens{20, 0, 8, 0, 20, 8, 0, 0, 1};
  const double nan = std::nan("");
  for (const std::int64_t n : {0, 3}) {
    std::vector<double> means, quats, scales, opacities, sh;
    for (std::int64_t i = 0; i < n; ++i) {
      means.insert(means.end(), {i == 0 ? nan : 0.0, 0, i == 1 ? -2.0 : 2.0});
      quats.insert(quats.end(), {1, 0, 0, 0});
      scales.insert(scales.end(), {0.1, 0.1, 0.1});
      opacities.push_back(i == 2 ? 0.001 : 0.9);
      sh.insert(sh.end(), {1, 1, 1});
    }
    const std::vector<HostTensor> in{HostTensor::from(DType::f32, {n, 3}, means),
                                     HostTensor::from(DType::f32, {n, 4}, quats),
                                     HostTensor::from(DType::f32, {n, 3}, scales),
                                     HostTensor::from(DType::f32, {n}, opacities),
                                     HostTensor::from(DType::f32, {n, 1, 3}, sh),
                                     HostTensor::from(DType::f32, {1, 4, 4}, views),
                                     HostTensor::from(DType::f32, {1, 3, 3}, lens),
                                     HostTensor::from(DType::f32, {1, 3}, std::vector<double>{0.1, 0.2, 0.3})};
    const RenderOptions options{
        .project = {.width = 16, .height = 16}, .degree = 0, .entries = Dim::symbol("entries"), .bound = 100};
    const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values {
      return {render({v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], v[7]}, options).image};
    });
    const auto got = run(g, in);
    for (std::int64_t i = 0; i < got[0].numel(); ++i)
      ASSERT_EQ(got[0].as<float>()[static_cast<std::size_t>(i)], in[7].as<float>()[static_cast<std::size_t>(i % 3)]);
    // And nothing of it moves the image or the camera.
    std::vector<HostTensor> arguments = in;
    HostTensor ones(DType::f32, got[0].shape());
    for (std::int64_t i = 0; i < ones.numel(); ++i) ones.set_f64(i, 1);
    arguments.push_back(ones);
    for (const HostTensor& x :
         run(transform::vjp(g, catalog().operators, {{true, true, true, true, true, true, true, false}, {}, false}),
             arguments))
      for (std::int64_t i = 0; i < x.numel(); ++i) ASSERT_EQ(x.get_f64(i), 0) << i;
  }
}

}  // namespace
}  // namespace rlx::splat::testing
