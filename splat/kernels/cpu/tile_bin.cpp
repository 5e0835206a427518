#include "tile_bin.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/attributes.hpp>

#include "in_parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace rlx::splat::cpu {
namespace {

// The Gaussians of an image are sorted by depth, once, and then written to the lists of their tiles in that order:
// lists need no sorting of their own. Both are stable distributions over bins, a byte's values and the tiles: the
// Gaussians are cut into parts, each part counts what it puts where, and bin by bin the parts get their places in
// order. What comes out does not depend on how many parts there are.

struct TileBox {
  std::int32_t column, row, columns, rows;
};
/// A depth as an unsigned number of the same order, and whose it is.
template <class T>
struct DepthKey {
  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> depth;
  std::int32_t id;
};

template <class T>
auto depth_in_order(T depth) {
  decltype(DepthKey<T>::depth) b;
  constexpr auto sign = decltype(b){1} << (8 * sizeof(T) - 1);
  depth += T(0);  // -0 counts as 0.
  std::memcpy(&b, &depth, sizeof b);
  return static_cast<decltype(b)>(b & sign ? ~b : b | sign);
}

constexpr std::int64_t byte_values = 256;
constexpr std::int64_t least_part = 4096;  ///< Gaussians that are worth a part.

/// What a part of the boxes has.
struct alignas(64) PartOfBoxes {
  std::int64_t seen = 0, entries = 0, wrong = -1;  ///< wrong: the first box that is not within the tiles.
};

/// f(part, begin, end) for `parts` parts of [0, count).
template <class F>
void in_parts(std::int64_t count, std::int64_t parts, const F& f) {
  in_parallel(parts, [&](std::int64_t part) { f(part, count * part / parts, count * (part + 1) / parts); });
}

/// Counts [parts, bins] to where the first of each goes: by bin, then by part, from `first` on.
void to_places(std::int32_t* counts, std::int64_t parts, std::int64_t bins, std::int32_t first) {
  for (std::int64_t bin = 0; bin < bins; ++bin)
    for (std::int64_t part = 0; part < parts; ++part) first += std::exchange(counts[part * bins + bin], first);
}

/// Stable, by the bytes of the depth; counts is [parts, 256]. Returns which of the two buffers has the result.
template <class K>
K* radix_sorted(K* keys, K* other, std::int64_t n, std::int32_t* counts, std::int64_t parts) {
  for (std::size_t shift = 0; shift < 8 * sizeof keys->depth; shift += 8) {
    const auto byte = [shift](const K& k) { return static_cast<std::int64_t>(k.depth >> shift & 255); };
    in_parts(n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* mine = std::fill_n(counts + part * byte_values, byte_values, 0) - byte_values;
      for (std::int64_t i = begin; i < end; ++i) ++mine[byte(keys[i])];
    });
    std::int64_t alike = 0;
    for (std::int64_t part = 0; part < parts && n > 0; ++part) alike += counts[part * byte_values + byte(keys[0])];
    if (alike == n) continue;
    to_places(counts, parts, byte_values, 0);
    in_parts(n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* at = counts + part * byte_values;
      for (std::int64_t i = begin; i < end; ++i) other[at[byte(keys[i])]++] = keys[i];
    });
    std::swap(keys, other);
  }
  return keys;
}

struct TileBins {
  std::int64_t images, gaussians, columns, rows;
  explicit TileBins(const Instance& i) {
    const auto& a = i.attrs->as<TileBinAttrs>();
    const auto shape = constant_shape(i.signature.tensor(1).shape);
    images = shape[0], gaussians = shape[1], columns = a.columns, rows = a.rows;
  }
  std::int64_t tiles() const { return columns * rows; }
  bool hold(const TileBox& b) const {
    return b.column >= 0 && b.row >= 0 && b.columns >= 0 && b.rows >= 0 && b.columns <= columns - b.column &&
           b.rows <= rows - b.row;
  }
};

/// What the memory of a call is: two lists of keys, then of each part what it found and its counts. Several parts a
/// thread, since near Gaussians have more entries; few where counts of many tiles would take much memory.
struct TileBinMemory {
  std::int64_t keys, part, counts, most_parts;
  TileBinMemory(const TileBins& b, std::int64_t key_bytes)
      : keys(aligned(2 * b.gaussians * key_bytes)),
        counts(std::max(byte_values, b.tiles())),
        most_parts(std::clamp<std::int64_t>((std::int64_t{1} << 20) / counts, 1, 4 * rlx::cpu::default_threads())) {
    part = static_cast<std::int64_t>(sizeof(PartOfBoxes)) + aligned(4 * counts);
  }
  std::int64_t bytes() const { return keys + most_parts * part; }
};

template <class T>
void bin_tiles(const LaunchCall& c) {
  const TileBins b(c.instance);
  const auto* boxes = static_cast<const TileBox*>(c.in[0].data);
  const auto* depths = static_cast<const T*>(c.in[1].data);
  auto* const ids = static_cast<std::int32_t*>(c.out[0].data);
  auto* const offsets = static_cast<std::int32_t*>(c.out[1].data);
  const std::int64_t all = b.images * b.gaussians, size = c.out[0].type.dim(0).constant();

  const TileBinMemory memory(b, sizeof(DepthKey<T>));
  auto* const base = static_cast<std::byte*>(c.workspace.data);
  auto* const keys = reinterpret_cast<DepthKey<T>*>(base);
  // The number of threads may have grown since the workspace was planned.
  const std::int64_t room = (c.workspace.type.numel().constant() - memory.keys) / memory.part;
  const auto parts_of = [&](std::int64_t n) {
    return std::clamp<std::int64_t>(n / least_part, 1, std::min(memory.most_parts, room));
  };
  const std::int64_t most_parts = std::min(memory.most_parts, room);
  auto* const found = reinterpret_cast<PartOfBoxes*>(base + memory.keys);
  auto* const counts = reinterpret_cast<std::int32_t*>(found + most_parts);

  std::int64_t parts = parts_of(all), total = 0;
  in_parts(all, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
    PartOfBoxes f;
    for (std::int64_t i = end; i-- > begin;) {
      if (!b.hold(boxes[i])) f.wrong = i;
      f.entries += std::int64_t{boxes[i].columns} * boxes[i].rows;
    }
    found[part] = f;
  });
  for (std::int64_t part = 0; part < parts; ++part) {
    if (found[part].wrong >= 0)
      throw ArgumentError("splat.tile_bin: box " + std::to_string(found[part].wrong) + " is not within the tiles");
    total += found[part].entries;
  }
  if (total > size)
    throw NumericalError("splat.tile_bin", 0,
                         "splat.tile_bin: the lists have " + counted(total, "entry", "entries") +
                             ", more than size = " + std::to_string(size));

  std::int32_t first = 0;
  for (std::int64_t image = 0; image < b.images; ++image) {
    const std::int64_t from = image * b.gaussians;
    parts = parts_of(b.gaussians);
    const auto seen = [&](std::int64_t i) { return boxes[i].columns && boxes[i].rows; };
    in_parts(b.gaussians, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      PartOfBoxes f;
      for (std::int64_t i = from + begin; i < from + end; ++i) f.seen += seen(i);
      found[part] = f;
    });
    std::int64_t n = 0;
    for (std::int64_t part = 0; part < parts; ++part) n += std::exchange(found[part].seen, n);
    in_parts(b.gaussians, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      DepthKey<T>* next = keys + found[part].seen;
      for (std::int64_t i = from + begin; i < from + end; ++i)
        if (seen(i)) *next++ = {depth_in_order(depths[i]), static_cast<std::int32_t>(i)};
    });

    parts = parts_of(n);
    const DepthKey<T>* order = radix_sorted(keys, keys + b.gaussians, n, counts, parts);
    /// f(tile, id) for each entry of these Gaussians.
    const auto each_entry = [&](std::int64_t begin, std::int64_t end, const auto& f) {
      for (std::int64_t i = begin; i < end; ++i) {
        const TileBox& box = boxes[order[i].id];
        for (std::int64_t y = box.row; y < box.row + box.rows; ++y)
          for (std::int64_t x = box.column; x < box.column + box.columns; ++x) f(y * b.columns + x, order[i].id);
      }
    };
    in_parts(n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* mine = std::fill_n(counts + part * b.tiles(), b.tiles(), 0) - b.tiles();
      each_entry(begin, end, [&](std::int64_t tile, std::int32_t) { ++mine[tile]; });
    });
    to_places(counts, parts, b.tiles(), first);
    std::copy_n(counts, b.tiles(), offsets + image * b.tiles());
    in_parts(n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* at = counts + part * b.tiles();
      each_entry(begin, end, [&](std::int64_t tile, std::int32_t id) { ids[at[tile]++] = id; });
    });
    first = counts[parts * b.tiles() - 1];  // Where the last list has ended.
  }
  offsets[b.images * b.tiles()] = first;
  std::fill(ids + total, ids + size, 0);
}

}  // namespace

std::int64_t tile_bin_workspace(const Instance& i) {
  const bool wide = i.signature.dtype(1) == DType::f64;
  return TileBinMemory(TileBins(i), wide ? sizeof(DepthKey<double>) : sizeof(DepthKey<float>)).bytes();
}

void launch_tile_bin(const LaunchCall& c) {
  if (c.in[1].type.dtype == DType::f64) return bin_tiles<double>(c);
  return bin_tiles<float>(c);
}

}  // namespace rlx::splat::cpu
