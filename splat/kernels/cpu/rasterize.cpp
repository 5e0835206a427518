#include "rasterize.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/splat/attributes.hpp>

#include "blocks.hpp"
#include "instruction_level.hpp"
#include "rasterize_tile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace rlx::splat::cpu {
namespace {

// Operands of both, and of the gradient from `transmittance` on.
enum { means, conics, opacities, features, backgrounds, ids, offsets, transmittance, used, image, through };

template <class T>
const T* in(const LaunchCall& c, std::size_t i) {
  return static_cast<const T*>(c.in[i].data);
}
std::int64_t dim(const Type& t, int axis) { return std::get<TensorType>(t).dim(axis).constant(); }

std::int64_t tile_scratch(const Instance& i) {
  const auto& a = i.attrs->as<RasterizeAttrs>();
  return RLX_OF_LEVEL(raster, i).scratch_bytes(a.tile, dim(i.signature.types[features], 2));
}
/// The gradient has a row for each entry of some lists at a time, at most so many.
constexpr std::int64_t most_rows = std::int64_t{1} << 17;
std::int64_t rows_at_once(const Instance& i) { return std::min(dim(i.signature.types[ids], 0), most_rows); }
std::int64_t row_bytes(const Instance& i) {
  const std::int64_t bytes = rows_at_once(i) * (8 + dim(i.signature.types[features], 2)) * 4;
  return aligned(bytes);
}

/// Where the rows of each tile end.
std::int64_t end_bytes(const Instance& i) { return aligned((dim(i.signature.types[offsets], 0) - 1) * 8); }

/// Throws ArgumentError unless the lists lie one behind the other within `ids`.
RasterScene scene_of(const LaunchCall& c) {
  const auto& a = c.instance.attrs->as<RasterizeAttrs>();
  const std::span<const Type> t = c.instance.signature.types;
  RasterScene s{in<float>(c, means),
                in<float>(c, conics),
                in<float>(c, opacities),
                in<float>(c, features),
                in<float>(c, backgrounds),
                in<std::int32_t>(c, ids),
                in<std::int32_t>(c, offsets),
                dim(t[means], 0) * dim(t[means], 1),
                dim(t[features], 2),
                dim(t[ids], 0),
                a.width,
                a.height,
                a.tile,
                (a.width + a.tile - 1) / a.tile,
                (a.height + a.tile - 1) / a.tile};
  const std::int64_t lists = dim(t[offsets], 0) - 1;
  for (std::int64_t i = 0; i <= lists; ++i)
    if (s.offsets[i] < (i ? s.offsets[i - 1] : 0) || s.offsets[i] > s.entries)
      throw ArgumentError(std::string(c.instance.op->name()) + ": offset " + std::to_string(i) + " is " +
                          std::to_string(s.offsets[i]) + ": offsets ascend from 0 to the number of ids");
  if (s.gaussians == 0) s.entries = 0;  // Then no id names anything.
  return s;
}

/// The results of the gradient, to which rows are added by Gaussian in the order of the rows: each range of Gaussians
/// reads all ids.
class Sums {
 public:
  Sums(const RasterScene& s, const LaunchCall& c) : scene_(s) {
    const std::int64_t f = s.channels;
    const auto data = [&](std::size_t i) { return static_cast<float*>(c.out[i].data); };
    parts_ = {{{data(0), 2, 0}, {data(1), 3, 2}, {data(2), 1, 5}, {data(3), f, 6}, {data(4), 2, 6 + f}}};
    ranges([&](std::int64_t begin, std::int64_t end) {
      for (const Part& p : parts_) std::fill(p.data + begin * p.width, p.data + end * p.width, 0.0f);
    });
  }
  /// Rows of some tiles, of each up to its end.
  void add(const RasterRows& r, std::int64_t tile, std::span<const std::int64_t> ends) const {
    const std::int64_t width = 8 + scene_.channels;
    ranges([&](std::int64_t begin, std::int64_t end) {
      for (std::size_t t = 0; t < ends.size(); ++t) {
        std::int64_t e = std::max<std::int64_t>(r.begin, scene_.offsets[tile + static_cast<std::int64_t>(t)]);
        for (const float* row = r.rows + (e - r.begin) * width; e < ends[t]; ++e, row += width) {
          const std::int64_t id = scene_.ids[e];
          if (id < begin || id >= end) continue;
          for (const Part& p : parts_)
            for (std::int64_t k = 0; k < p.width; ++k) p.data[id * p.width + k] += row[p.from + k];
        }
      }
    });
  }

 private:
  struct Part {
    float* data;
    std::int64_t width, from;
  };
  template <class F>
  void ranges(F f) const {
    const std::int64_t count = rlx::cpu::default_threads(), n = scene_.gaussians;
    Kokkos::parallel_for("splat.rasterize_gradient.sums", Range(0, count, Kokkos::ChunkSize(1)),
                         [=](std::int64_t i) { f(n * i / count, n * (i + 1) / count); });
  }
  const RasterScene& scene_;
  std::array<Part, 5> parts_;
};

}  // namespace

std::int64_t rasterize_workspace(const Instance& i) { return HostPool::planned_scratch(tile_scratch(i)); }
std::int64_t rasterize_gradient_workspace(const Instance& i) {
  return row_bytes(i) + end_bytes(i) + rasterize_workspace(i);
}

void launch_rasterize(const LaunchCall& c) {
  const RasterScene s = scene_of(c);
  const RasterKernels& k = RLX_OF_LEVEL(raster, c.instance);
  const RasterImages out{static_cast<float*>(c.out[0].data), static_cast<float*>(c.out[1].data),
                         static_cast<std::int32_t*>(c.out[2].data)};
  const std::int64_t tiles = c.in[offsets].type.dim(0).constant() - 1, bytes = tile_scratch(c.instance);
  const HostPool pool(c.workspace.data, c.workspace.type.numel().constant());
  Kokkos::parallel_for("splat.rasterize", team_policy(pool, tiles, bytes), [&](const HostTeam& team) {
    k.forward(s, out, team.league_rank(), team.team_scratch(0).get_shmem(bytes));
  });
}

// Tiles are taken in order, as many at a time as have rows; of a list that is longer, its end first. How many threads
// share the tiles decides nothing.
void launch_rasterize_gradient(const LaunchCall& c) {
  const RasterScene s = scene_of(c);
  const RasterKernels& k = RLX_OF_LEVEL(raster, c.instance);
  auto* const workspace = static_cast<std::byte*>(c.workspace.data);
  const std::int64_t used_bytes = row_bytes(c.instance) + end_bytes(c.instance), bytes = tile_scratch(c.instance);
  auto* const rows = reinterpret_cast<float*>(workspace);
  auto* const ends = reinterpret_cast<std::int64_t*>(workspace + row_bytes(c.instance));
  const HostPool pool(workspace + used_bytes, c.workspace.type.numel().constant() - used_bytes);
  const RasterCotangents given{in<float>(c, transmittance), in<std::int32_t>(c, used), in<float>(c, image),
                               in<float>(c, through)};
  const Sums sums(s, c);
  if (s.entries == 0) return;
  const std::int64_t tiles = c.in[offsets].type.dim(0).constant() - 1, most = rows_at_once(c.instance);
  for (std::int64_t tile = 0, next; tile < tiles; tile = next) {
    const std::int64_t begin = s.offsets[tile];
    for (next = tile; next < tiles && s.offsets[next + 1] - begin <= most;) ++next;
    if (next > tile) {
      const RasterRows out{rows, begin, s.offsets[next]};
      if (out.begin == out.end) continue;
      Kokkos::parallel_for("splat.rasterize_gradient", team_policy(pool, next - tile, bytes),
                           [&](const HostTeam& team) {
                             const std::int64_t i = team.league_rank();
                             ends[i] = k.backward(s, given, out, tile + i, team.team_scratch(0).get_shmem(bytes));
                           });
      sums.add(out, tile, {ends, static_cast<std::size_t>(next - tile)});
      continue;
    }
    next = tile + 1;
    for (std::int64_t end = s.offsets[next]; end > begin; end -= most) {
      const RasterRows out{rows, std::max(begin, end - most), end};
      ends[0] = k.backward(s, given, out, tile, pool.scratch());
      sums.add(out, tile, {ends, 1});
    }
  }
}

}  // namespace rlx::splat::cpu
