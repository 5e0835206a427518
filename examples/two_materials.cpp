// A solve inside something that learns: a rod of two materials is heated, and from the temperatures that it takes its
// two conductivities are found. The whole step, sparse solve and adjoint solve included, is traced, differentiated and
// compiled.
#include <rlx/linalg/tensor.hpp>
#include <rlx/rlx.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>

using rlx::Tensor;

constexpr int n = 50;  // Inner points; n + 1 cells between them and the ends, which are kept at 0.

/// The stiffness matrix of cells of these conductivities [n + 1]: entry (i, i) is c_i + c_(i+1), its neighbours -c.
rlx::Csr stiffness(const Tensor& conductivity) {
  std::vector<int> offsets{0}, columns, left, right;
  std::vector<double> of_left, of_right;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      columns.push_back(j);
      left.push_back(std::max(i, j));
      right.push_back(i + 1);
      of_left.push_back(i == j ? 1 : -1);
      of_right.push_back(i == j ? 1 : 0);
    }
    offsets.push_back(static_cast<int>(columns.size()));
  }
  const Tensor values = Tensor::from(of_left) * rlx::take(conductivity, Tensor::from(left)) +
                        Tensor::from(of_right) * rlx::take(conductivity, Tensor::from(right));
  return rlx::Csr(n, Tensor::from(offsets), Tensor::from(columns), values);
}

int main() {
  std::vector<int> material(n + 1);
  for (int i = 0; i <= n; ++i) material[i] = i > n / 2;
  const Tensor heat = rlx::ones({n}), cells = Tensor::from(material);
  const auto temperatures = [&](const Tensor& log_conductivities) {
    return rlx::linalg::solve(stiffness(rlx::take(rlx::exp(log_conductivities), cells)), heat);
  };
  const Tensor measured = temperatures(rlx::log(Tensor::from({2.0, 0.5})));
  const Tensor size = rlx::mean(rlx::square(measured));
  const auto loss = [&](const Tensor& x) { return rlx::mean(rlx::square(temperatures(x) - measured)) / size; };

  const auto step = rlx::jit(rlx::value_and_grad(loss));
  Tensor x = rlx::zeros({2});
  for (int i = 0; i < 400; ++i) x = x - 0.3 * step(x).second;
  const std::vector<double> found = rlx::exp(x).to_vector<double>();
  std::printf("conductivities %.3f and %.3f\n", found[0], found[1]);
  std::cout << step.report();  // What ran, and why: one row a node.
}
