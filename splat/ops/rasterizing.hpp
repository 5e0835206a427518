// What rasterize and its gradient share: constraints, tiles, and the common-IR form of walking the lists of all tiles
// in lockstep, one position of every list a trip.
#pragma once
#include "splat/ops/common.hpp"

namespace rlx::splat {

inline constexpr double least_alpha = 1.0 / 255;     ///< What is less opaque leaves a pixel alone.
inline constexpr double most_alpha = 0.999;          ///< Opacity is capped there, and passes no gradient.
inline constexpr double least_transmittance = 1e-4;  ///< What would take a pixel to it or below ends the pixel.

/// Operands that both operators begin with.
enum RasterizeOperand : std::size_t {
  means_at,
  conics_at,
  opacities_at,
  features_at,
  backgrounds_at,
  ids_at,
  offsets_at,
  lists_end
};

// What these must be; the constraints of both operators.
Answer rasterize_dtypes(const RasterizeAttrs&, const Signature&);
Answer rasterize_sizes(const RasterizeAttrs&, const Signature&);
Answer rasterize_means(const RasterizeAttrs&, const Signature&);
Answer rasterize_gaussians(const RasterizeAttrs&, const Signature&);
Answer rasterize_features(const RasterizeAttrs&, const Signature&);
Answer rasterize_lists(const RasterizeAttrs&, const Signature&);

/// The first seven operands for two images of 7 x 5 in tiles of 4: 3 Gaussians each, which reach far over every pixel.
std::vector<SampleOperand> raster_sample(DType t, std::int64_t channels);

/// The tiles of an image, row by row; the last column and row may reach beyond it.
struct TileGrid {
  std::int64_t width, height, side, columns, rows;
  explicit TileGrid(const RasterizeAttrs& a);
  std::int64_t tiles() const { return columns * rows; }
  std::int64_t pixels() const { return side * side; }  ///< Of a tile.
  /// [c, height, width, ..] -> [c * tiles, pixels, ..]; beyond the image 0.
  Value to_tiles(Value image) const;
  /// The inverse, which drops what is beyond the image.
  Value to_image(Value tiled) const;
};

/// What the body of a loop over positions needs: as invariants, and back.
struct Lists {
  Value starts, ends;  ///< i32 [t]: where the list of each tile begins and ends.
  Value ids;           ///< i32 [k + 1], a 0 at the end.
  Value table;         ///< [gaussians + 1, 6 + f]: mean, conic, opacity, features; zeros at the end.
  explicit Lists(ValuesIn operands);
  Values values() const { return {starts, ends, ids, table}; }
  static Lists from(ValuesIn invariants) { return Lists(invariants[0], invariants[1], invariants[2], invariants[3]); }
  Value longest() const;  ///< i32 []: the length of the longest list.

 private:
  Lists(Value s, Value e, Value i, Value t) : starts(s), ends(e), ids(i), table(t) {}
};

/// The Gaussian at one position of every list, at every pixel of its tile: t tiles of p pixels.
struct Splat {
  Value entry;                 ///< i32 [t]: its index in `ids`; where the list has ended, the end of all lists.
  Value counts;                ///< bool [t, p]: the list goes on, sigma >= 0 and alpha is not too small.
  Value falloff;               ///< [t, p]: exp(-sigma).
  Value alpha, capped;         ///< [t, p], and bool: whether the cap made it.
  Value dx, dy;                ///< [t, p]: the mean less the pixel's centre.
  std::array<Value, 3> conic;  ///< [t, 1]
  Value opacity;               ///< [t, 1]
  Value features;              ///< [t, 1, f]
};
/// `j`: i32 [], the position.
Splat splat_at(const TileGrid& grid, const Lists& lists, Value j);

}  // namespace rlx::splat
