// Runs samples of operators through graphs: values, refusals, and rules as graphs of their own.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/ops/register.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace rlx::testing {

using Dims = std::vector<std::int64_t>;

inline const Registry& registry() {
  static const Registry r = [] {
    Registry all;
    ops::register_ops(all);
    return all;
  }();
  return r;
}

/// Row-major elements, (real, imaginary) pairs of complex ones.
inline std::vector<double> elements(const HostValue& v) {
  const auto& x = std::get<HostTensor>(v);
  std::vector<double> e;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    e.push_back(x.get_c128(i).real());
    if (is_complex(x.dtype())) e.push_back(x.get_c128(i).imag());
  }
  return e;
}
inline HostTensor tensor_of(DType t, const Dims& shape, const std::vector<double>& v) {
  HostTensor x(t, shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (is_complex(t)) x.set_c128(i, {v.at(2 * k), v.at(2 * k + 1)});
    else if (t == DType::u64 || t == DType::u32) x.set_u64(i, static_cast<std::uint64_t>(v.at(k)));
    else x.set_f64(i, v.at(k));
  }
  return x;
}

inline HostTensor filled(const SampleOperand& o, std::mt19937_64& random) {
  const auto& t = std::get<TensorType>(o.type);
  const Dims shape = constant_shape(t.shape);
  if (!o.literal.empty()) return tensor_of(t.dtype, shape, o.literal);
  std::vector<double> v(static_cast<std::size_t>(element_count(shape)) * (is_complex(t.dtype) ? 2 : 1));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double share = o.fill == Fill::distinct ? (static_cast<double>(i) + 0.5) / static_cast<double>(v.size())
                                                  : std::uniform_real_distribution<>(0, 1)(random);
    v[i] = o.low + (o.high - o.low) * share;
    if (o.fill == Fill::index) v[i] = std::min(std::floor(o.high * share), o.high - 1);
    if (o.fill == Fill::key) v[i] = std::floor(share * 0x1p32);
    else if (is_integer(t.dtype) || t.dtype == DType::boolean) v[i] = std::floor(v[i] + 0.5);
  }
  if (o.fill == Fill::distinct) std::shuffle(v.begin(), v.end(), random);
  return tensor_of(t.dtype, shape, v);
}

inline std::vector<HostTensor> filled(const SampleBase& s, std::mt19937_64& random) {
  std::vector<HostTensor> in;
  for (const SampleOperand& o : s.in) in.push_back(filled(o, random));
  return in;
}

/// A graph whose inputs are the operands of one node and whose outputs are its results.
struct OneNode {
  Graph graph;
  Builder builder{graph, registry()};
  Values in, out;
  OneNode(const Op& op, const AnySample& s) {
    for (const SampleOperand& o : s.in) in.push_back(builder.input(o.type, "x" + std::to_string(in.size())));
    out = builder.emit(op.name(), in, s.attrs, s.regions);
    for (const Value& v : out) builder.output(v, "y" + std::to_string(graph.outputs().size()));
  }
  const Node& node() const { return graph.node(graph.region(Graph::top).nodes.back()); }
};

inline HostValues run(const Graph& g, const std::vector<HostTensor>& in) {
  const HostValues values(in.begin(), in.end());
  return evaluate(g, registry(), values);
}
/// Evaluates what `body` builds on inputs of the types of `in`.
template <class F>
HostValues run(const std::vector<HostTensor>& in, F body) {
  Graph g;
  Builder b(g, registry());
  Values values;
  for (const HostTensor& x : in) values.push_back(b.input(type_of(HostValue(x)), "x" + std::to_string(values.size())));
  const Values out = body(b, values);
  for (const Value& v : out) b.output(v, "y" + std::to_string(g.outputs().size()));
  return run(g, in);
}

inline bool is_smooth(DType t) { return t == DType::f64 || t == DType::c128; }

}  // namespace rlx::testing
