// Kernels that memory bounds: a chain of ten f32 elementwise operators with one transcendental on 64 MiB, softmax and
// layer norm on rows of 1024, against the triad of the same run. Bytes: one read and one write of the tensor.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <string>

using namespace rlx;

namespace {

void measure(const runtime::Catalog& catalog, const std::string& name, Shape shape, double goal, double triad,
             const std::function<Value(Value)>& f) {
  Graph g(name);
  Builder b(g, catalog.operators);
  b.output(f(b.input(f32(shape), "x")), "y");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog);
  HostTensor x(DType::f32, constant_shape(shape));
  const auto data = x.as_mutable<float>();
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 1000) * 1e-3f - 0.5f;
  const HostValues in{x};
  HostValues out;
  const double t = bench::median_seconds(15, [&] { out = e.run(in, std::move(out)); });
  const double rate = 2.0 * static_cast<double>(x.bytes()) / t;
  bench::row(name, rate * 1e-9, triad * 1e-9, "GB/s", rate / triad, goal);
}

}  // namespace

int main() {
  const runtime::Catalog catalog = make_catalog();
  const double triad = bench::triad(64u << 20, bench::threads(), 15);
  measure(catalog, "chain of 10, 64 MiB f32", {16 << 20}, 0.9, triad, [](Value x) {
    Value y = ops::add(ops::mul(x, x), x);
    y = ops::sub(ops::mul(y, x), ops::exp(x));
    y = ops::max(ops::neg(y), x);
    return ops::mul(ops::add(ops::abs(y), x), y);
  });
  measure(catalog, "softmax, rows of 1024", {16384, 1024}, 0.8, triad,
          [](Value x) { return x.builder->emit1("softmax", {x}, ops::AxisAttrs{1}); });
  measure(catalog, "layer norm, rows of 1024", {16384, 1024}, 0.8, triad, [](Value x) {
    const Value mean = ops::reduce_sum(x, {1}, true) / 1024.0;
    const Value centred = ops::sub(x, mean);
    const Value variance = ops::reduce_sum(ops::mul(centred, centred), {1}, true) / 1024.0;
    return ops::mul(centred, ops::rsqrt(variance + 1e-5));
  });
}
