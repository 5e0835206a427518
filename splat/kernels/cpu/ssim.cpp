#include "ssim.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/splat/attributes.hpp>

#include "blocks.hpp"
#include "instruction_level.hpp"
#include "splat/ops/similarity.hpp"
#include "ssim_window.hpp"

namespace rlx::splat::cpu {
namespace {

/// The pairs of images of an instance.
struct Pairs {
  SsimImages images{};  // Of the first pair, without memory.
  std::int64_t count, floats;
  float weights[window_size];
  explicit Pairs(const Instance& i) {
    const auto& a = i.attrs->as<SsimAttrs>();
    const auto shape = constant_shape(i.signature.tensor(0).shape);
    const std::size_t r = shape.size();
    const SsimConstants k(a);
    const auto exact = ssim_weights();
    std::copy(exact.begin(), exact.end(), weights);
    const std::int64_t lost = 2 * ssim_zeros(a) - (window_size - 1);
    images = {.x = nullptr,
              .y = nullptr,
              .height = shape[r - 3],
              .width = shape[r - 2],
              .channels = shape[r - 1],
              .zeros = ssim_zeros(a),
              .rows = shape[r - 3] + lost,
              .row_floats = (shape[r - 2] + lost) * shape[r - 1],
              .weights = weights,
              .c1 = static_cast<float>(k.c1),
              .c2 = static_cast<float>(k.c2)};
    floats = shape[r - 3] * shape[r - 2] * shape[r - 1];
    count = i.signature.tensor(0).numel().constant() / floats;
  }
  Pairs(const Pairs&) = delete;
  SsimImages at(const LaunchCall& c, std::int64_t pair) const {
    SsimImages s = images;
    s.x = static_cast<const float*>(c.in[0].data) + pair * floats;
    s.y = static_cast<const float*>(c.in[1].data) + pair * floats;
    return s;
  }
  double pixels() const { return static_cast<double>(images.rows * images.row_floats); }
  std::int64_t sums_bytes() const { return aligned(images.rows * 4); }
  std::int64_t fields_bytes() const { return aligned(3 * images.rows * images.row_floats * 4); }
};

/// The memory of the threads, behind what a kernel keeps in its workspace.
HostPool pool_of(const LaunchCall& c, std::int64_t used) {
  return {static_cast<std::byte*>(c.workspace.data) + used, c.workspace.type.numel().constant() - used};
}

/// f(begin, end, scratch) for bands of rows. Each begins with the rows of a window, so that they are not too low.
template <class F>
void bands(const std::string& name, const HostPool& pool, std::int64_t rows, std::int64_t bytes, F f) {
  const std::int64_t count = std::clamp<std::int64_t>(rows / 32, 1, 4 * rlx::cpu::default_threads());
  Kokkos::parallel_for(name, team_policy(pool, count, bytes), [=](const HostTeam& team) {
    const std::int64_t band = team.league_rank();
    f(rows * band / count, rows * (band + 1) / count, team.team_scratch(0).get_shmem(bytes));
  });
}

}  // namespace

std::int64_t ssim_workspace(const Instance& i) {
  const Pairs p(i);
  return p.sums_bytes() + HostPool::planned_scratch(RLX_OF_LEVEL(ssim, i).scratch_bytes(p.images));
}
std::int64_t ssim_gradient_workspace(const Instance& i) {
  const Pairs p(i);
  return p.fields_bytes() + HostPool::planned_scratch(RLX_OF_LEVEL(ssim, i).scratch_bytes(p.images));
}

void launch_ssim(const LaunchCall& c) {
  const Pairs p(c.instance);
  const SsimKernels& k = RLX_OF_LEVEL(ssim, c.instance);
  const HostPool pool = pool_of(c, p.sums_bytes());
  const std::int64_t bytes = k.scratch_bytes(p.images);
  auto* const sums = static_cast<float*>(c.workspace.data);
  for (std::int64_t pair = 0; pair < p.count; ++pair) {
    const SsimImages s = p.at(c, pair);
    bands("splat.ssim", pool, s.rows, bytes,
          [&](std::int64_t begin, std::int64_t end, void* mine) { k.similarity(s, begin, end, sums, mine); });
    double total = 0;  // In the order of the rows.
    for (std::int64_t row = 0; row < s.rows; ++row) total += sums[row];
    static_cast<float*>(c.out[0].data)[pair] = static_cast<float>(total / p.pixels());
  }
}

void launch_ssim_gradient(const LaunchCall& c) {
  const Pairs p(c.instance);
  const SsimKernels& k = RLX_OF_LEVEL(ssim, c.instance);
  const HostPool pool = pool_of(c, p.fields_bytes());
  const std::int64_t bytes = k.scratch_bytes(p.images);
  auto* const fields = static_cast<float*>(c.workspace.data);
  for (std::int64_t pair = 0; pair < p.count; ++pair) {
    const SsimImages s = p.at(c, pair);
    const auto share = static_cast<float>(static_cast<const float*>(c.in[2].data)[pair] / p.pixels());
    float* const out = static_cast<float*>(c.out[0].data) + pair * p.floats;
    bands("splat.ssim_derivatives", pool, s.rows, bytes,
          [&](std::int64_t begin, std::int64_t end, void* mine) { k.derivatives(s, share, begin, end, fields, mine); });
    bands("splat.ssim_gradient", pool, s.height, bytes,
          [&](std::int64_t begin, std::int64_t end, void* mine) { k.gradient(s, fields, begin, end, out, mine); });
  }
}

}  // namespace rlx::splat::cpu
