// The subcommands of `rlx splat`, each defined in the file of its name.
#pragma once
#include "context.hpp"

#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/splat/renderer.hpp>

#include <array>
#include <string>
#include <vector>

namespace rlx::cli {

void add_splat_info(CLI::App& splat, Context& context);
void add_splat_convert(CLI::App& splat, Context& context);
void add_splat_crop(CLI::App& splat, Context& context);
void add_splat_render(CLI::App& splat, Context& context);
void add_splat_capture(CLI::App& splat, Context& context);
void add_splat_train(CLI::App& splat, Context& context);
void add_splat_view(CLI::App& splat, Context& context);  // where the build has a viewer

/// How scenes of Gaussians are read and written: the flags that convert and crop share.
struct SceneFlags {
  bool ascii = false, raw_axes = false;
  int spz_version = 0;
  const CLI::Option *ascii_given = nullptr, *version_given = nullptr, *axes_given = nullptr;

  void add_to(CLI::App& app);
  /// UsageError for an option that neither file looks at.
  void check(const std::string& input, const std::string& output) const;
  formats::GaussianCloud read(const std::string& path) const;
  void write(const std::string& path, const formats::GaussianCloud& cloud) const;
};

/// The --raw-axes flag alone, for commands that only read.
CLI::Option* add_axes_flag(CLI::App& app, bool& raw_axes);
formats::GaussianCloud read_scene(const std::string& path, bool raw_axes);
/// One to be drawn: FormatError, naming file and Gaussian, where one is not finite.
formats::GaussianCloud read_finite_scene(const std::string& path, bool raw_axes);

/// How scenes are drawn: what render and capture share.
struct DrawFlags {
  std::string background = "0,0,0", mode{}, device{};

  void add_to(CLI::App& app);
  /// Of a scene; UsageError for what is malformed. Without a mode it is that which the scene says it was trained for.
  splat::RendererOptions options(const formats::GaussianCloud& scene) const;
  void check() const;
};

/// Red, green and blue, 0 to 1, of --background; UsageError otherwise.
std::array<float, 3> parse_background(const std::string& text);

/// `count` numbers with commas between; UsageError naming the option otherwise.
std::vector<float> comma_numbers(const std::string& text, std::size_t count, const char* option);

}  // namespace rlx::cli
