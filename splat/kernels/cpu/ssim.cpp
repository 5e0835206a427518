#include "ssim.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/splat/attributes.hpp>

#include "in_parallel.hpp"
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

std::int64_t thread_bytes(const SsimKernels& k, const Pairs& p) { return aligned(k.scratch_bytes(p.images)); }

/// f(begin, end, scratch) for bands of rows. Each begins with the rows of a window, so that they are not too low.
template <class F>
void bands(const LaunchCall& c, std::int64_t rows, std::int64_t used, std::int64_t bytes, F f) {
  const std::int64_t count = std::clamp<std::int64_t>(rows / 32, 1, 4 * rlx::cpu::default_threads());
  each(count, static_cast<std::byte*>(c.workspace.data) + used, bytes, c.workspace.type.numel().constant() - used,
       [&](std::int64_t i, std::byte* scratch) { f(rows * i / count, rows * (i + 1) / count, scratch); });
}

}  // namespace

std::int64_t ssim_workspace(const Instance& i) {
  const Pairs p(i);
  return p.sums_bytes() + rlx::cpu::default_threads() * thread_bytes(RLX_OF_LEVEL(ssim, i), p);
}
std::int64_t ssim_gradient_workspace(const Instance& i) {
  const Pairs p(i);
  return p.fields_bytes() + rlx::cpu::default_threads() * thread_bytes(RLX_OF_LEVEL(ssim, i), p);
}

void launch_ssim(const LaunchCall& c) {
  const Pairs p(c.instance);
  const SsimKernels& k = RLX_OF_LEVEL(ssim, c.instance);
  auto* const sums = static_cast<float*>(c.workspace.data);
  for (std::int64_t pair = 0; pair < p.count; ++pair) {
    const SsimImages s = p.at(c, pair);
    bands(c, s.rows, p.sums_bytes(), thread_bytes(k, p),
          [&](std::int64_t begin, std::int64_t end, std::byte* mine) { k.similarity(s, begin, end, sums, mine); });
    double total = 0;  // In the order of the rows.
    for (std::int64_t row = 0; row < s.rows; ++row) total += sums[row];
    static_cast<float*>(c.out[0].data)[pair] = static_cast<float>(total / p.pixels());
  }
}

void launch_ssim_gradient(const LaunchCall& c) {
  const Pairs p(c.instance);
  const SsimKernels& k = RLX_OF_LEVEL(ssim, c.instance);
  auto* const fields = static_cast<float*>(c.workspace.data);
  for (std::int64_t pair = 0; pair < p.count; ++pair) {
    const SsimImages s = p.at(c, pair);
    const auto share = static_cast<float>(static_cast<const float*>(c.in[2].data)[pair] / p.pixels());
    float* const out = static_cast<float*>(c.out[0].data) + pair * p.floats;
    bands(c, s.rows, p.fields_bytes(), thread_bytes(k, p), [&](std::int64_t begin, std::int64_t end, std::byte* mine) {
      k.derivatives(s, share, begin, end, fields, mine);
    });
    bands(c, s.height, p.fields_bytes(), thread_bytes(k, p),
          [&](std::int64_t begin, std::int64_t end, std::byte* mine) { k.gradient(s, fields, begin, end, out, mine); });
  }
}

}  // namespace rlx::splat::cpu
