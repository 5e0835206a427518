// rlx splat render SCENE -o OUT: pictures of a scene from one camera or a path of them.
#include "compile_flags.hpp"
#include "json_output.hpp"
#include "option_checks.hpp"
#include "progress.hpp"
#include "splat.hpp"
#include "splat_cameras.hpp"

#include <rlx/formats/image.hpp>
#include <rlx/formats/npy.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace rlx::cli {

namespace {

using nlohmann::json;

/// A name of files: with a place for the number, "a_%04d.png", or without one.
struct Names {
  std::string before, after;
  int digits = -1;  ///< -1: no number.

  Names(const std::string& pattern, bool sequence, const char* option) : before(pattern) {
    if (!pattern.ends_with(".png") && !pattern.ends_with(".npy"))
      throw UsageError(std::string(option) + " names a .png or a .npy, not \"" + pattern + "\"");
    const std::size_t at = pattern.find('%');
    if (at != std::string::npos) {
      const std::size_t d = pattern.find_first_not_of("0123456789", at + 1);
      const std::string width = pattern.substr(at + 1, d - at - 1);
      if (d == std::string::npos || pattern[d] != 'd' || width.size() > 2 || pattern.find('%', d) != std::string::npos)
        throw UsageError(std::string(option) + " has one number, such as %04d, not \"" + pattern + "\"");
      before = pattern.substr(0, at);
      after = pattern.substr(d + 1);
      digits = width.empty() ? 1 : std::stoi(width);
    } else if (sequence) {
      before = pattern.substr(0, pattern.size() - 4) + "_";
      after = pattern.substr(pattern.size() - 4);
      digits = 4;
    }
  }
  std::string of(std::size_t i) const {
    if (digits < 0) return before;
    std::string number = std::to_string(i);
    number.insert(0, static_cast<std::size_t>(std::max(0, digits - static_cast<int>(number.size()))), '0');
    return before + number + after;
  }
  /// ArgumentError where a longer sequence of that name is there: its rest would pass for the end of this one.
  void refuse_rest(std::size_t count) const {
    if (std::error_code failed; std::filesystem::exists(of(count), failed))
      throw ArgumentError(of(count) + " is there, of a longer sequence than " + std::to_string(count) +
                          " images: remove that one, or choose another name");
  }
  bool png() const { return (digits < 0 ? before : after).ends_with(".png"); }
};

struct SplatRender {
  Context& context;
  CameraFlags cameras{};
  DrawFlags draw{};
  std::string scene{}, output{};
  std::optional<std::string> depth{};
  int degree = -1;
  double depth_scale = 1000;
  CLI::Option* depth_scale_given = nullptr;
  bool raw_axes = false;

  void write_colours(const std::string& name, bool png, const HostTensor& colours) const {
    if (png) formats::write_png(name, splat::unit_bytes(colours));
    else formats::write_npy(name, colours);
  }

  void write_depth(const std::string& name, bool png, const HostTensor& z) const {
    if (!png) return formats::write_npy(name, z);
    HostTensor scaled(DType::u16, {z.shape()[0], z.shape()[1], 1});
    std::ranges::transform(z.as<float>(), scaled.as_mutable<std::uint16_t>().begin(), [&](float x) {
      return static_cast<std::uint16_t>(std::clamp(std::round(x * depth_scale), 0.0, 65535.0));
    });
    formats::write_png(name, scaled);
  }

  int run() const {
    cameras.check();
    draw.check();
    if (!(depth_scale > 0)) throw UsageError("--depth-scale is above 0");
    const Names names(output, cameras.sequence(), "--output");
    std::optional<Names> depth_names;
    if (depth) depth_names.emplace(*depth, cameras.sequence(), "--depth");
    if (depth_scale_given->count() > 0 && !(depth && depth_names->png()))
      throw UsageError("--depth-scale is an option for --depth with a .png");
    if (depth && depth_names->of(0) == names.of(0)) throw UsageError("--output and --depth name the same file");
    warn_of_idle_device(draw.device);

    auto progress = std::make_unique<Progress>();
    progress->stage("reading " + scene);
    const auto start = std::chrono::steady_clock::now();
    const formats::GaussianCloud cloud = read_finite_scene(scene, raw_axes);
    const double seconds_read = seconds_since(start);
    const std::vector<View> views = cameras.views(cloud);
    if (cameras.sequence()) {
      names.refuse_rest(views.size());
      if (depth_names) depth_names->refuse_rest(views.size());
    }
    splat::RendererOptions options = draw.options(cloud);
    options.camera = cameras.model();
    options.degree = degree;
    options.depth = depth.has_value();
    const splat::Renderer renderer(cloud, options);

    json images = json::array();
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto& [camera, pose] = views[i];
      progress->stage("drawing " + names.of(i) + ", " + std::to_string(i + 1) + " of " + std::to_string(views.size()));
      const auto begin = std::chrono::steady_clock::now();
      const splat::Picture picture = renderer.picture(camera, pose);
      json image{
          {"file", names.of(i)}, {"width", camera.width}, {"height", camera.height}, {"seconds", seconds_since(begin)}};
      if (!pose.name.empty()) image["camera"] = pose.name;
      write_colours(names.of(i), names.png(), picture.colours);
      if (depth) {
        write_depth(depth_names->of(i), depth_names->png(), picture.depth);
        image["depth"] = depth_names->of(i);
      }
      images.push_back(std::move(image));
    }
    progress.reset();
    report({{"scene", scene},
            {"gaussians", cloud.size()},
            {"device", options.device},
            {"mode", options.mode == splat::RenderMode::classic ? "classic" : "antialiased"},
            {"lens", cameras.lens},
            {"sh_degree", options.degree < 0 ? cloud.sh_degree : options.degree},
            {"seconds_read", seconds_read},
            {"images", std::move(images)}});
    return 0;
  }

  void report(const json& r) const {
    if (context.json) return print_json(r);
    for (const json& image : r["images"])
      std::printf("%s: %lld x %lld, %lld Gaussians on %s in %.3f s\n", image["file"].get<std::string>().c_str(),
                  image["width"].get<long long>(), image["height"].get<long long>(), r["gaussians"].get<long long>(),
                  r["device"].get<std::string>().c_str(), image["seconds"].get<double>());
  }
};

}  // namespace

void add_splat_render(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatRender>(SplatRender{context});
  CLI::App* c =
      add_command(splat, context, "render", "Draws a scene. Times include compilation for the first image of a size.",
                  [s] { return s->run(); });
  c->add_option("scene", s->scene, "scene: .ply, .spz or .splat")->required();
  c->add_option(
       "-o,--output", s->output,
       "image, replaced whole or not at all: .png, or .npy for floats; of a sequence with %04d where the number goes, "
       "else before the dot")
      ->required();
  s->cameras.add_to(*c);
  s->draw.add_to(*c);
  c->add_option("--degree", s->degree, "of the harmonics that are drawn (default: all)")->check(number_from<int>(0, 4));
  c->add_option("--depth", s->depth, "also the depth: .npy, or .png of 16 bits; 0 where nothing is");
  s->depth_scale_given =
      c->add_option("--depth-scale", s->depth_scale, "in a .png, per unit of the scene")->capture_default_str();
  add_axes_flag(*c, s->raw_axes);
}

}  // namespace rlx::cli
