// Which cameras a scene is drawn from: the options of `rlx splat render`.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/formats/reconstruction.hpp>
#include <rlx/splat/renderer.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rlx::cli {

/// A camera of the drawn lens, its intrinsics as PINHOLE, and where it is.
struct View {
  formats::Camera camera;
  formats::PosedImage pose;
};

struct Size {
  std::int64_t width = 0, height = 0;
};
/// Of "640x480"; UsageError otherwise.
Size parse_size(const std::string& text);

struct CameraFlags {
  std::optional<std::string> file{}, image{}, path{}, eye{}, target{}, up{}, size{};
  std::string lens = "pinhole";
  std::optional<double> fov{};
  std::optional<int> orbit{};

  void add_to(CLI::App& app);
  /// UsageError for options that exclude each other or are malformed; before anything is read.
  void check() const;
  bool sequence() const { return path || orbit; }
  /// What the lens makes of rays.
  splat::CameraModel model() const;
  /// One, or those of a sequence. Lenses of files are drawn without their distortion.
  std::vector<View> views(const formats::GaussianCloud& scene) const;

 private:
  formats::Camera straightened(const formats::Camera& taken, const std::string& file) const;
  std::vector<View> from_file(const std::string& name) const;
};

}  // namespace rlx::cli
