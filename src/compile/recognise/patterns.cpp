#include "compile/recognise/constants.hpp"
#include "compile/recognise/pattern.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/reduction.hpp>
#include <rlx/ops/attributes/shape.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace rlx::compile {

// One line a pattern in all_patterns.inc; the constant is defined in <name>.cpp.
#define RLX_PATTERN(constant) extern const Pattern constant##_pattern;
#include "compile/recognise/all_patterns.inc"
#undef RLX_PATTERN

std::span<const Pattern* const> patterns() {
  static const std::array all{
#define RLX_PATTERN(constant) &constant##_pattern,
#include "compile/recognise/all_patterns.inc"
#undef RLX_PATTERN
  };
  return all;
}

Above::Above(const Graph& g, ValueId root) : g_(g), root_(root) {
  constexpr std::size_t most = 64;
  const auto visit = [&](ValueId v) {
    const NodeId n = g.value(v).node;
    if (n >= 0 && nodes_.size() < most && std::find(nodes_.begin(), nodes_.end(), n) == nodes_.end())
      nodes_.push_back(n);
  };
  visit(root);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (ValueId v : g.node(nodes_[i]).operands) visit(v);
}

bool Above::has(std::string_view op) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](NodeId n) { return g_.node(n).op->name() == op; });
}

// 1e-5 rather than 9.99999974737875163e-06, which is the f32 nearest to it.
static double shortest_decimal(double v, DType t) {
  for (int digits = 1; digits < 17; ++digits) {
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), "%.*g", digits, v);
    if (const double d = std::strtod(text.data(), nullptr); round_to(t, d) == v) return d;
  }
  return v;
}

std::vector<double> Above::scalars() const {
  std::vector<double> out;
  for (NodeId id : nodes_) {
    const Node& n = g_.node(id);
    const auto* t = n.results.size() == 1 ? std::get_if<TensorType>(&g_.type(n.results[0])) : nullptr;
    if (!t || !is_floating(t->dtype)) continue;
    const std::optional<HostTensor> one = uniform_value(g_, n.results[0]);
    if (!one) continue;
    const double v = shortest_decimal(one->get_f64(0), t->dtype);
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  }
  return out;
}

std::vector<Reduced> Above::reductions() const {
  std::vector<Reduced> out;
  const auto* y = std::get_if<TensorType>(&g_.type(root_));
  if (!y || !(is_floating(y->dtype) || is_complex(y->dtype))) return out;
  for (NodeId id : nodes_) {
    const Node& n = g_.node(id);
    if (n.op->name() != "reduce") continue;
    const auto& a = n.attrs.as<ops::ReduceAttrs>();
    const TensorType& x = g_.tensor_type(n.operands.front());
    const int left = x.rank() - static_cast<int>(a.axes.size());
    if (a.axes.empty() || (y->rank() != left && y->rank() != x.rank())) continue;
    const auto same = [&](const Reduced& r) { return r.axes == a.axes && r.x.shape == x.shape; };
    if (std::none_of(out.begin(), out.end(), same))
      out.push_back({a.axes, y->rank() == x.rank(), tensor(y->dtype, x.shape)});
  }
  return out;
}

std::optional<std::int64_t> count_along(const Shape& shape, const std::vector<int>& axes) {
  std::int64_t n = 1;
  for (int d : axes) {
    const Dim& size = shape.at(static_cast<std::size_t>(d));
    if (!size.is_constant() || __builtin_mul_overflow(n, size.constant(), &n)) return {};
  }
  return n;
}

std::vector<Candidate> along_one_axis(const Above& above) {
  std::vector<Candidate> out;
  for (const Reduced& r : above.reductions()) {
    if (r.axes.size() != 1 || r.x.shape != above.type().shape) continue;
    ops::AxisAttrs a;
    a.axis = r.axes[0];
    out.push_back({a, {r.x}});
  }
  return out;
}

std::vector<Candidate> along_some_axes(const Above& above) {
  std::vector<Candidate> out;
  for (const Reduced& r : above.reductions()) {
    ops::MomentAttrs a;
    a.axes = r.axes;
    a.keep = r.keep;
    out.push_back({a, {r.x}});
  }
  return out;
}

}  // namespace rlx::compile
