#include "compile/widening.hpp"

#include <rlx/compile/report.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/contraction.hpp>
#include <rlx/ops/attributes/indexing.hpp>
#include <rlx/ops/attributes/reduction.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace rlx::compile {

bool is_exact(std::string_view op, DType t) {
  static constexpr std::string_view always[] = {"bitcast", "compare",  "complex", "conj", "convert",
                                                "imag",    "is_nan",   "neg",     "real", "reduce_precision",
                                                "select",  "is_finite"};
  static constexpr std::string_view of_reals[] = {"abs", "ceil", "clamp", "floor", "max", "min", "round", "sign"};
  const auto in = [&](std::span<const std::string_view> list) { return std::ranges::find(list, op) != list.end(); };
  return !(is_floating(t) || is_complex(t)) || in(always) || (!is_complex(t) && in(of_reals));
}

DType small_floats_in_f32(std::string_view, DType t) { return t == DType::f16 || t == DType::bf16 ? DType::f32 : t; }

namespace {

DType accumulator_of(DType wanted, DType operand) {
  return wanted == DType::boolean ? default_accumulator(operand) : wanted;
}

/// The type in which `n`, which is no elementwise operator, adds or multiplies, by its meaning; none where it does not.
std::optional<DType> sums_in(const Node& n, DType t) {
  if (const auto* dot = n.attrs.get_if<ops::DotGeneralAttrs>()) return accumulator_of(dot->accumulate, t);
  if (const auto* conv = n.attrs.get_if<ops::ConvAttrs>()) return accumulator_of(conv->accumulate, t);
  if (const auto* ragged = n.attrs.get_if<ops::RaggedDotAttrs>()) return accumulator_of(ragged->accumulate, t);
  const auto arithmetic = [](ops::Combine c) { return c == ops::Combine::add || c == ops::Combine::mul; };
  if (const auto* window = n.attrs.get_if<ops::ReduceWindowAttrs>(); window && arithmetic(window->kind))
    return default_accumulator(t);
  if (const auto* segment = n.attrs.get_if<ops::SegmentReduceAttrs>(); segment && arithmetic(segment->kind))
    return default_accumulator(t);
  if (const auto* scatter = n.attrs.get_if<ops::ScatterAttrs>(); scatter && arithmetic(scatter->kind)) return t;
  return {};
}

class WideningNotes {
 public:
  WideningNotes(const Graph& mir, const Target& target, DispatchReport& report)
      : mir_(mir), target_(target), report_(report) {}

  /// Nodes of scalar functions have no row of their own: `row` is that of the node that holds them.
  void region(RegionId r, std::int32_t row) {
    for (NodeId id : mir_.region(r).nodes) {
      const Node& n = mir_.node(id);
      const std::int32_t of = n.origin >= 0 ? n.origin : row;
      if (n.record.empty()) node(n, of);
      for (RegionId inner : n.regions) region(inner, of);
    }
  }

 private:
  void node(const Node& n, std::int32_t row) {
    const bool elementwise = n.op->has_trait(Trait::elementwise);
    // select's first operand is the predicate; what it does to the others is exact.
    const auto* x = n.operands.empty() ? nullptr : std::get_if<TensorType>(&mir_.type(n.operands[0]));
    if (!x) return;
    const std::optional<DType> t = elementwise ? std::optional(x->dtype) : sums_in(n, x->dtype);
    const std::string_view op = elementwise ? n.op->name() : "add";
    if (!t || is_exact(op, *t)) return;
    if (const DType in = target_.computes_in(op, *t); in != *t)
      report_.add_note(row, "widened: " + std::string(name(*t)) + " computed in " + std::string(name(in)));
  }

  const Graph& mir_;
  const Target& target_;
  DispatchReport& report_;
};

}  // namespace

void note_widening(const Graph& mir, const Target& target, DispatchReport& report) {
  if (target.computes_in) WideningNotes(mir, target, report).region(Graph::top, -1);
}

}  // namespace rlx::compile
