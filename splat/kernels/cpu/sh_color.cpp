#include "sh_color.hpp"

#include <rlx/formats/gaussian_cloud.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/splat/attributes.hpp>

#include "blocks.hpp"
#include "instruction_level.hpp"
#include "sh_arrays.hpp"

namespace rlx::splat::cpu {
namespace {

ShArrays sh_arrays_of(const LaunchCall& c) {
  const TensorType &directions = c.in[0].type, &coefficients = c.in[1].type;
  const std::int64_t n = coefficients.dim(0).constant();
  return {.directions = static_cast<const float*>(c.in[0].data),
          .coefficients = static_cast<const float*>(c.in[1].data),
          .views = n == 0 ? 0 : directions.numel().constant() / (3 * n),
          .n = n,
          .stored = coefficients.dim(1).constant(),
          .channels = coefficients.dim(2).constant(),
          .degree = c.instance.attrs->as<ShColorAttrs>().degree,
          .constant = static_cast<float>(formats::sh_constant)};
}

}  // namespace

void launch_sh_color(const LaunchCall& c) {
  const ShArrays a = sh_arrays_of(c);
  const ShKernels& k = RLX_OF_LEVEL(sh, c.instance);
  auto* const colours = static_cast<float*>(c.out[0].data);
  for_blocks("splat.sh_color", a.n,
             [&](std::int64_t, std::int64_t begin, std::int64_t end) { k.colours(a, begin, end, colours); });
}

void launch_sh_color_gradient(const LaunchCall& c) {
  const ShArrays a = sh_arrays_of(c);
  const ShKernels& k = RLX_OF_LEVEL(sh, c.instance);
  const auto* cotangent = static_cast<const float*>(c.in[2].data);
  auto *const to_directions = static_cast<float*>(c.out[0].data), *const to_coefficients =
                                                                      static_cast<float*>(c.out[1].data);
  for_blocks("splat.sh_color_gradient", a.n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
    k.gradient(a, cotangent, begin, end, to_directions, to_coefficients);
  });
}

}  // namespace rlx::splat::cpu
