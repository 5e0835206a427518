// Stages of rendering the garden scene (138,766 Gaussians, 648 x 420, spherical harmonics of degree 3) and of its
// gradient, as milliseconds and as shares of the whole beside its limit; similarity of images and neighbour distances.
// The scene is that of shared/data/splat, with the random parameters that its README.md says.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/formats/hdf5.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/splat/splat.hpp>
#include <rlx/transform/vjp.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>

using namespace rlx;

namespace {

const runtime::Catalog& catalog() {
  static const runtime::Catalog c = [] {
    runtime::Catalog made = make_catalog();
    splat::add_to(made);
    return made;
  }();
  return c;
}

HostTensor zeros(const Type& t, double value = 0) {
  const auto& type = std::get<TensorType>(t);
  HostTensor x(type.dtype, constant_shape(type.shape));
  if (value != 0) std::fill_n(x.as_mutable<float>().begin(), x.numel(), static_cast<float>(value));
  return x;
}

/// A compiled graph and its arguments; its results are used again.
class Run {
 public:
  Run(const Graph& g, HostValues in) : arguments_(std::move(in)), program_(runtime::open_device("cpu"), g, catalog()) {}
  void operator()() { out_ = program_.run(arguments_, std::move(out_)); }
  const HostTensor& out(std::size_t i) const { return std::get<HostTensor>(out_[i]); }

 private:
  HostValues arguments_;
  runtime::Executable program_;
  HostValues out_;
};

Graph graph_of(const HostValues& in, const std::function<Values(ValuesIn)>& f) {
  Graph g("stage");
  Builder b(g, catalog().operators);
  Values x;
  for (const HostValue& v : in) x.push_back(b.input(type_of(v), "x" + std::to_string(x.size())));
  for (const Value& y : f(x)) b.output(y, "y" + std::to_string(g.outputs().size()));
  return g;
}

/// The pullback of a graph's float outputs with cotangents of 1, all at once.
Run gradient(const Graph& g, HostValues in, std::vector<bool> wanted) {
  std::vector<bool> given;
  for (const ValueId v : g.outputs()) {
    given.push_back(is_floating(std::get<TensorType>(g.type(v)).dtype));
    if (given.back()) in.push_back(zeros(g.type(v), 1));
  }
  return Run(transform::vjp(g, catalog().operators, {std::move(wanted), given, false}), std::move(in));
}

struct Scene {
  HostValues in;  // means, quats, scales, opacities, sh, views, intrinsics
  std::int64_t n, width, height;
};

Scene garden(const std::string& file, int copies) {
  std::mt19937_64 words(3);
  std::normal_distribution<float> normal;
  const HostTensor points = formats::read_hdf5(file, "/means3d"), colours = formats::read_hdf5(file, "/colors"),
                   views = formats::read_hdf5(file, "/viewmats"), lenses = formats::read_hdf5(file, "/Ks");
  const std::int64_t one = points.shape()[0], n = one * copies;
  std::vector<double> means, quats, scales, opacities, sh;
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k)
      means.push_back(points.get_f64(i % one * 3 + k) + (i >= one ? 0.05 * normal(words) : 0));
    for (int k = 0; k < 4; ++k) quats.push_back(normal(words));
    for (int k = 0; k < 3; ++k) scales.push_back(0.01 * std::exp(0.5 * normal(words)));
    opacities.push_back(1 / (1 + std::exp(-normal(words))));
    for (int k = 0; k < 3; ++k) sh.push_back((colours.get_f64(i % one * 3 + k) / 255 - 0.5) / 0.28209479177387814);
    for (int k = 0; k < 45; ++k) sh.push_back(0.05 * normal(words));
  }
  const auto first = [](const HostTensor& x, std::vector<std::int64_t> shape) {
    HostTensor out(DType::f32, std::move(shape));
    for (std::int64_t i = 0; i < out.numel(); ++i) out.set_f64(i, x.get_f64(i));
    return out;
  };
  return {{HostTensor::from(DType::f32, {n, 3}, means), HostTensor::from(DType::f32, {n, 4}, quats),
           HostTensor::from(DType::f32, {n, 3}, scales), HostTensor::from(DType::f32, {1, n}, opacities),
           HostTensor::from(DType::f32, {n, 16, 3}, sh), first(views, {1, 4, 4}), first(lenses, {1, 3, 3})},
          n,
          formats::read_hdf5(file, "/width").get_i64(0),
          formats::read_hdf5(file, "/height").get_i64(0)};
}

void render_stages(const Scene& s) {
  const splat::ProjectAttrs camera{.width = s.width, .height = s.height};
  const splat::RasterizeAttrs raster{.width = s.width, .height = s.height};
  const auto projected = [&](ValuesIn v) -> Values {
    const splat::Projected p = splat::project(v[0], splat::quat_scale_to_cov(v[1], v[2]), v[5], v[6], camera);
    return {p.radii, p.means, p.depths, p.conics};
  };
  const auto coloured = [&](ValuesIn v) -> Values { return {splat::sh_color(ops::insert_axis(v[0], 0, 1), v[1], 3)}; };
  const HostValues colour_in{s.in[0], s.in[4]};
  const Graph project_graph = graph_of(s.in, projected), colour_graph = graph_of(colour_in, coloured);
  Run project(project_graph, s.in), colour(colour_graph, colour_in);
  project(), colour();
  const HostValues box_in{project.out(1), project.out(3), s.in[3], project.out(0)};
  Run boxes(graph_of(box_in, [&](ValuesIn v) -> Values { return {splat::tile_boxes(v[0], v[1], v[2], v[3], raster)}; }),
            box_in);
  boxes();
  const HostValues bin_in{boxes.out(0), project.out(2)};
  Run bin(graph_of(bin_in,
                   [&](ValuesIn v) -> Values {
                     const splat::TileLists l = splat::tile_bin(v[0], v[1], raster, Dim::symbol("entries"));
                     return {l.ids, l.offsets};
                   }),
          bin_in);
  bin();
  const HostTensor ids = bin.out(0), offsets = bin.out(1);
  HostValues draw_in{project.out(1), project.out(3), s.in[3], colour.out(0), HostTensor(DType::f32, {1, 3}), ids,
                     offsets};
  Run draw(graph_of(draw_in,
                    [&](ValuesIn v) -> Values {
                      const splat::Rasterized r = splat::rasterize(v[0], v[1], v[2], v[3], v[4], v[5], v[6], raster);
                      return {r.image, r.transmittance, r.used};
                    }),
           draw_in);
  draw();
  HostValues pull_in = draw_in;
  for (const HostValue& v : HostValues{draw.out(1), draw.out(2), zeros(type_of(draw.out(0)), 1),
                                       HostTensor(DType::f32, draw.out(1).shape())})
    pull_in.push_back(v);
  Run pull(graph_of(pull_in, [&](ValuesIn v) { return v[0].builder->emit("splat.rasterize_gradient", v, raster); }),
           pull_in);
  Run project_back = gradient(project_graph, s.in, {true, true, true, false, false, false, false}),
      colour_back = gradient(colour_graph, colour_in, {true, true});

  const std::vector<std::pair<std::string, std::function<void()>>> stages{
      {"project", [&] { project(); }},
      {"sh_color", [&] { colour(); }},
      {"tile_boxes", [&] { boxes(); }},
      {"tile_bin", [&] { bin(); }},
      {"rasterize", [&] { draw(); }},
      {"its gradient", [&] { pull(); }},
      {"gradient of project", [&] { project_back(); }},
      {"gradient of sh_color", [&] { colour_back(); }}};
  std::vector<std::function<void()>> functions;
  for (const auto& stage : stages) functions.push_back(stage.second);
  const std::vector<double> t = bench::alternating_seconds(7, functions);
  const double forward = t[0] + t[1] + t[2] + t[3] + t[4], both = std::accumulate(t.begin(), t.end(), 0.0);
  const std::string name =
      "garden x " + std::to_string(s.n / 138766) + ", " + std::to_string(ids.numel()) + " entries: ";
  for (std::size_t i = 0; i < t.size(); ++i)
    bench::row(name + stages[i].first, t[i] * 1e3, (i < 5 ? forward : both) * 1e3, "ms, of",
               (i < 5 ? forward : both) / t[i], 1);
  bench::row(name + "forward", forward * 1e3, 100, "ms", 0.1 / forward, 1);
  bench::row(name + "forward and backward", both * 1e3, 300, "ms", 0.3 / both, 1);
}

}  // namespace

int main() {
  const char* shared = std::getenv("RLX_SHARED");
  const std::string file = std::string(shared ? shared : "../shared") + "/data/splat/garden_points.h5";
  if (!std::filesystem::exists(file)) {
    std::fprintf(stderr, "%s is not there: RLX_SHARED names its folder\n", file.c_str());
    return 1;
  }
  const Scene s = garden(file, 1);
  render_stages(s);

  const HostValues images{HostTensor(DType::f32, {s.height, s.width, 3}),
                          zeros(Type(f32({s.height, s.width, 3})), 0.5)};
  const Graph similarity = graph_of(images, [](ValuesIn v) -> Values { return {splat::ssim(v[0], v[1])}; });
  Run ssim(similarity, images), ssim_back = gradient(similarity, images, {true, false});
  const bench::Pair t = bench::alternating_seconds(7, [&] { ssim(); }, [&] { ssim_back(); });
  bench::row("ssim of 648 x 420 x 3", t.first * 1e3, 10, "ms", 0.01 / t.first, 1);
  bench::row("its gradient", t.second * 1e3, 20, "ms", 0.02 / t.second, 1);
  const HostValues points{s.in[0]};
  Run knn(graph_of(points, [](ValuesIn v) -> Values { return {splat::knn(v[0])}; }), points);
  const double seconds = bench::median_seconds(3, [&] { knn(); });
  bench::row("knn of 138,766 points", seconds * 1e3, 500, "ms", 0.5 / seconds, 1);
}
