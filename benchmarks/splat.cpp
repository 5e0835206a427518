// Rendering the garden scene (10 k, 139 k and 1.1 M Gaussians, 648 x 420, spherical harmonics of degree 3) and its
// gradient, on one thread and on RLX_THREADS: milliseconds beside a limit or beside OpenSplat's renderer for
// processors, Gaussians and pixels a second, the share of each stage, and the memory at 1920 x 1080; similarity of
// images and neighbour distances. The scenes are those of shared/rivals/splat/scene.py, with random numbers of our own.
// OpenSplat runs where RLX_OPENSPLAT names the folder of the module that scripts/extras builds.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/formats/gaussian_cloud.hpp>
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
#include <set>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
  Run(const Graph& g, HostValues in, const CompileOptions& options = {})
      : arguments_(std::move(in)), program_(runtime::open_device("cpu"), g, catalog(), options) {}
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
Run gradient(const Graph& g, HostValues in, std::vector<bool> wanted, const CompileOptions& options = {}) {
  std::vector<bool> given;
  for (const ValueId v : g.outputs()) {
    given.push_back(is_floating(std::get<TensorType>(g.type(v)).dtype));
    if (given.back()) in.push_back(zeros(g.type(v), 1));
  }
  return Run(transform::vjp(g, catalog().operators, {std::move(wanted), given, false}), std::move(in), options);
}

struct Scene {
  HostValues in;  // means, quats, scales, opacities, sh, views, intrinsics
  std::int64_t n, width, height;
};

/// Every `stride`th point, `copies` of it about where it was.
Scene garden(const std::string& file, std::int64_t stride, std::int64_t copies, double enlarged = 1) {
  std::mt19937_64 words(3);
  std::normal_distribution<float> normal;
  const HostTensor points = formats::read_hdf5(file, "/means3d"), colours = formats::read_hdf5(file, "/colors"),
                   views = formats::read_hdf5(file, "/viewmats"), lenses = formats::read_hdf5(file, "/Ks");
  const std::int64_t one = (points.shape()[0] + stride - 1) / stride, n = one * copies;
  const auto filled = [](std::vector<std::int64_t> shape, const std::function<float(std::int64_t)>& f) {
    HostTensor x(DType::f32, std::move(shape));
    const auto out = x.as_mutable<float>();
    for (std::int64_t i = 0; i < x.numel(); ++i) out[static_cast<std::size_t>(i)] = f(i);
    return x;
  };
  const auto stored = [&](const HostTensor& x, std::int64_t i) {
    return static_cast<float>(x.get_f64(i / 3 % one * stride * 3 + i % 3));
  };
  const float size = stride > 1 ? 0.024f : 0.01f;
  Scene s{{}, n, 0, 0};
  s.in = {
      filled({n, 3}, [&](std::int64_t i) { return stored(points, i) + (i >= 3 * one ? 0.05f * normal(words) : 0); }),
      filled({n, 4}, [&](std::int64_t) { return normal(words); }),
      filled({n, 3}, [&](std::int64_t) { return size * std::exp(0.5f * normal(words)); }),
      filled({n}, [&](std::int64_t) { return 1 / (1 + std::exp(-normal(words))); }),
      filled({n, 16, 3}, [&](std::int64_t i) {
        if (i % 48 >= 3) return 0.05f * normal(words);
        return (stored(colours, i / 48 * 3 + i % 48) / 255 - 0.5f) / static_cast<float>(formats::sh_constant);
      })};
  s.in.push_back(filled({1, 4, 4}, [&](std::int64_t i) { return static_cast<float>(views.get_f64(i)); }));
  s.in.push_back(filled(
      {1, 3, 3}, [&](std::int64_t i) { return static_cast<float>(lenses.get_f64(i) * (i < 6 ? enlarged : 1)); }));
  const auto pixels = [&](const char* name) {
    return static_cast<std::int64_t>(std::lround(formats::read_hdf5(file, name).get_f64(0) * enlarged));
  };
  s.width = pixels("/width"), s.height = pixels("/height");
  return s;
}

Graph rendering(const Scene& s) {
  return graph_of(s.in, [&](ValuesIn v) -> Values {
    return {splat::render({v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], Value{}},
                          {.project = {.width = s.width, .height = s.height}, .entries = Dim::symbol("entries")})
                .image};
  });
}
const std::vector<bool> parameters{true, true, true, true, true, false, false};

/// Milliseconds of OpenSplat's renderer for processors; 0 where it is not there.
double rival_ms(const std::string& shared, const std::string& scene, const std::string& mode) {
  const char* module = std::getenv("RLX_OPENSPLAT");
  if (!module) return 0;
  const char* python = std::getenv("RLX_PYTHON");
  const std::string command = std::string(python ? python : "python3") + " '" + shared +
                              "/rivals/splat/bench_opensplat.py' --module '" + module + "' --native --runs 5 --data '" +
                              shared + "/data/splat' --scene " + scene + " --mode " + mode + " --threads " +
                              std::to_string(bench::threads());
  std::string text;
  if (FILE* out = popen(command.c_str(), "r")) {
    for (char part[256]; std::fgets(part, sizeof part, out);) text += part;
    if (pclose(out) != 0) text.clear();
  }
  const std::size_t at = text.find("'p50_ms': ");
  if (at == std::string::npos) {
    std::fprintf(stderr, "OpenSplat did not run: %s\n", command.c_str());
    return 0;
  }
  return std::stod(text.substr(at + 10));
}

/// What the limits, in milliseconds, and the rival's times are of.
constexpr const char* measured_scene = "139k";
constexpr double forward_limit = 100, both_limit = 300;

std::string on_threads() {
  return bench::threads() == 1 ? ", 1 thread" : ", " + std::to_string(bench::threads()) + " threads";
}

/// Both directions, each one program; beside the limits and the rival where `compared`.
void whole(const std::string& name, const Scene& s, bool compared, const std::string& shared) {
  const Graph g = rendering(s);
  Run forward(g, s.in), both = gradient(g, s.in, parameters);
  const bench::Pair t = bench::alternating_seconds(5, [&] { forward(); }, [&] { both(); });
  const auto direction = [&](const std::string& what, const std::string& mode, double seconds, double limit,
                             double goal) {
    const double pixels = static_cast<double>(s.width * s.height), n = static_cast<double>(s.n);
    bench::row(name + on_threads() + what + ", Gaussians", n / seconds / 1e6, 0, "M/s", 0, 0);
    bench::row(name + on_threads() + what + ", pixels", pixels / seconds / 1e6, 0, "M/s", 0, 0);
    if (!compared) return;
    bench::row(name + on_threads() + what, seconds * 1e3, limit, "ms", limit / seconds / 1e3, 1);
    if (const double rival = rival_ms(shared, name, mode); rival > 0)
      bench::row(name + on_threads() + what + " beside OpenSplat", seconds * 1e3, rival, "ms", rival / seconds / 1e3,
                 goal);
  };
  direction(", forward", "forward", t.first, forward_limit, 6);
  direction(", forward and backward", "both", t.second, both_limit, 4);
}

/// Peak memory of a process that renders 1.1 M Gaussians at 1920 x 1080 and differentiates the image.
void memory(const std::string& file) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Scene s = garden(file, 1, 8, 1920.0 / 648);
    auto& lens = std::get<HostTensor>(s.in[6]);
    lens.set_f64(5, lens.get_f64(5) - static_cast<double>(s.height - 1080) / 2);  // The middle of the image's height.
    s.height = 1080;
    gradient(rendering(s), s.in, parameters)();
    _exit(0);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) < 0 || status != 0) {
    std::fprintf(stderr, "the process whose memory is measured failed\n");
    std::exit(1);
  }
  const double gib = static_cast<double>(used.ru_maxrss) / (1 << 20);
  bench::row("1.1M at 1920 x 1080, forward and backward: peak", gib, 3, "GiB", 3 / gib, 1);
}

/// Each stage by itself, as a share of the sum of its direction; where `compared`, those that work on Gaussians also
/// beside their common-IR form.
void render_stages(const std::string& scene, const Scene& s, bool compared) {
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
  const HostTensor opacities = std::get<HostTensor>(s.in[3]).reshaped({1, s.n});
  const HostValues box_in{project.out(1), project.out(3), opacities, project.out(0)};
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
  HostValues draw_in{project.out(1), project.out(3), opacities, colour.out(0), HostTensor(DType::f32, {1, 3}), ids,
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
  const std::vector<bool> shapes{true, true, true, false, false, false, false}, both_wanted{true, true};
  Run project_back = gradient(project_graph, s.in, shapes),
      colour_back = gradient(colour_graph, colour_in, both_wanted);

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
  const std::vector<double> t = bench::alternating_seconds(5, functions);
  const double forward = t[0] + t[1] + t[2] + t[3] + t[4], both = std::accumulate(t.begin(), t.end(), 0.0);
  const std::string name = scene + on_threads() + ", " + std::to_string(ids.numel()) + " entries: ";
  for (std::size_t i = 0; i < t.size(); ++i)
    bench::row(name + stages[i].first, t[i] * 1e3, (i < 5 ? forward : both) * 1e3, "ms, of",
               t[i] / (i < 5 ? forward : both), 0);
  if (!compared) return;
  const CompileOptions decomposed{.preference = Preference::force_common};
  Run project_common(project_graph, s.in, decomposed), colour_common(colour_graph, colour_in, decomposed),
      project_back_common = gradient(project_graph, s.in, shapes, decomposed),
      colour_back_common = gradient(colour_graph, colour_in, both_wanted, decomposed);
  const std::vector<std::function<void()>> common{[&] { project_common(); }, [&] { colour_common(); },
                                                  [&] { project_back_common(); }, [&] { colour_back_common(); }};
  const std::size_t kernels[] = {0, 1, 6, 7};  // Their places among the stages.
  for (std::size_t i = 0; i < common.size(); ++i) {
    const bench::Pair side = bench::alternating_seconds(5, stages[kernels[i]].second, common[i]);
    bench::row(scene + on_threads() + ", " + stages[kernels[i]].first + " beside common IR", side.first * 1e3,
               side.second * 1e3, "ms", side.second / side.first, 1);
  }
}

void similarity(const Scene& s) {
  const HostValues images{HostTensor(DType::f32, {s.height, s.width, 3}),
                          zeros(Type(f32({s.height, s.width, 3})), 0.5)};
  const Graph g = graph_of(images, [](ValuesIn v) -> Values { return {splat::ssim(v[0], v[1])}; });
  Run ssim(g, images), ssim_back = gradient(g, images, {true, false});
  const bench::Pair t = bench::alternating_seconds(7, [&] { ssim(); }, [&] { ssim_back(); });
  bench::row("ssim of 648 x 420 x 3", t.first * 1e3, 10, "ms", 0.01 / t.first, 1);
  bench::row("its gradient", t.second * 1e3, 20, "ms", 0.02 / t.second, 1);
}

void neighbours(const Scene& s) {
  const HostValues points{s.in[0]};
  Run knn(graph_of(points, [](ValuesIn v) -> Values { return {splat::knn(v[0])}; }), points);
  const double seconds = bench::median_seconds(3, [&] { knn(); });
  bench::row("knn of 138,766 points", seconds * 1e3, 500, "ms", 0.5 / seconds, 1);
}

/// On one thread, and on RLX_THREADS.
void whole_and_stages(const std::string& name, const Scene& s, const std::string& shared) {
  const int most = bench::threads();
  for (const int threads : std::set<int>{1, most}) {
    setenv("RLX_THREADS", std::to_string(threads).c_str(), 1);
    whole(name, s, threads == most && name == measured_scene, shared);
    render_stages(name, s, threads == most && name == measured_scene);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* shared = std::getenv("RLX_SHARED");
  const std::string folder = shared ? shared : "../shared", file = folder + "/data/splat/garden_points.h5";
  if (!std::filesystem::exists(file)) {
    std::fprintf(stderr, "%s is not there: RLX_SHARED names its folder\n", file.c_str());
    return 1;
  }
  if (!std::getenv("RLX_OPENSPLAT"))
    std::fprintf(stderr, "absent: OpenSplat (RLX_OPENSPLAT names its module; scripts/extras builds it)\n");
  bench::add("memory", [=] { memory(file); });  // First: a process has threads once it has rendered.
  for (const auto& [name, stride, copies] :
       {std::tuple<std::string, std::int64_t, std::int64_t>{"10k", 14, 1}, {"139k", 1, 1}, {"1.1M", 1, 8}})
    bench::add("render/" + name, [=] { whole_and_stages(name, garden(file, stride, copies), folder); });
  bench::add("ssim", [=] { similarity(garden(file, 1, 1)); });
  bench::add("knn", [=] { neighbours(garden(file, 1, 1)); });
  return bench::run(argc, argv);
}
