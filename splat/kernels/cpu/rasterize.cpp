#include "rasterize.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/splat/attributes.hpp>

#include "backends/cpu/thread_pool.hpp"
#include "backends/cpu/vector_bits.hpp"
#include "rasterize_tile.hpp"

#include <algorithm>
#include <atomic>
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

const RasterKernels& kernels_for(const Instance& i) {
#if defined(__x86_64__)
  switch (rlx::cpu::vector_bits(*i.target)) {
    case 512:
      return raster_avx512;
    case 256:
      return raster_avx2;
  }
#endif
  return raster_generic;
}

std::int64_t tile_scratch(const Instance& i) {
  const auto& a = i.attrs->as<RasterizeAttrs>();
  const std::int64_t bytes = kernels_for(i).scratch_bytes(a.tile, dim(i.signature.types[features], 2));
  return (bytes + 63) / 64 * 64;
}
std::int64_t row_bytes(const Instance& i) {
  const std::int64_t bytes = dim(i.signature.types[ids], 0) * (8 + dim(i.signature.types[features], 2)) * 4;
  return (bytes + 63) / 64 * 64;
}

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

/// Runs work(i, scratch) for i in [0, count) on the pool, a slice of the workspace for each thread at work.
template <class F>
void each(std::int64_t count, std::byte* scratch, std::int64_t bytes, std::int64_t room, F work) {
  struct Shared {
    std::atomic<std::int64_t> next{0};
    std::int64_t count, bytes;
    std::byte* scratch;
    F& work;
  } shared{{}, count, bytes, scratch, work};
  // The number of threads may have grown since the workspace was planned.
  const std::int64_t threads = std::min<std::int64_t>(rlx::cpu::default_threads(), bytes ? room / bytes : count);
  rlx::cpu::parallel_for(
      std::min(threads, count), 1, static_cast<int>(threads),
      [](void* context, std::int64_t begin, std::int64_t end) {
        auto& s = *static_cast<Shared*>(context);
        for (std::int64_t slot = begin; slot < end; ++slot)
          for (std::int64_t i; (i = s.next.fetch_add(1, std::memory_order_relaxed)) < s.count;)
            s.work(i, s.scratch + slot * s.bytes);
      },
      &shared);
}

/// Adds the rows of the lists' entries up by Gaussian, in the order of the lists: each range of Gaussians reads all
/// ids.
void add_up(const RasterScene& s, const float* rows, const LaunchCall& c) {
  struct Part {
    float* data;
    std::int64_t width, from;
  };
  const std::int64_t f = s.channels;
  const auto data = [&](std::size_t i) { return static_cast<float*>(c.out[i].data); };
  const Part parts[] = {{data(0), 2, 0}, {data(1), 3, 2}, {data(2), 1, 5}, {data(3), f, 6}, {data(4), 2, 6 + f}};
  const std::int64_t ranges = 4 * rlx::cpu::default_threads();
  each(ranges, nullptr, 0, 0, [&](std::int64_t range, std::byte*) {
    const std::int64_t begin = s.gaussians * range / ranges, end = s.gaussians * (range + 1) / ranges;
    for (const Part& p : parts) std::fill(p.data + begin * p.width, p.data + end * p.width, 0.0f);
    for (std::int64_t e = 0; e < s.entries; ++e) {
      const std::int64_t id = s.ids[e];
      if (id < begin || id >= end) continue;
      const float* row = rows + e * (8 + f);
      for (const Part& p : parts)
        for (std::int64_t k = 0; k < p.width; ++k) p.data[id * p.width + k] += row[p.from + k];
    }
  });
}

}  // namespace

std::int64_t rasterize_workspace(const Instance& i) { return rlx::cpu::default_threads() * tile_scratch(i); }
std::int64_t rasterize_gradient_workspace(const Instance& i) { return row_bytes(i) + rasterize_workspace(i); }

void launch_rasterize(const LaunchCall& c) {
  const RasterScene s = scene_of(c);
  const RasterKernels& k = kernels_for(c.instance);
  const RasterImages out{static_cast<float*>(c.out[0].data), static_cast<float*>(c.out[1].data),
                         static_cast<std::int32_t*>(c.out[2].data)};
  const std::int64_t tiles = c.in[offsets].type.dim(0).constant() - 1, bytes = tile_scratch(c.instance);
  each(tiles, static_cast<std::byte*>(c.workspace.data), bytes, c.workspace.type.numel().constant(),
       [&](std::int64_t tile, std::byte* scratch) { k.forward(s, out, tile, scratch); });
}

void launch_rasterize_gradient(const LaunchCall& c) {
  const RasterScene s = scene_of(c);
  const RasterKernels& k = kernels_for(c.instance);
  auto* const workspace = static_cast<std::byte*>(c.workspace.data);
  const std::int64_t used_bytes = row_bytes(c.instance), bytes = tile_scratch(c.instance);
  auto* const rows = reinterpret_cast<float*>(workspace);
  const RasterCotangents given{in<float>(c, transmittance), in<std::int32_t>(c, used), in<float>(c, image),
                               in<float>(c, through), rows};
  const std::int64_t tiles = c.in[offsets].type.dim(0).constant() - 1, width = 8 + s.channels;
  if (s.entries) {  // What belongs to no list.
    std::fill(rows, rows + s.offsets[0] * width, 0.0f);
    std::fill(rows + s.offsets[tiles] * width, rows + s.entries * width, 0.0f);
  }
  each(tiles, workspace + used_bytes, bytes, c.workspace.type.numel().constant() - used_bytes,
       [&](std::int64_t tile, std::byte* scratch) { k.backward(s, given, tile, scratch); });
  add_up(s, rows, c);
}

}  // namespace rlx::splat::cpu
