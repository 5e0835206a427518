// A physics code: heat in a rod by implicit Euler steps that grow. The matrix keeps its pattern, so its analysis is
// done once; each step brings new values. Prints the method, and how far the temperatures are from the closed form.
#include <rlx/linalg/linalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

int main() {
  constexpr int n = 200;  // Inner points of [0, 1]; both ends are at temperature 0.
  constexpr double h = 1.0 / (n + 1), end = 0.1, longest = 1e-4, pi = std::numbers::pi;
  std::vector<int> offsets{0}, columns;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) columns.push_back(j);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  std::vector<double> values(columns.size()), u(n);
  for (int i = 0; i < n; ++i) u[i] = std::sin(pi * h * (i + 1));
  const auto assemble = [&](double dt) {  // I + dt K, where K is the second difference.
    for (int i = 0; i < n; ++i)
      for (int k = offsets[i]; k < offsets[i + 1]; ++k)
        values[k] = columns[k] == i ? 1 + 2 * dt / (h * h) : -dt / (h * h);
  };

  double t = 0, dt = longest / 16;
  assemble(dt);
  const rlx::linalg::CsrView a{n, n, offsets, columns, values};
  rlx::linalg::Solver solver(a);
  std::printf("%s\n", solver.reason().c_str());
  int steps = 0;
  for (;; ++steps) {
    solver.solve(u, u);
    t += dt;
    if (end - t < 1e-12) break;
    dt = std::min({1.5 * dt, longest, end - t});
    assemble(dt);
    solver.update(a);
  }
  double error = 0;
  for (int i = 0; i < n; ++i)
    error = std::max(error, std::abs(u[i] - std::exp(-pi * pi * t) * std::sin(pi * h * (i + 1))));
  std::printf("%d steps, largest error %.1e\n", steps + 1, error);
}
