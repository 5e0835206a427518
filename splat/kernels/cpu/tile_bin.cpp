#include "tile_bin.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/splat/attributes.hpp>

#include "blocks.hpp"

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

/// What is known of some boxes together.
struct BoxesFound {
  std::int64_t entries = 0, wrong = -1;  ///< wrong: the first box that is not within the tiles.
  BoxesFound& operator+=(const BoxesFound& later) {
    entries += later.entries;
    if (wrong < 0) wrong = later.wrong;
    return *this;
  }
};

/// f(part, begin, end) for `parts` parts of [0, count).
template <class F>
void in_parts(const std::string& name, std::int64_t count, std::int64_t parts, const F& f) {
  Kokkos::parallel_for(name, Range(0, parts, Kokkos::ChunkSize(1)),
                       [&](std::int64_t part) { f(part, count * part / parts, count * (part + 1) / parts); });
}

/// How many of each part go to each bin, [parts, bins], and then where the next of them goes.
using Counts = HostView<std::int32_t**>;

/// Counts to where the first of each goes: by bin, then by part, from `first` on. Gives where the last bin ends.
std::int32_t to_places(const Counts& counts, std::int32_t first) {
  const auto parts = static_cast<std::int64_t>(counts.extent(0)), bins = static_cast<std::int64_t>(counts.extent(1));
  std::int32_t total = 0;
  Kokkos::parallel_scan(
      "splat.tile_bin.places", Range(0, bins, Kokkos::ChunkSize(1 << 13)),
      [&](std::int64_t bin, std::int32_t& at, bool last) {
        for (std::int64_t part = 0; part < parts; ++part) {
          const std::int32_t count = counts(part, bin);
          if (last) counts(part, bin) = first + at;
          at += count;
        }
      },
      total);
  return first + total;
}

/// Stable, by the bytes of the depth. Returns which of the two buffers has the result.
template <class K>
K* radix_sorted(K* keys, K* other, std::int64_t n, std::int32_t* memory, std::int64_t parts) {
  const Counts counts(memory, parts, byte_values);
  for (std::size_t shift = 0; shift < 8 * sizeof keys->depth; shift += 8) {
    const auto byte = [shift](const K& k) { return static_cast<std::int64_t>(k.depth >> shift & 255); };
    in_parts("splat.tile_bin.count", n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* mine = std::fill_n(&counts(part, 0), byte_values, 0) - byte_values;
      for (std::int64_t i = begin; i < end; ++i) ++mine[byte(keys[i])];
    });
    std::int64_t alike = 0;
    for (std::int64_t part = 0; part < parts && n > 0; ++part) alike += counts(part, byte(keys[0]));
    if (alike == n) continue;
    to_places(counts, 0);
    in_parts("splat.tile_bin.sort", n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* at = &counts(part, 0);
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

/// What the memory of a call is: two lists of keys, then the counts of each part. Several parts a
/// thread, since near Gaussians have more entries; few where counts of many tiles would take much memory.
struct TileBinMemory {
  std::int64_t keys, part, counts, most_parts;
  TileBinMemory(const TileBins& b, std::int64_t key_bytes)
      : keys(aligned(2 * b.gaussians * key_bytes)),
        counts(std::max(byte_values, b.tiles())),
        most_parts(std::clamp<std::int64_t>((std::int64_t{1} << 20) / counts, 1, 4 * rlx::cpu::default_threads())) {
    part = aligned(4 * counts);
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
  auto* const counts = reinterpret_cast<std::int32_t*>(base + memory.keys);

  BoxesFound found;
  Kokkos::parallel_reduce(
      "splat.tile_bin.boxes", Range(0, all, Kokkos::ChunkSize(least_part)),
      [&](std::int64_t i, BoxesFound& f) {
        f += {std::int64_t{boxes[i].columns} * boxes[i].rows, b.hold(boxes[i]) ? -1 : i};
      },
      found);
  if (found.wrong >= 0)
    throw ArgumentError("splat.tile_bin: box " + std::to_string(found.wrong) + " is not within the tiles");
  const std::int64_t total = found.entries;
  if (total > size)
    throw NumericalError("splat.tile_bin", 0,
                         "splat.tile_bin: the lists have " + counted(total, "entry", "entries") +
                             ", more than size = " + std::to_string(size));

  std::int32_t first = 0;
  for (std::int64_t image = 0; image < b.images; ++image) {
    const std::int64_t from = image * b.gaussians;
    std::int64_t n = 0;
    Kokkos::parallel_scan(
        "splat.tile_bin.seen", Range(from, from + b.gaussians, Kokkos::ChunkSize(least_part)),
        [&](std::int64_t i, std::int64_t& at, bool last) {
          const bool seen = boxes[i].columns && boxes[i].rows;
          if (last && seen) keys[at] = {depth_in_order(depths[i]), static_cast<std::int32_t>(i)};
          at += seen;
        },
        n);

    const std::int64_t parts = parts_of(n);
    const DepthKey<T>* order = radix_sorted(keys, keys + b.gaussians, n, counts, parts);
    /// f(tile, id) for each entry of these Gaussians.
    const auto each_entry = [&](std::int64_t begin, std::int64_t end, const auto& f) {
      for (std::int64_t i = begin; i < end; ++i) {
        const TileBox& box = boxes[order[i].id];
        for (std::int64_t y = box.row; y < box.row + box.rows; ++y)
          for (std::int64_t x = box.column; x < box.column + box.columns; ++x) f(y * b.columns + x, order[i].id);
      }
    };
    const Counts places(counts, parts, b.tiles());
    in_parts("splat.tile_bin.count_entries", n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* mine = std::fill_n(&places(part, 0), b.tiles(), 0) - b.tiles();
      each_entry(begin, end, [&](std::int64_t tile, std::int32_t) { ++mine[tile]; });
    });
    const std::int32_t end_of_image = to_places(places, first);
    std::copy_n(&places(0, 0), b.tiles(), offsets + image * b.tiles());
    in_parts("splat.tile_bin.entries", n, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      std::int32_t* at = &places(part, 0);
      each_entry(begin, end, [&](std::int64_t tile, std::int32_t id) { ids[at[tile]++] = id; });
    });
    first = end_of_image;
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
