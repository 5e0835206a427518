// The tree of the host kernel against all distances, on clouds that are hard for it.
#include "references.hpp"

#include <random>

namespace rlx::splat::testing {
namespace {

std::vector<double> brute(const std::vector<double>& p, std::int64_t k) {
  const std::size_t n = p.size() / 3;
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> squares;
    for (std::size_t j = 0; j < n; ++j) {
      double s = 0;
      for (std::size_t d = 0; d < 3; ++d) s += (p[3 * i + d] - p[3 * j + d]) * (p[3 * i + d] - p[3 * j + d]);
      if (i != j) squares.push_back(s);
    }
    std::partial_sort(squares.begin(), squares.begin() + k, squares.end());
    double sum = 0;
    for (std::int64_t m = 0; m < k; ++m) sum += squares[static_cast<std::size_t>(m)];
    out.push_back(sum / static_cast<double>(k));
  }
  return out;
}

TEST(Knn, AgreesWithAllDistances) {
  std::mt19937_64 words(3);
  const auto uniform = [&] { return static_cast<double>(words() >> 11) * 0x1p-53; };
  // Even; on a line; in two heaps far apart; many in the same few places.
  const std::function<double(int, int)> clouds[] = {
      [&](int, int) { return uniform(); }, [&](int i, int d) { return d == 1 ? 0.001 * i : 0.0; },
      [&](int i, int) { return (i % 2) * 1000.0 + uniform(); }, [&](int i, int d) { return d == 0 ? i % 7 : 0.0; }};
  for (const auto& cloud : clouds)
    for (const std::int64_t k : {1, 3, 20}) {
      std::vector<double> points;
      for (int i = 0; i < 700; ++i)
        for (int d = 0; d < 3; ++d) points.push_back(cloud(i, d));
      const auto expected = HostTensor::from(DType::f64, {700}, brute(points, k));
      const std::vector<HostTensor> in{HostTensor::from(DType::f64, {700, 3}, points)};
      const Graph g = graph_of(in, [&](Builder&, ValuesIn v) -> Values { return {knn(v[0], k)}; });
      EXPECT_LE(relative_difference(run(g, in)[0], expected), 1e-14) << k;
    }
}

}  // namespace
}  // namespace rlx::splat::testing
