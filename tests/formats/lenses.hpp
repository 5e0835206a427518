// The cameras of tests/data/splat/make_cameras.py.
#pragma once
#include <rlx/formats/camera.hpp>

#include "gaussians.hpp"

namespace rlx::formats::testing {

inline Camera example_camera(CameraModel model) {
  static const std::vector<double> parameters[] = {
      {500, 320, 240},
      {500, 510, 322, 239},
      {500, 320, 240, -0.12},
      {500, 320, 240, -0.15, 0.03},
      {500, 510, 322, 239, -0.21, 0.06, 0.002, -0.003},
      {300, 310, 318, 243, 0.03, -0.01, 0.004, -0.001},
      {500, 510, 322, 239, -0.1, 0.05, 0.001, -0.002, 0.01, 0.02, -0.03, 0.004},
      {300, 320, 240, 0.02},
      {300, 320, 240, 0.02, -0.005},
  };
  return {static_cast<std::uint32_t>(model) + 10, model, 640, 480, parameters[static_cast<std::size_t>(model)]};
}

}  // namespace rlx::formats::testing
