// Graphs written as functions, evaluated on lists of doubles, and derivatives by differences.
#pragma once
#include "catalog.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/transform/jvp.hpp>
#include <rlx/transform/simplify.hpp>
#include <rlx/transform/vjp.hpp>
#include <rlx/transform/vmap.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace rlx {

using Doubles = std::vector<double>;

/// Inputs are named x0, x1, ..., outputs y0, y1, ...
inline Graph graph_of(const Types& inputs, const std::function<Values(ValuesIn)>& body,
                      const Registry& known = registry()) {
  Graph g("f");
  Builder b(g, known);
  Values in;
  for (const Type& t : inputs) in.push_back(b.input(t, "x" + std::to_string(in.size())));
  b.set_location({"f.cpp", 7});
  for (const Value& v : body(in)) b.output(v, "y" + std::to_string(g.outputs().size()));
  verify(g, Level::hir);
  return g;
}

inline Doubles elements(const HostValue& v) {
  Doubles out;
  const HostTensor& x =
      std::holds_alternative<HostSparse>(v) ? std::get<HostSparse>(v).values : std::get<HostTensor>(v);
  for (std::int64_t i = 0; i < x.numel(); ++i) out.push_back(x.get_f64(i));
  return out;
}

/// Arguments as elements of the (constant) input types.
inline std::vector<Doubles> run(const Graph& g, const std::vector<Doubles>& arguments) {
  verify(g, Level::hir);
  HostValues in;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorType& t = g.tensor_type(g.inputs().at(i));
    in.push_back(HostTensor::from(t.dtype, constant_shape(t.shape), arguments[i]));
  }
  std::vector<Doubles> out;
  for (const HostValue& v : evaluate(g, registry(), in)) out.push_back(elements(v));
  return out;
}

inline Doubles random_doubles(std::size_t n, std::uint64_t seed, double low = -1, double high = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> d(low, high);
  Doubles v(n);
  for (double& x : v) x = d(random);
  return v;
}
inline std::vector<Doubles> random_inputs(const Graph& g, std::uint64_t seed, double low = -1, double high = 1) {
  std::vector<Doubles> out;
  for (ValueId v : g.inputs())
    out.push_back(
        random_doubles(static_cast<std::size_t>(g.tensor_type(v).numel().constant()), seed + out.size(), low, high));
  return out;
}

inline void expect_near(const Doubles& got, const Doubles& wanted, double tolerance, const std::string& what = "") {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << what << " [" << i << "]";
}
inline double inner(const std::vector<Doubles>& a, const std::vector<Doubles>& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) s += a[i][j] * b[i][j];
  return s;
}
inline std::vector<Doubles> plus(std::vector<Doubles> a, const std::vector<Doubles>& b, double h) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) a[i][j] += h * b[i][j];
  return a;
}
inline std::vector<Doubles> concatenated(std::vector<Doubles> a, const std::vector<Doubles>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// f of f64 inputs and outputs at x: jvp agrees with central differences, vjp is its transpose, and both return f's
/// outputs.
inline void check_derivatives(const Graph& f, const std::vector<Doubles>& x, double tolerance = 1e-7) {
  const Graph forward = transform::jvp(f, registry()), reverse = transform::vjp(f, registry());
  const std::size_t outputs = f.outputs().size();
  const auto tail = [&](const std::vector<Doubles>& v) {
    return std::vector<Doubles>(v.begin() + static_cast<std::ptrdiff_t>(outputs), v.end());
  };
  std::vector<Doubles> v, u;
  for (const Doubles& d : x) v.push_back(random_doubles(d.size(), 71 + v.size()));
  const auto y = run(f, x);
  for (const Doubles& d : y) u.push_back(random_doubles(d.size(), 91 + u.size()));
  const auto pushed = run(forward, concatenated(x, v)), pulled = run(reverse, concatenated(x, u));
  for (std::size_t i = 0; i < outputs; ++i) {
    expect_near(pushed[i], y[i], 1e-12, "value by jvp");
    expect_near(pulled[i], y[i], 1e-12, "value by vjp");
  }
  const double h = 1e-5;
  const auto high = run(f, plus(x, v, h)), low = run(f, plus(x, v, -h));
  for (std::size_t i = 0; i < outputs; ++i) {
    Doubles slope;
    for (std::size_t j = 0; j < y[i].size(); ++j) slope.push_back((high[i][j] - low[i][j]) / (2 * h));
    expect_near(tail(pushed)[i], slope, tolerance, "tangent of output " + std::to_string(i));
  }
  EXPECT_NEAR(inner(u, tail(pushed)), inner(tail(pulled), v), 1e-10 * (1 + std::abs(inner(u, tail(pushed)))));
}

/// vmap over dimension 0 of every input equals a loop over the members.
inline void check_batch(const Graph& f, std::int64_t size, std::uint64_t seed, double low = -1, double high = 1) {
  const Graph all = transform::vmap(f, registry(), {.size = size});
  std::vector<std::vector<Doubles>> members;
  std::vector<Doubles> stacked(f.inputs().size());
  for (std::int64_t m = 0; m < size; ++m) {
    members.push_back(random_inputs(f, seed + 100 * static_cast<std::uint64_t>(m), low, high));
    for (std::size_t i = 0; i < stacked.size(); ++i)
      stacked[i].insert(stacked[i].end(), members.back()[i].begin(), members.back()[i].end());
  }
  std::vector<Doubles> wanted(f.outputs().size());
  for (const auto& x : members) {
    const auto y = run(f, x);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i].insert(wanted[i].end(), y[i].begin(), y[i].end());
  }
  const auto got = run(all, stacked);
  for (std::size_t i = 0; i < wanted.size(); ++i) expect_near(got[i], wanted[i], 1e-13, "output " + std::to_string(i));
}

/// How many nodes of all regions are `op`.
inline std::size_t count_of(const Graph& g, std::string_view op) {
  std::size_t n = 0;
  for (std::size_t r = 0; r < g.region_count(); ++r)
    for (NodeId id : g.region(static_cast<RegionId>(r)).nodes) n += g.node(id).op->name() == op;
  return n;
}

}  // namespace rlx
