// Adam (D. Kingma and J. Ba, ICLR 2015) as a function of tensors.
#pragma once
#include <rlx/tensor.hpp>

namespace rlx::splat::train {

struct Moments {
  Tensor value, first, second;
};

/// How far the moments are from their bias: 1 - beta^t of both, scalars.
struct Corrections {
  Tensor first, second;
};
inline constexpr double first_decay = 0.9, second_decay = 0.999;

/// Kerbl's epsilon is that small because gradients of means over pixels are. Where gradient and moments are 0, nothing
/// changes.
inline Moments adam(const Moments& at, const Tensor& gradient, const Tensor& rate, const Corrections& c) {
  constexpr double epsilon = 1e-15;
  const Tensor first = first_decay * at.first + (1 - first_decay) * gradient;
  const Tensor second = second_decay * at.second + (1 - second_decay) * gradient * gradient;
  return {at.value - rate * (first / c.first) / (sqrt(second / c.second) + epsilon), first, second};
}

}  // namespace rlx::splat::train
