// Least-squares fits by gradient descent. The first is README's example, which tests/install/consumer.sh compiles as it
// stands there; here its result is compared with the closed form.
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

TEST(Readme, FitsASlope) {
  const rlx::Tensor x = rlx::Tensor::from({0.0, 1.0, 2.0, 3.0}), y = 2 * x;
  auto loss = [&](const rlx::Tensor& slope) { return rlx::mean(rlx::square(slope * x - y)); };
  auto step = rlx::jit(rlx::value_and_grad(loss));  // traced and compiled at the first call
  rlx::Tensor slope = 0.0;
  for (int i = 0; i < 50; ++i) slope -= 0.1 * step(slope).second;
  EXPECT_NEAR(slope.item(), 2, 1e-12);  // Each step leaves 0.3 of the error.
}

TEST(Readme, FitsALine) {
  const rlx::Tensor x = rlx::Tensor::from({0.0, 1.0, 2.0, 3.0}), y = 2 * x + 1;
  auto loss = [&](const rlx::Tensor& slope, const rlx::Tensor& offset) {
    return rlx::mean(rlx::square(slope * x + offset - y));
  };
  auto step = rlx::jit(rlx::value_and_grad<0, 1>(loss));  // traced and compiled at the first call
  rlx::Tensor slope = 0.0, offset = 0.0;
  for (int i = 0; i < 500; ++i) {
    const auto [value, gradient] = step(slope, offset);
    slope -= 0.1 * std::get<0>(gradient);
    offset -= 0.1 * std::get<1>(gradient);
  }
  EXPECT_NEAR(slope.item(), 2, 1e-6);
  EXPECT_NEAR(offset.item(), 1, 1e-6);
}
