// Uses the operators as any other: in a graph, in a compiled function, differentiated and batched; what they promise is
// checked by the cases that their definitions make, and what they refuse is refused with their name.
#include "phase.hpp"

#include <rlx/conformance.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/rlx.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

using rlx::Tensor;

static int wrong = 0;
static void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::printf("wrong: %s\n", what.c_str());
  ++wrong;
}
static bool near(double a, double b, double by) { return std::abs(a - b) <= by; }

/// Angles of a wheel that turns by `step` radians, 0.3 at first, as a sensor gives them: in [-pi, pi].
static std::vector<double> measured(int count, double step) {
  std::vector<double> x;
  for (int i = 0; i < count; ++i) x.push_back(std::remainder(0.3 + step * i, 2 * std::numbers::pi));
  return x;
}

static void in_a_graph(const rlx::runtime::Catalog& catalog) {
  rlx::Graph g("wheel");
  rlx::Builder b(g, catalog.operators);
  const rlx::Value x = b.input(rlx::f64({100}), "x");
  b.output(phase::unwrap(x), "angle");
  b.output(phase::log_cosh(x, 2), "loss");
  expect(rlx::print(rlx::parse(rlx::print(g), catalog.operators)) == rlx::print(g), "the text form does not come back");

  const rlx::HostValue in[] = {rlx::HostTensor::from(rlx::DType::f64, {100}, measured(100, 0.7))};
  for (const char* device : {"cpu", "reference"}) {
    const rlx::runtime::Executable program(rlx::runtime::open_device(device), g, catalog);
    const rlx::HostValues out = program.run(in);
    // 100 angles of 8 ulp each, up to 70 radians.
    for (int i = 0; i < 100; ++i)
      expect(near(std::get<rlx::HostTensor>(out[0]).get_f64(i), 0.3 + 0.7 * i, 1e-13),
             std::string("unwrap on ") + device);
    const auto& row = program.report().rows.at(0);
    if (std::string(device) == "cpu")
      expect(row.path == rlx::Path::native && row.provider == "handwritten" && row.lowering == "phase.cpu_unwrap",
             "our kernel is not what runs:\n" + program.report().to_table());
  }
  try {
    const rlx::runtime::Executable program(rlx::runtime::open_device("cpu"), g, catalog,
                                           {.preference = rlx::Preference::force_common});
    expect(false, "a primitive without a kernel was not refused");
  } catch (const rlx::CompileError& e) {
    expect(e.report().unresolved() == 1 && std::string(e.what()).find("phase.unwrap") != std::string::npos, e.what());
  }
}

static void in_a_function() {
  const Tensor x = Tensor::from(measured(50, 1.1));
  // How far the wheel is from one that turns by `speed`.
  const auto loss = [&](const Tensor& speed) {
    const Tensor steps = rlx::arange(50, rlx::DType::f64);
    return rlx::sum(phase::log_cosh(phase::unwrap(x) - 0.3 - speed * steps, 2));
  };
  const auto step = rlx::jit(rlx::value_and_grad(loss));
  expect(near(step(Tensor(1.1)).first.item(), 0, 1e-20), "the loss at the true speed is not 0");
  double value = 0, slope = 0;
  for (int i = 0; i < 50; ++i) {
    value += 4 * std::log(std::cosh(-0.1 * i / 2));
    slope -= 2 * i * std::tanh(-0.1 * i / 2);
  }
  const auto [got, gradient] = step(Tensor(1.2));
  expect(near(got.item(), value, 1e-12 * value), "the loss");
  expect(near(gradient.item(), slope, 1e-12 * slope), "its gradient");

  // d unwrap is the identity; one call for a matrix of rows, and for one of columns.
  const auto through = rlx::grad([](const Tensor& t) { return rlx::sum(phase::unwrap(t) * phase::unwrap(t)); });
  expect(near(through(x).to_vector<double>()[7], 2 * (0.3 + 1.1 * 7), 1e-12), "the gradient through unwrap");
  const Tensor both = Tensor::from(std::vector<double>{0, 3, 3, -3}, rlx::Extents{2, 2});
  const auto rows = rlx::vmap([](const Tensor& t) { return phase::unwrap(t); })(both).to_vector<double>();
  expect(near(rows[3], 2 * std::numbers::pi - 3, 1e-14) && rows[1] == 3, "unwrap of each row");

  try {
    phase::log_cosh(x, -1);
    expect(false, "a scale of -1 was not refused");
  } catch (const rlx::VerifyError& e) { expect(e.op() == "phase.log_cosh" && e.constraint() == "C1", e.what()); }
}

static void as_promised(const rlx::runtime::Catalog& catalog) {
  for (const char* device : {"reference", "cpu"}) {
    const auto s = rlx::conformance::run(catalog, {.device = device, .filter = "phase."});
    std::printf("%s: %zu cases passed, %zu refused, %zu failed\n", device, s.counts.passed, s.counts.refused,
                s.counts.failed);
    expect(s.counts.failed == 0 && s.refused.empty(), s.to_table());
    for (const auto& c : s.cases)  // Without our kernel cpu has nothing for a primitive of ours.
      expect(c.outcome == rlx::conformance::Outcome::passed || (c.op == "phase.unwrap" && c.path == "common"),
             c.name + ": " + c.reason);
    for (const char* op : {"phase.log_cosh", "phase.unwrap"}) {
      std::size_t of_op = 0;
      for (const auto& c : s.cases) of_op += c.op == op && c.outcome == rlx::conformance::Outcome::passed;
      expect(of_op > 0, std::string("no case of ") + op + " passed on " + device);
    }
  }
}

int main() {
  rlx::runtime::Catalog catalog = rlx::make_catalog();
  phase::add_to(catalog);
  in_a_graph(catalog);
  in_a_function();
  as_promised(catalog);
  std::puts(wrong == 0 ? "two operators of our own" : "something is wrong");
  return wrong == 0 ? 0 : 1;
}
