#include "compile/lower/placement.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/reduction.hpp>
#include <rlx/ops/attributes/shape.hpp>

#include <algorithm>

namespace rlx::compile {

static bool is_unit(const Dim& d) { return d == Dim(1); }

Shape without_units(const Shape& s) {
  Shape out = s;
  std::erase_if(out, is_unit);
  return out;
}

SpaceDimensions space_of(const Shape& s) {
  SpaceDimensions out;
  for (const Dim& d : s)
    if (!is_unit(d)) out.all.push_back(static_cast<int>(out.all.size()));
  return out;
}

SpaceDimensions space_of(const Graph& g, const Node& reduce) {
  const auto& axes = reduce.attrs.as<ops::ReduceAttrs>().axes;
  const Shape& s = g.tensor_type(reduce.operands[0]).shape;
  SpaceDimensions out = space_of(s);
  int next = 0;
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (is_unit(s[d])) continue;
    if (std::find(axes.begin(), axes.end(), static_cast<int>(d)) == axes.end()) out.kept.push_back(next);
    ++next;
  }
  return out;
}

Placement placed_along(const Shape& s, const std::vector<int>& dimensions) {
  Placement p;
  std::size_t next = 0;
  for (const Dim& d : s) p.push_back(is_unit(d) ? fixed : dimensions.at(next++));
  return p;
}

std::optional<Placement> operand_placement(const Graph& g, const Node& n, std::size_t operand, const Placement& p) {
  if (n.op->has_trait(Trait::elementwise)) return p;
  const std::string_view op = n.op->name();
  if (operand > 0) return std::nullopt;
  const Shape& in = g.tensor_type(n.operands[0]).shape;
  if (op == "broadcast") {
    const auto& axes = n.attrs.as<ops::BroadcastAttrs>().axes;
    Placement out;
    for (std::size_t i = 0; i < in.size(); ++i)
      out.push_back(is_unit(in[i]) ? fixed : p[static_cast<std::size_t>(axes[i])]);
    return out;
  }
  if (op == "transpose") {
    const auto& permutation = n.attrs.as<ops::TransposeAttrs>().permutation;
    Placement out(in.size(), fixed);
    for (std::size_t i = 0; i < in.size(); ++i) out[static_cast<std::size_t>(permutation[i])] = p[i];
    return out;
  }
  if (op == "reshape" && without_units(in) == without_units(g.tensor_type(n.results[0]).shape)) {
    std::vector<int> moving;
    for (int d : p)
      if (d != fixed) moving.push_back(d);
    return placed_along(in, moving);
  }
  return std::nullopt;
}

}  // namespace rlx::compile
