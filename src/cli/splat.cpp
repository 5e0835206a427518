// rlx splat: the group of subcommands for scenes of 3D Gaussians, and what they share.
#include "splat.hpp"

#include "option_checks.hpp"

#include <rlx/formats/gaussian_file.hpp>
#include <rlx/formats/ply.hpp>
#include <rlx/formats/spz.hpp>
#include <rlx/ir/error.hpp>

#include <charconv>

namespace rlx::cli {

using namespace formats;

void add_splat(CLI::App& app, Context& context) {
  CLI::App* splat = app.add_subcommand("splat", "Scenes of 3D Gaussians: .ply (packed ones read), .spz and .splat.");
  splat->require_subcommand(1);
  add_splat_info(*splat, context);
  add_splat_convert(*splat, context);
  add_splat_crop(*splat, context);
  add_splat_render(*splat, context);
  add_splat_capture(*splat, context);
  add_splat_train(*splat, context);
#ifdef RLX_VIEWER
  add_splat_view(*splat, context);
#endif
}

CLI::Option* add_axes_flag(CLI::App& app, bool& raw_axes) {
  return app.add_flag("--raw-axes", raw_axes, "SPZ files have the axes of PLY, not those that their format says");
}

GaussianCloud read_scene(const std::string& path, bool raw_axes) {
  if (!path.ends_with(".spz")) return read_gaussians(path);
  return read_spz(path, raw_axes ? SpzAxes::right_down_front : SpzAxes::right_up_back);
}

GaussianCloud read_finite_scene(const std::string& path, bool raw_axes) {
  GaussianCloud scene = read_scene(path, raw_axes);
  try {
    check_finite(scene);
  } catch (const ArgumentError& e) {
    throw FormatError(path, 0, std::string(e.what()) + "; rlx splat crop leaves such out");
  }
  return scene;
}

void SceneFlags::add_to(CLI::App& app) {
  ascii_given = app.add_flag("--ascii", ascii, "write a .ply as text");
  version_given =
      app.add_option("--spz-version", spz_version, "version of a written .spz: 2, 3 or 4 (default 3; 4 for degree 4)")
          ->check(number_from<int>(2, 4));
  axes_given = add_axes_flag(app, raw_axes);
}

void SceneFlags::check(const std::string& input, const std::string& output) const {
  const auto needs = [](const CLI::Option* given, bool applies, const char* what) {
    if (given->count() > 0 && !applies) throw UsageError(given->get_name() + " is an option for " + what);
  };
  const auto spz = [](const std::string& path) { return path.ends_with(".spz"); };
  needs(ascii_given, output.ends_with(".ply"), "writing a .ply");
  needs(version_given, spz(output), "writing a .spz");
  needs(axes_given, spz(input) || spz(output), "a .spz");
}

GaussianCloud SceneFlags::read(const std::string& path) const { return read_scene(path, raw_axes); }

void SceneFlags::write(const std::string& path, const GaussianCloud& cloud) const {
  if (path.ends_with(".ply")) return write_ply(path, cloud, ascii ? PlyEncoding::ascii : PlyEncoding::binary);
  if (!path.ends_with(".spz")) return write_gaussians(path, cloud);
  SpzOptions options;
  if (version_given->count() > 0) options.version = spz_version;
  if (raw_axes) options.axes = SpzAxes::right_down_front;
  write_spz(path, cloud, options);
}

std::vector<float> comma_numbers(const std::string& text, std::size_t count, const char* option) {
  const auto wrong = [&] {
    throw UsageError(std::string(option) + " takes " + std::to_string(count) + " numbers with commas between, not \"" +
                     text + "\"");
  };
  std::vector<float> numbers;
  for (const char *at = text.data(), *const end = at + text.size();;) {
    float x = 0;
    const auto [stop, code] = std::from_chars(at, end, x);
    if (code != std::errc() || x != x || (stop != end && *stop != ',')) wrong();
    numbers.push_back(x);
    if (stop == end) break;
    at = stop + 1;
  }
  if (numbers.size() != count) wrong();
  return numbers;
}

}  // namespace rlx::cli
