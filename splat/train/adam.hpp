// Adam (D. Kingma and J. Ba, ICLR 2015) as a function of tensors.
#pragma once
#include <rlx/tensor.hpp>

namespace rlx::splat::train {

inline constexpr double first_decay = 0.9, second_decay = 0.999;

struct Moments {
  Tensor first, second;
};
inline Moments next_moments(const Moments& at, const Tensor& gradient) {
  return {first_decay * at.first + (1 - first_decay) * gradient,
          second_decay * at.second + (1 - second_decay) * gradient * gradient};
}

/// How far the moments are from their bias: 1 - beta^t of both, scalars.
struct Corrections {
  Tensor first, second;
};

/// What is taken from the value. Kerbl's epsilon is that small because gradients of means over pixels are. Where both
/// moments are 0 it is 0.
inline Tensor adam_step(const Moments& m, const Tensor& rate, const Corrections& c) {
  constexpr double epsilon = 1e-15;
  return rate * (m.first / c.first) / (sqrt(m.second / c.second) + epsilon);
}

}  // namespace rlx::splat::train
