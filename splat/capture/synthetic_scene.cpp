#include <rlx/ir/error.hpp>
#include <rlx/splat/capture.hpp>

#include <algorithm>
#include <cmath>

#include "splat/random.hpp"

namespace rlx::splat {

// Half of the Gaussians lie flat on a sphere whose colours are a smooth pattern, half on a torus around it: surfaces
// that hide each other and have structure, as photographed things do, and colours that change a little with the view.
formats::GaussianCloud synthetic_scene(std::int64_t count, std::uint64_t seed) {
  if (count < 1)
    throw ArgumentError("a synthetic scene of " + std::to_string(count) + " Gaussians, expected at least 1");
  constexpr double two_pi = 6.283185307179586;
  constexpr int degree = 1;
  formats::GaussianCloud c = formats::make_gaussian_cloud(count, degree);
  Random random(seed);
  // Neighbours on the surfaces, of about 11 together, overlap by half.
  const double spacing = std::sqrt(11.0 / static_cast<double>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    double position[3], normal[3];
    if (i % 2 == 0) {
      double length = 0;
      for (double& x : normal) x = random.normal(), length += x * x;
      for (int k = 0; k < 3; ++k) normal[k] /= std::sqrt(length), position[k] = 0.5 * normal[k];
    } else {
      const double along = random.uniform(0, two_pi), around = random.uniform(0, two_pi);
      const double ring = 0.78 + 0.14 * std::cos(around);
      position[0] = ring * std::cos(along), position[1] = 0.14 * std::sin(around), position[2] = ring * std::sin(along);
      normal[0] = std::cos(around) * std::cos(along), normal[1] = std::sin(around);
      normal[2] = std::cos(around) * std::sin(along);
    }
    // The rotation that takes z to the normal.
    const double q[4] = {1 + normal[2], -normal[1], normal[0], 0};
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int k = 0; k < 4; ++k)
      c.quaternions.set_f64(4 * i + k, length > 1e-6 ? q[k] / length : static_cast<double>(k == 1));
    for (int k = 0; k < 3; ++k) {
      c.means.set_f64(3 * i + k, position[k]);
      const double scale = (k == 2 ? 0.15 : random.uniform(0.5, 0.9)) * spacing;
      c.log_scales.set_f64(3 * i + k, std::log(scale));
      const double phase = 2.1 * k + (i % 2 == 0 ? 0 : 1.3);
      const double colour = 0.5 + 0.3 * std::sin(6 * position[0] + 4 * position[1] + phase) +
                            0.12 * std::cos(9 * position[2] - 3 * position[1] + 2 * phase);
      c.sh.set_f64((i * 4) * 3 + k, (std::clamp(colour, 0.03, 0.97) - 0.5) / formats::sh_constant);
      for (int m = 1; m < 4; ++m) c.sh.set_f64((i * 4 + m) * 3 + k, 0.04 * random.normal());
    }
    c.opacity_logits.set_f64(i, random.uniform(1.0, 4.0));
  }
  return c;
}

}  // namespace rlx::splat
