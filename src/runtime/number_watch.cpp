#include "runtime/number_watch.hpp"

#include "runtime/loaded_program.hpp"

#include <rlx/ir/located.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <utility>

namespace rlx::runtime {

static NonFiniteError non_finite(const StepInfo& s, TensorType t, const Worst& w, const std::string& program) {
  t.space = Space::value;
  const std::string node = s.op.empty() ? s.name : s.op + (s.node.empty() ? "" : " " + s.node);
  return NonFiniteError(s.op.empty() ? s.name : s.op,
                        node + ": step " + s.name + " stores " + (w.numbers == Numbers::nan ? "NaN" : "an infinity") +
                            " at element " + std::to_string(w.index) + " of " + to_string(Type(t)) + " in program \"" +
                            program + "\"" + (s.location.file.empty() ? "" : "  " + s.location.to_string()),
                        {s.location.file, s.location.line, s.node});
}

NumberWatch::NumberWatch(const Steps& steps, std::string program, Contents contents)
    : steps_(steps),
      program_(std::move(program)),
      contents_(std::move(contents)),
      numbers_(steps.places.size(), Numbers::finite) {
  for (std::size_t p = 0; p < numbers_.size(); ++p)
    if (const auto kind = steps_.places[p].kind; kind == Place::Kind::input || kind == Place::Kind::constant)
      held(static_cast<int>(p)) = worst_of(contents_(static_cast<int>(p))).numbers;
}

void NumberWatch::check_stored(const Step& s) {
  Numbers given = s.info->has_infinity ? Numbers::infinite : Numbers::finite;
  for (int p : s.reads) given = std::max(given, held(p));
  for (int p : s.writes) {
    const Worst w = worst_of(contents_(p));
    if (w.numbers > given) throw non_finite(*s.info, steps_.places[static_cast<std::size_t>(p)].type, w, program_);
    held(p) = w.numbers;
  }
}

Numbers& NumberWatch::held(int place) {
  return numbers_[static_cast<std::size_t>(steps_.places[static_cast<std::size_t>(place)].memory)];
}

bool holds_infinity(const Graph& g, RegionId r) {
  return std::any_of(g.region(r).nodes.begin(), g.region(r).nodes.end(), [&](NodeId id) {
    const Node& n = g.node(id);
    const auto* c = n.attrs.get_if<ops::ConstantAttrs>();
    return (c && worst_of(c->value).numbers != Numbers::finite) ||
           std::any_of(n.regions.begin(), n.regions.end(), [&](RegionId inner) { return holds_infinity(g, inner); });
  });
}

// What a kernel has for itself: regions of reductions and their like are one function of scalars.
static bool is_stored(const Graph& g, const Node& n) {
  for (const Node* at = &n; at->parent != Graph::top;) {
    at = &g.node(g.region(at->parent).owner);
    if (const std::string_view op = at->op->name(); op != "while" && op != "if" && op != "scan" && op != "checkpoint")
      return false;
  }
  return true;
}

void check_evaluated(const Evaluated& e, const DispatchReport& report, const std::string& program) {
  if (!is_stored(e.graph, e.node) || e.node.attrs.get_if<ops::ConstantAttrs>()) return;
  Numbers given = Numbers::finite;
  for (RegionId r : e.node.regions)
    if (holds_infinity(e.graph, r)) given = Numbers::infinite;
  for (const HostValue& v : e.operands)
    for (const HostTensor* t : arrays(v)) given = std::max(given, worst_of(*t).numbers);
  for (const HostValue& v : e.results)
    for (const HostTensor* t : arrays(v))
      if (const Worst w = worst_of(*t); w.numbers > given) {
        const StepInfo s = step_info(report, e.of.origin, std::string(e.node.op->name()), "node", e.of.location);
        throw non_finite(s, tensor(t->dtype(), Shape(t->shape().begin(), t->shape().end())), w, program);
      }
}

}  // namespace rlx::runtime
