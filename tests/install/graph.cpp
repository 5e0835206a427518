// Builds a graph with the installed headers alone, compiles it for a device and runs it: x -> sum(x * x).
#include <rlx/catalog.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <cstdio>

int main() {
  const rlx::runtime::Catalog catalog = rlx::make_catalog();
  rlx::Graph g("squares");
  rlx::Builder b(g, catalog.operators);
  const rlx::Value x = b.input(rlx::f64({3}), "x");
  b.output(rlx::ops::reduce_sum(rlx::ops::mul(x, x), {0}), "y");
  const rlx::runtime::Executable program(rlx::runtime::open_device("cpu"), g, catalog);
  const double values[] = {1, 2, 3};
  const rlx::HostValue in[] = {rlx::HostTensor::from(rlx::DType::f64, {3}, values)};
  const double y = std::get<rlx::HostTensor>(program.run(in)[0]).get_f64(0);
  std::printf("1 + 4 + 9 = %g\n", y);
  return y == 14 ? 0 : 1;
}
