#include "tile_bin.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/splat/attributes.hpp>

#include "in_parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace rlx::splat::cpu {
namespace {

// The Gaussians of an image are sorted by depth, once, and then written to the lists of their tiles in that order:
// lists need no sorting of their own. Bands of rows of tiles are filled in parallel, each by one walk over the sorted
// Gaussians.

struct Box {
  std::int32_t column, row, columns, rows;
};
/// A depth as an unsigned number of the same order, and whose it is.
struct Key {
  std::uint64_t depth;
  std::int32_t id;
};

template <class T>
std::uint64_t ordered(T depth) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  depth += T(0);  // -0 counts as 0.
  Bits b;
  std::memcpy(&b, &depth, sizeof b);
  return b & sign ? static_cast<Bits>(~b) : static_cast<Bits>(b | sign);
}

/// Stable, by `bytes` bytes of the depth.
void radix_sort(Key*& keys, Key*& other, std::int64_t n, int bytes) {
  for (int shift = 0; shift < 8 * bytes; shift += 8) {
    std::int64_t at[257] = {};
    for (std::int64_t i = 0; i < n; ++i) ++at[(keys[i].depth >> shift & 255) + 1];
    if (std::find(at, at + 257, n) != at + 257) continue;  // All alike in this byte.
    for (int i = 0; i < 256; ++i) at[i + 1] += at[i];
    for (std::int64_t i = 0; i < n; ++i) other[at[keys[i].depth >> shift & 255]++] = keys[i];
    std::swap(keys, other);
  }
}

struct Bins {
  const Box* boxes;
  std::int64_t images, gaussians, columns, rows, size;
  std::int32_t *ids, *offsets;
  std::int64_t tiles() const { return columns * rows; }
};

/// The boxes in `band` of `bands` of the rows of tiles, in the order of the keys: f(tile, id) for each tile.
template <class F>
void each_tile(const Bins& b, const Key* keys, std::int64_t n, std::int64_t band, std::int64_t bands, F f) {
  const std::int64_t top = b.rows * band / bands, bottom = b.rows * (band + 1) / bands;
  for (std::int64_t i = 0; i < n; ++i) {
    const Box& box = b.boxes[keys[i].id];
    const std::int64_t from = std::max<std::int64_t>(top, box.row),
                       to = std::min<std::int64_t>(bottom, box.row + box.rows);
    for (std::int64_t y = from; y < to; ++y)
      for (std::int64_t x = 0; x < box.columns; ++x) f(y * b.columns + box.column + x, keys[i].id);
  }
}

template <class F>
void in_parallel(std::int64_t count, F f) {
  rlx::cpu::parallel_for(
      count, 1, 0,
      [](void* context, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) (*static_cast<F*>(context))(i);
      },
      &f);
}

template <class T>
void run(const LaunchCall& c) {
  const auto& a = c.instance.attrs->as<TileBinAttrs>();
  const TensorType& type = c.in[0].type;
  const Bins b{static_cast<const Box*>(c.in[0].data),
               type.dim(0).constant(),
               type.dim(1).constant(),
               a.columns,
               a.rows,
               c.out[0].type.dim(0).constant(),
               static_cast<std::int32_t*>(c.out[0].data),
               static_cast<std::int32_t*>(c.out[1].data)};
  const auto* depths = static_cast<const T*>(c.in[1].data);
  const std::int64_t all = b.images * b.gaussians;
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < all; ++i) {
    const Box& box = b.boxes[i];
    if (box.column < 0 || box.row < 0 || box.columns < 0 || box.rows < 0 || box.columns > b.columns - box.column ||
        box.rows > b.rows - box.row)
      throw ArgumentError("splat.tile_bin: box " + std::to_string(i) + " is not within the tiles");
    total += std::int64_t{box.columns} * box.rows;
  }
  if (total > b.size)
    throw NumericalError("splat.tile_bin", 0,
                         "splat.tile_bin: the lists have " + std::to_string(total) +
                             " entries, more than size = " + std::to_string(b.size));

  auto* memory = static_cast<std::byte*>(c.workspace.data);
  auto* keys = reinterpret_cast<Key*>(memory);
  auto* cursors = reinterpret_cast<std::int32_t*>(memory + aligned(2 * all * static_cast<std::int64_t>(sizeof(Key))));
  const std::int64_t bands = std::min<std::int64_t>(b.rows, 4 * rlx::cpu::default_threads());
  std::fill(b.offsets, b.offsets + b.images * b.tiles() + 1, 0);
  const auto sorted = [&](std::int64_t image, std::int64_t& n) {
    Key *mine = keys + 2 * image * b.gaussians, *other = mine + b.gaussians;
    n = 0;
    for (std::int64_t id = image * b.gaussians; id < (image + 1) * b.gaussians; ++id)
      if (b.boxes[id].columns && b.boxes[id].rows) mine[n++] = {ordered(depths[id]), static_cast<std::int32_t>(id)};
    radix_sort(mine, other, n, sizeof(T));
    return mine;
  };
  for (std::int64_t image = 0; image < b.images; ++image) {
    std::int64_t n;
    const Key* order = sorted(image, n);
    std::int32_t* lengths = b.offsets + image * b.tiles() + 1;  // Shifted by one: they become the ends.
    in_parallel(bands, [&](std::int64_t band) {
      each_tile(b, order, n, band, bands, [&](std::int64_t tile, std::int32_t) { ++lengths[tile]; });
    });
    for (std::int64_t t = 0; t < b.tiles(); ++t) {
      cursors[t] = lengths[t - 1];
      lengths[t] += lengths[t - 1];
    }
    in_parallel(bands, [&](std::int64_t band) {
      each_tile(b, order, n, band, bands, [&](std::int64_t tile, std::int32_t id) { b.ids[cursors[tile]++] = id; });
    });
  }
  std::fill(b.ids + total, b.ids + b.size, 0);
}

}  // namespace

std::int64_t tile_bin_workspace(const Instance& i) {
  const auto& a = i.attrs->as<TileBinAttrs>();
  const std::int64_t all = i.signature.tensor(1).numel().constant();
  return aligned(2 * all * static_cast<std::int64_t>(sizeof(Key))) + a.columns * a.rows * 4;
}

void launch_tile_bin(const LaunchCall& c) {
  if (c.in[1].type.dtype == DType::f64) return run<double>(c);
  return run<float>(c);
}

}  // namespace rlx::splat::cpu
