// rlx splat info FILE: what a scene of Gaussians holds, and what of it cannot be drawn; or what points there are.
#include "json_output.hpp"
#include "splat.hpp"

#include <rlx/formats/ply_points.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace rlx::cli {

namespace {

using nlohmann::json;

struct SplatInfo {
  Context& context;
  std::string file{};
  bool raw_axes = false;

  int run_points() const {
    const formats::SparsePoints points = formats::read_ply_points(file);
    std::array<double, 3> lower{}, upper{};
    std::int64_t finite = 0;
    for (std::int64_t i = 0; i < points.size(); ++i) {
      const std::array<double, 3> p{points.positions.get_f64(3 * i), points.positions.get_f64(3 * i + 1),
                                    points.positions.get_f64(3 * i + 2)};
      if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2])) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        lower[k] = finite > 0 ? std::min(lower[k], p[k]) : p[k];
        upper[k] = finite > 0 ? std::max(upper[k], p[k]) : p[k];
      }
      ++finite;
    }
    if (context.json)
      print_json({{"file", file},
                  {"points", points.size()},
                  {"not_finite", points.size() - finite},
                  {"lower", finite > 0 ? json(lower) : json()},
                  {"upper", finite > 0 ? json(upper) : json()}});
    else {
      std::printf("%-18s %lld, without Gaussians\n", "points", static_cast<long long>(points.size()));
      if (finite > 0)
        std::printf("%-18s %.6g %.6g %.6g to %.6g %.6g %.6g\n", "positions", lower[0], lower[1], lower[2], upper[0],
                    upper[1], upper[2]);
      if (finite < points.size())
        std::printf("%-18s %lld\n", "not finite", static_cast<long long>(points.size() - finite));
    }
    return 0;
  }

  int run() const {
    if (file.ends_with(".ply") && formats::is_ply_of_points(file)) return run_points();
    const formats::GaussianCloud cloud = read_scene(file, raw_axes);
    const formats::GaussianSummary s = summarize(cloud);
    const bool any = s.not_finite < s.count;  // Of others there is no box, no scale and no mean.
    const auto known = [any](const auto& value) { return any ? json(value) : json(); };
    if (context.json) {
      print_json({{"file", file},
                  {"gaussians", s.count},
                  {"sh_degree", cloud.sh_degree},
                  {"antialiased", cloud.antialiased},
                  {"not_finite", s.not_finite},
                  {"zero_quaternions", s.zero_quaternions},
                  {"lower", known(s.lower)},
                  {"upper", known(s.upper)},
                  {"smallest_scale", known(number(s.smallest_scale))},
                  {"largest_scale", known(number(s.largest_scale))},
                  {"mean_opacity", known(number(s.mean_opacity))}});
      return 0;
    }
    std::printf("%-18s %lld, harmonics of degree %d%s\n", "Gaussians", static_cast<long long>(s.count), cloud.sh_degree,
                cloud.antialiased ? ", antialiased" : "");
    if (any) {
      std::printf("%-18s %.6g %.6g %.6g to %.6g %.6g %.6g\n", "means", s.lower[0], s.lower[1], s.lower[2], s.upper[0],
                  s.upper[1], s.upper[2]);
      std::printf("%-18s %.3g to %.3g\n", "scales", s.smallest_scale, s.largest_scale);
      std::printf("%-18s %.3f\n", "mean opacity", s.mean_opacity);
    }
    if (s.not_finite) std::printf("%-18s %lld\n", "not finite", static_cast<long long>(s.not_finite));
    if (s.zero_quaternions) std::printf("%-18s %lld\n", "without rotation", static_cast<long long>(s.zero_quaternions));
    return 0;
  }
};

}  // namespace

void add_splat_info(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatInfo>(SplatInfo{context});
  CLI::App* c = add_command(splat, context, "info", "Shows what a scene holds, and how much of it cannot be drawn.",
                            [s] { return s->run(); });
  c->add_option("file", s->file, "scene: .ply (of points too), .spz or .splat")->required();
  add_axes_flag(*c, s->raw_axes);
}

}  // namespace rlx::cli
