// rlx splat capture SCENE -o FOLDER: images of a known scene and the poses they were made from, as COLMAP would give
// them.
#include "compile_flags.hpp"
#include "json_output.hpp"
#include "option_checks.hpp"
#include "progress.hpp"
#include "splat.hpp"
#include "splat_cameras.hpp"
#include "splat_folder.hpp"

#include <rlx/formats/colmap.hpp>
#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/image.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/capture.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <numbers>

namespace rlx::cli {

namespace {

struct SplatCapture {
  Context& context;
  DrawFlags draw{};
  std::string scene{}, output{}, size = "200x200";
  std::int64_t random = 0;
  CLI::Option* random_given = nullptr;
  int views = 32;
  double fov = 40, lowest_elevation = 30, point_noise = 0.01;
  std::uint64_t seed = 0;
  bool text = false, raw_axes = false, overwrite = false;

  static constexpr const char *images_name = "images", *model_name = "sparse", *scene_name = "scene.ply";

  /// What is there already is refused, but for a capture that may be replaced.
  void check_folder() const {
    std::error_code failed;
    if (!std::filesystem::exists(std::filesystem::path(output) / model_name, failed))
      return refuse_foreign_entries(output, {}, "and no capture");
    refuse_foreign_entries(output, {images_name, model_name, scene_name}, "beside a capture");
    if (!overwrite) throw ArgumentError(output + " holds a capture: --overwrite replaces it");
    if (is_within(scene, output))
      throw ArgumentError(scene + " lies in " + output + ", which --overwrite would remove: name another folder");
  }

  void write(const splat::Capture& capture, const formats::GaussianCloud& cloud,
             const std::filesystem::path& folder) const {
    std::error_code failed;  // Of what the first image tells.
    std::filesystem::create_directory(folder / images_name, failed);
    for (std::size_t i = 0; i < capture.size(); ++i)
      formats::write_png((folder / images_name / capture.pose(i).name).string(), capture.images[i]);
    formats::write_colmap((folder / model_name / "0").string(), capture.reconstruction,
                          text ? formats::ColmapEncoding::text : formats::ColmapEncoding::binary);
    if (random > 0) formats::write_gaussians((folder / scene_name).string(), cloud);
  }

  int run() const {
    draw.check();
    const Size s = parse_size(size);
    if (scene.empty() == (random_given->count() == 0)) throw UsageError("capture takes a scene, or --random N");
    if (!(fov > 0 && fov < 180)) throw UsageError("--fov is between 0 and 180 degrees");
    if (!(lowest_elevation >= -90 && lowest_elevation < 90))
      throw UsageError("--lowest-elevation is from -90 to below 90 degrees");
    check_folder();
    warn_of_idle_device(draw.device);
    auto progress = std::make_unique<Progress>();
    progress->stage(random > 0 ? "making a scene" : "reading " + scene);
    const formats::GaussianCloud cloud =
        random > 0 ? splat::synthetic_scene(random, seed) : read_finite_scene(scene, raw_axes);
    const splat::RendererOptions look = draw.options(cloud);
    PendingFolder folder(output);  // Now: a place that cannot be written to is told before the views are drawn.
    progress->stage("drawing " + std::to_string(views) + " views");
    const splat::Capture capture =
        splat::capture_scene(cloud, {.views = views,
                                     .width = s.width,
                                     .height = s.height,
                                     .field_of_view = fov * std::numbers::pi / 180,
                                     .lowest_elevation = lowest_elevation * std::numbers::pi / 180,
                                     .background = look.background,
                                     .mode = look.mode,
                                     .point_noise = point_noise,
                                     .seed = seed,
                                     .device = look.device});
    progress->stage("writing " + output);
    write(capture, cloud, folder.path());
    check_folder();  // Again: what has come there since would be lost.
    folder.commit();
    progress.reset();
    if (context.json)
      print_json({{"output", output},
                  {"gaussians", cloud.size()},
                  {"views", capture.size()},
                  {"width", s.width},
                  {"height", s.height},
                  {"points", capture.reconstruction.points.size()}});
    else
      std::printf("%s: %s of %s, %lld x %lld, and %s\n", output.c_str(), counted(views, "view").c_str(),
                  counted(cloud.size(), "Gaussian").c_str(), static_cast<long long>(s.width),
                  static_cast<long long>(s.height), counted(capture.reconstruction.points.size(), "point").c_str());
    return 0;
  }
};

}  // namespace

void add_splat_capture(CLI::App& splat, Context& context) {
  auto s = std::make_shared<SplatCapture>(SplatCapture{context});
  CLI::App* c = add_command(splat, context, "capture",
                            "Photographs a known scene: a COLMAP folder with images, poses and points.",
                            [s] { return s->run(); });
  c->add_option("scene", s->scene, "scene: .ply, .spz or .splat");
  s->random_given = c->add_option("--random", s->random, "a made-up scene of so many Gaussians, kept as scene.ply")
                        ->check(number_from<std::int64_t>(1, 100'000'000));
  c->add_option("-o,--output", s->output, "folder, new or empty: images/*.png, and the model in sparse/0")->required();
  c->add_option("--views", s->views, "images, from a spiral over a sphere around the scene, from above downwards")
      ->check(number_from<int>(1, 1'000'000))
      ->capture_default_str();
  c->add_option("--size", s->size, "of the images: WIDTHxHEIGHT")->capture_default_str();
  c->add_option("--fov", s->fov, "field of view across the width, degrees")->capture_default_str();
  c->add_option(
       "--lowest-elevation", s->lowest_elevation,
       "of the cameras, degrees above the horizon: the more, the nearer they lie to each other; -90: from all sides")
      ->capture_default_str();
  c->add_option("--point-noise", s->point_noise, "of the points, in radii of the scene")
      ->check(number_from<double>(0))
      ->capture_default_str();
  c->add_option("--seed", s->seed, "of the scene that is made up, and of the noise")
      ->check(number_from<std::uint64_t>(0))
      ->capture_default_str();
  c->add_flag("--overwrite", s->overwrite, "replace a capture that is there, all of it");
  c->add_flag("--text", s->text, "the model as texts");
  s->draw.add_to(*c);
  add_axes_flag(*c, s->raw_axes);
}

}  // namespace rlx::cli
