// Attribute structs of the splatting operators. Images are width x height pixels, pixel centres at +0.5.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace rlx::splat {

struct CovarianceAttrs {
  bool precisions = false;
  bool operator==(const CovarianceAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"precisions", &CovarianceAttrs::precisions, "a second result: the inverses"}};
};

enum class CameraModel { pinhole, ortho, fisheye };
inline std::span<const std::string_view> enum_names(CameraModel) {
  static constexpr std::string_view names[] = {"pinhole", "ortho", "fisheye"};
  return names;
}

struct ProjectAttrs {
  std::int64_t width = 1, height = 1;
  CameraModel camera = CameraModel::pinhole;
  double near = 0.01, far = 1e10;
  double radius_clip = 0;
  double blur = 0.3;
  bool operator==(const ProjectAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"width", &ProjectAttrs::width, "of the image, pixels"},
      Field{"height", &ProjectAttrs::height, "of the image, pixels"},
      Field{"camera", &ProjectAttrs::camera, "pinhole, ortho or fisheye (equidistant)"},
      Field{"near", &ProjectAttrs::near, "what is nearer along the camera's z is culled"},
      Field{"far", &ProjectAttrs::far, "what is farther along the camera's z is culled"},
      Field{"radius_clip", &ProjectAttrs::radius_clip, "what is no larger in both directions is culled, pixels"},
      Field{"blur", &ProjectAttrs::blur, "added to both variances in the image, pixels squared"}};
};

struct ShColorAttrs {
  int degree = 0;
  bool operator==(const ShColorAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"degree", &ShColorAttrs::degree, "0 to 4"}};
};

enum class Padding { same, valid };
inline std::span<const std::string_view> enum_names(Padding) {
  static constexpr std::string_view names[] = {"same", "valid"};
  return names;
}

struct SsimAttrs {
  Padding padding = Padding::same;
  double range = 1;
  bool operator==(const SsimAttrs&) const = default;
  static constexpr auto fields = std::tuple{
      Field{"padding", &SsimAttrs::padding, "same (zeros outside the image) or valid (the window inside it)"},
      Field{"range", &SsimAttrs::range, "from black to white"}};
};

struct KnnAttrs {
  std::int64_t k = 3;
  bool operator==(const KnnAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"k", &KnnAttrs::k, "how many neighbours"}};
};

struct TileBinAttrs {
  std::int64_t columns = 1, rows = 1;
  Dim size = 0;
  Dim bound = -1;
  bool operator==(const TileBinAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"columns", &TileBinAttrs::columns, "of tiles of an image"},
                 Field{"rows", &TileBinAttrs::rows, "of tiles of an image"},
                 Field{"size", &TileBinAttrs::size, "entries of all lists: a new symbol, or a number"},
                 Field{"bound", &TileBinAttrs::bound, "upper bound of a size that is a symbol; -1: none given"}};
};

/// tile_boxes, rasterize and its gradient.
struct RasterizeAttrs {
  std::int64_t width = 1, height = 1, tile = 16;
  bool operator==(const RasterizeAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"width", &RasterizeAttrs::width, "of the image, pixels"},
                                            Field{"height", &RasterizeAttrs::height, "of the image, pixels"},
                                            Field{"tile", &RasterizeAttrs::tile, "side of a tile, pixels"}};
};

/// antialiased: opacities times the compensation of project.
enum class RenderMode { classic, antialiased };
inline std::span<const std::string_view> enum_names(RenderMode) {
  static constexpr std::string_view names[] = {"classic", "antialiased"};
  return names;
}

/// depth: a fourth channel, the sum of depths weighted as colours are; expected_depth: that over the sum of the
/// weights.
enum class Channels { rgb, depth, expected_depth };
inline std::span<const std::string_view> enum_names(Channels) {
  static constexpr std::string_view names[] = {"rgb", "depth", "expected_depth"};
  return names;
}

struct RenderAttrs {
  ProjectAttrs project{};
  int degree = 3;
  RenderMode mode = RenderMode::classic;
  Channels channels = Channels::rgb;
  std::int64_t tile = 16;
  std::int64_t entries = 0;
  bool operator==(const RenderAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"project", &RenderAttrs::project, "image, camera and what is culled: those of splat.project"},
                 Field{"degree", &RenderAttrs::degree, "of the spherical harmonics, 0 to 4"},
                 Field{"mode", &RenderAttrs::mode, "classic or antialiased (opacities make up for the blur)"},
                 Field{"channels", &RenderAttrs::channels, "rgb, or with a fourth channel: depth or expected_depth"},
                 Field{"tile", &RenderAttrs::tile, "side of a tile, pixels"},
                 Field{"entries", &RenderAttrs::entries, "room for the lists of all tiles of all images"}};
};

}  // namespace rlx::splat
