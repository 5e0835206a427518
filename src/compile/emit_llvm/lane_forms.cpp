#include "compile/emit_llvm/lane_forms.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/source.hpp>

namespace rlx::emit_llvm {

std::optional<std::int64_t> constant_i64(const Graph& g, ValueId v) {
  const ValueInfo& info = g.value(v);
  if (info.node < 0) return std::nullopt;
  const auto* c = g.node(info.node).attrs.get_if<ops::ConstantAttrs>();
  if (!c || c->value.rank() != 0 || c->value.dtype() != DType::i64) return std::nullopt;
  return c->value.get_i64(0);
}

LaneForm linear_result(std::string_view op, LaneForm a, LaneForm b, std::optional<std::int64_t> ca,
                       std::optional<std::int64_t> cb) {
  using Kind = LaneForm::Kind;
  if (a.kind == Kind::varying || b.kind == Kind::varying) return {Kind::varying};
  std::int64_t stride = 0;
  if (op == "add") stride = a.stride + b.stride;
  else if (op == "sub") stride = a.stride - b.stride;
  else if (op == "neg") stride = -a.stride;
  else if (op == "mul" && a.is_uniform() && ca) stride = *ca * b.stride;
  else if (op == "mul" && b.is_uniform() && cb) stride = *cb * a.stride;
  else return {a.is_uniform() && b.is_uniform() ? Kind::uniform : Kind::varying};
  // A cancelled stride is still a form that emission handles as a scalar.
  return {stride == 0 ? Kind::uniform : Kind::linear, stride};
}

LaneForms::LaneForms(const Graph& g, RegionId body, ValueId index) {
  forms_[index] = {LaneForm::Kind::linear, 1};
  walk(g, body);
}

bool LaneForms::set(ValueId v, LaneForm f) {
  const LaneForm old = of(v);
  if (old == f) return false;
  forms_[v] = f;
  return true;
}

bool LaneForms::join(const Graph&, ValueId to, ValueId from, bool force_varying) {
  if (!of(to).is_uniform()) return false;
  if (of(from).is_uniform() && !force_varying) return false;
  return set(to, {LaneForm::Kind::varying});
}

void LaneForms::walk(const Graph& g, RegionId r) {
  for (NodeId n : g.region(r).nodes) node(g, g.node(n));
}

void LaneForms::node(const Graph& g, const Node& n) {
  const std::string_view op = n.op->name();
  const bool is_for = op == "lir.for", is_reduce = op == "lir.reduce";
  if (is_for || is_reduce) {
    const bool varying = !of(n.operands[0]).is_uniform() || !of(n.operands[1]).is_uniform();
    const Region& body = g.region(n.regions[0]);
    if (varying) set(body.arguments[0], {LaneForm::Kind::varying});
    const std::size_t carried = n.results.size();
    // Carried values start as what comes in and become varying when what comes back is; at most one change a value.
    for (bool changed = true; changed;) {
      changed = false;
      walk(g, n.regions[0]);
      for (std::size_t i = 0; i < carried; ++i) {
        if (is_for) {
          const ValueId argument = body.arguments[i + 1];
          changed |= join(g, argument, n.operands[i + 2], varying);
          changed |= join(g, argument, body.results[i], varying);
          join(g, n.results[i], argument, varying);
        } else {
          const Region& combine = g.region(n.regions[1]);
          const ValueId a = combine.arguments[i], b = combine.arguments[carried + i];
          changed |= join(g, a, n.operands[i + 2], varying);
          changed |= join(g, b, body.results[i], varying);
          walk(g, n.regions[1]);
          changed |= join(g, a, combine.results[i], varying);
          join(g, n.results[i], a, varying);
        }
      }
    }
    return;
  }
  if (op == "lir.if_then") {
    for (RegionId r : n.regions) walk(g, r);
    const bool varying = !of(n.operands[0]).is_uniform();
    for (std::size_t i = 0; i < n.results.size(); ++i)
      for (RegionId r : n.regions) join(g, n.results[i], g.region(r).results[i], varying);
    return;
  }
  if (n.results.empty()) return;
  const ValueId result = n.results[0];
  if (op == "lir.load") {
    set(result, {of(n.operands[1]).is_uniform() ? LaneForm::Kind::uniform : LaneForm::Kind::varying});
    return;
  }
  if (g.tensor_type(result).dtype == DType::i64 && (n.operands.size() == 1 || n.operands.size() == 2)) {
    const ValueId a = n.operands[0], b = n.operands.back();
    if (g.tensor_type(a).dtype == DType::i64) {
      const LaneForm fb = n.operands.size() == 2 ? of(b) : LaneForm{};
      set(result, linear_result(op, of(a), fb, constant_i64(g, a), constant_i64(g, b)));
      return;
    }
  }
  bool uniform = true;
  for (ValueId v : n.operands) uniform &= of(v).is_uniform();
  set(result, {uniform ? LaneForm::Kind::uniform : LaneForm::Kind::varying});
}

}  // namespace rlx::emit_llvm
