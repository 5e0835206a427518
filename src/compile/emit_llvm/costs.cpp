#include "compile/emit_llvm/costs.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace rlx::emit_llvm {

static double operator_cost(std::string_view op) {
  static constexpr std::string_view dear[] = {"exp",  "log",  "expm1",  "log1p",  "sin",     "cos",  "tan",
                                              "asin", "acos", "atan",   "atan2",  "sinh",    "cosh", "tanh",
                                              "erf",  "erfc", "erfinv", "lgamma", "digamma", "pow",  "cbrt"};
  if (std::find(std::begin(dear), std::end(dear), op) != std::end(dear)) return 20;
  if (op == "div" || op == "rem" || op == "sqrt" || op == "rsqrt") return 5;
  return 1;
}

// Whether the reciprocal is exact: a floating-point constant with no digit after the first and a reciprocal in range.
static bool is_power_of_two(const Graph& g, ValueId v) {
  const NodeId d = g.value(v).node;
  const auto* c = d < 0 ? nullptr : g.node(d).attrs.get_if<ops::ConstantAttrs>();
  if (!c || c->value.rank() != 0 || !is_floating(c->value.dtype())) return false;
  int exponent = 0;
  const double number = c->value.get_f64(0);
  return std::isfinite(number) && std::abs(std::frexp(number, &exponent)) == 0.5 && std::abs(exponent) < 126;
}

double node_cost(const Graph& g, const Node& n) {
  const std::string_view op = n.op->name();
  return op == "div" && is_power_of_two(g, n.operands[1]) ? operator_cost("mul") : operator_cost(op);
}

std::int64_t Costs::trips(const Node& n) const {
  const auto lower = constant_i64(g_, n.operands[0]);
  auto upper = constant_i64(g_, n.operands[1]);
  if (knows_sizes_ && !upper) upper = size_of(n.operands[1]);
  if (!lower || !upper) return unknown_trips;
  const auto* loop = n.attrs.get_if<lir::ForAttrs>();
  const std::int64_t step = loop ? loop->step : 1;
  return std::max<std::int64_t>(0, (*upper - *lower + step - 1) / step);
}

std::optional<std::int64_t> Costs::size_of(ValueId v) const {
  const NodeId d = g_.value(v).node;
  const auto* a = d < 0 ? nullptr : g_.node(d).attrs.get_if<lir::SizeAttrs>();
  return a ? std::optional(a->value) : std::nullopt;
}

static bool may_take_lanes(const Node& n) {
  if (n.op->name() == "lir.reduce") return true;
  const auto* loop = n.attrs.get_if<lir::ForAttrs>();
  return loop && loop->independent && loop->step == 1;
}

int Costs::lanes_for(std::int64_t count) const {
  return static_cast<int>(std::min<std::int64_t>(
      lanes_, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, count))))));
}

double Costs::filled(std::int64_t count) const {
  const int w = lanes_for(count);
  return count ? static_cast<double>(count) / static_cast<double>((count + w - 1) / w) : 1.0;
}

double Costs::vector_cost(RegionId r, const LaneForms& forms, double fill) const {
  double sum = 0;
  for (NodeId id : g_.region(r).nodes) {
    const Node& n = g_.node(id);
    const std::string_view op = n.op->name();
    if (op == "lir.load" || op == "lir.store") {
      const LaneForm f = forms.of(n.operands[1]);
      const bool dense = f.is_uniform() || (f.kind == LaneForm::Kind::linear && (f.stride == 1 || f.stride == -1));
      sum += dense ? 1.0 / fill : 1.5;
    } else if (!n.regions.empty()) {
      double inner = 0;
      for (RegionId k : n.regions) inner += vector_cost(k, forms, fill);
      const bool loop = op == "lir.for" || op == "lir.reduce";
      const bool ragged = loop && (!forms.of(n.operands[0]).is_uniform() || !forms.of(n.operands[1]).is_uniform());
      sum += loop ? inner * static_cast<double>(trips(n)) * (ragged ? 2.0 : 1.0) : inner;
    } else sum += node_cost(g_, n) / fill;
  }
  return sum;
}

double Costs::scalar_cost(RegionId r, std::unordered_map<NodeId, int>& chosen) const {
  double sum = 0;
  for (NodeId id : g_.region(r).nodes) {
    const Node& n = g_.node(id);
    if (n.regions.empty()) {
      sum += node_cost(g_, n);
      continue;
    }
    const bool loop = n.op->name() == "lir.for" || n.op->name() == "lir.reduce";
    const std::int64_t count = loop ? trips(n) : 1;
    std::unordered_map<NodeId, int> deeper;
    double inner = 0;
    for (RegionId k : n.regions) inner += scalar_cost(k, deeper);
    inner *= static_cast<double>(count);
    if (may_take_lanes(n) && count >= 4 && lanes_ > 1) {
      const LaneForms forms(g_, n.regions[0], g_.region(n.regions[0]).arguments[0]);
      double cost = vector_cost(n.regions[0], forms, filled(count)) * static_cast<double>(count);
      if (n.regions.size() == 2) {  // combining: once a vector, then a tree over the lanes
        const double combine = vector_cost(n.regions[1], {}, 1.0);
        cost += combine * (static_cast<double>(count) / filled(count) + 5.0) + 6.0;
      }
      if (cost < inner) {
        deeper.clear();
        deeper[id] = lanes_for(count);
        inner = cost;
      }
    }
    chosen.insert(deeper.begin(), deeper.end());
    sum += inner;
  }
  return sum;
}

}  // namespace rlx::emit_llvm
