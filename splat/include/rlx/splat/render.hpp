// Whole renders: from Gaussians and cameras to images, as a graph of the family's operators.
#pragma once
#include <rlx/splat/build.hpp>

namespace rlx::splat {

/// n Gaussians, all of one dtype.
struct Gaussians {
  Value means;      ///< [n, 3]
  Value quats;      ///< [n, 4]
  Value scales;     ///< [n, 3], standard deviations
  Value opacities;  ///< [n], 0 to 1
  Value sh;         ///< [n, k, 3], k of at least (degree + 1)^2
};
struct Cameras {
  Value views;        ///< [c, 4, 4], world to camera
  Value intrinsics;   ///< [c, 3, 3], pixels
  Value backgrounds;  ///< [c, 3]; absent: black
};

struct RenderOptions {
  ProjectAttrs project{};
  int degree = 3;
  RenderMode mode = RenderMode::classic;
  Channels channels = Channels::rgb;
  std::int64_t tile = 16;
  /// Entries of the tiles' lists, of all images together. A number: what is more is a NumericalError. A symbol of the
  /// graph's own, with a bound (-1: none is known): the lists are as long as they come out.
  Dim entries = 0, bound = -1;
  /// Of a number of entries: Gaussians whose entries come after these are left out instead, and Rendered::wanted says
  /// how many entries there would have been. For callers who would rather see that than lose what was computed.
  bool cut = false;
};

struct Rendered {
  Value image;  ///< [c, height, width, 3 or 4]
  Value alpha;  ///< [c, height, width]
  Projected projected;
  Rasterized rasterized;
  Value wanted;  ///< i64 scalar, with RenderOptions::cut.
};
/// A probe, zeros [c, n, 2], gets as its cotangent the sums over pixels of the magnitudes of the gradient of the
/// projected means; a shift, zeros [c, n, 2] added to those means, gets the gradient itself.
RLX_API Rendered render(const Gaussians& g, const Cameras& cameras, const RenderOptions& options, Value probe = {},
                        Value shift = {});

struct Images {
  Value image;  ///< [c, height, width, 3 or 4]
  Value alpha;  ///< [c, height, width]
};
/// The same as one node, the operator splat.render, which lowers to what `render` emits.
RLX_API Images render_images(const Gaussians& g, const Cameras& cameras, const RenderAttrs& attrs);

}  // namespace rlx::splat
