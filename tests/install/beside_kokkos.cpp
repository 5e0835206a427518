// A program with a Kokkos of its own, initialised and linked, beside rlx, whose kernels are written with Kokkos' headers: sorts
// and finds neighbours (kernels of librlx and of librlx_splat) between and inside patterns of its own.
#include <rlx/rlx.hpp>
#include <rlx/splat/tensor.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <vector>

static bool sorts(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = (i * 7919L) % n;  // 7919 is a prime that does not divide n.
  const rlx::Tensor result = rlx::sort(rlx::Tensor::from(values));
  const rlx::HostTensor& sorted = result.host_tensor();
  for (int i = 0; i < n; ++i)
    if (sorted.get_f64(i) != i) return false;
  return true;
}

static bool finds() {  // Of points on a line, one apart: neighbours at 1, 1 and 2 but for the ends.
  constexpr int n = 4096;
  std::vector<float> points(3 * n);
  for (int i = 0; i < n; ++i) points[static_cast<std::size_t>(3 * i)] = static_cast<float>(i);
  const rlx::Tensor result = rlx::splat::knn(rlx::Tensor::from(points, rlx::Extents{n, 3}), 3);
  const rlx::HostTensor& mean = result.host_tensor();
  for (int i = 2; i < n - 2; ++i)
    if (mean.get_f64(i) != 2.0) return false;
  return true;
}

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  bool right = true;
  {
    const Kokkos::View<double*> x("x", 1000);
    Kokkos::parallel_for("fill", 1000, KOKKOS_LAMBDA(int i) { x(i) = i; });
    right = right && sorts(1 << 18) && finds();
    double sum = 0;
    Kokkos::parallel_reduce("sum", 1000, KOKKOS_LAMBDA(int i, double& s) { s += x(i); }, sum);
    right = right && sum == 499500;
    int inside = 0;
    Kokkos::parallel_reduce("inside", 2, KOKKOS_LAMBDA(int, int& s) { s += sorts(1000) && finds(); }, inside);
    right = right && inside == 2;
  }
  Kokkos::finalize();
  right = right && sorts(1000);
  std::puts(right ? "each does its own" : "wrong");
  return right ? 0 : 1;
}
