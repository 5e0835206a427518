// What a definition owes before anything runs: rules that are answered, constraints that a sample breaks, results that
// one states.
#include "api/conformance/checks.hpp"
#include "api/conformance/fill.hpp"

#include <algorithm>
#include <set>

namespace rlx::conformance {

namespace {

void check_rules(const Op& op, Collector& out) {
  const std::pair<std::string_view, Op::RuleInfo> rules[] = {{"vjp", op.vjp_rule()},
                                                             {"jvp", op.jvp_rule()},
                                                             {"batch", op.batch_rule()},
                                                             {"shard", op.shard_rule()},
                                                             {"cost", op.cost_rule()}};
  std::string open;
  for (const auto& [name, info] : rules) {
    if (info.kind == RuleKind::never && (info.why.empty() || info.why == "todo"))
      open += (open.empty() ? "" : ", ") + std::string(name) + " is Never without a reason";
    if (info.kind == RuleKind::derived && op.meaning() != Meaning::composite)
      if (name == "vjp" || name == "jvp" || name == "batch")
        open += (open.empty() ? "" : ", ") + std::string(name) + " is Derived, but there is no decomposition";
  }
  out.judge({op, "rules", out.device()}, open);
}

// A decomposition cannot test itself, and the references are what everything else is compared with: some sample states
// its results. Operators of which no sample has values have none to state, nor have those that give resources.
bool can_be_stated(const Op& op, const AnySample& s, const Registry& registry) {
  if (!s.breaks.empty()) return false;
  Types types;
  for (const SampleOperand& o : s.in) {
    if (cannot_fill(o, registry)) return false;
    types.push_back(o.type);
  }
  if (!s.regions.empty()) return true;
  const Types results = op.infer(s.attrs, Signature{types, {}, nullptr});
  return std::none_of(results.begin(), results.end(),
                      [](const Type& t) { return std::holds_alternative<ResourceType>(t); });
}

void check_literal(const Op& op, Collector& out) {
  bool any = false;
  for (const AnySample& s : op.samples()) {
    if (!s.expect.empty()) return;
    any = any || can_be_stated(op, s, out.registry());
  }
  if (any) out.add({op, "literal", out.device()}, Outcome::failed, "no sample states its results");
}

// The constraint that building the sample breaks, "" where it is accepted.
std::string broken_by(const Op& op, const AnySample& s, const Registry& registry) {
  Graph g;
  Builder b(g, registry);
  Values in;
  for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
  try {
    b.emit(op.name(), in, s.attrs, s.regions);
  } catch (const VerifyError& e) { return e.op() == op.name() ? e.constraint() : e.constraint() + " of " + e.op(); }
  return {};
}

void check_refusals(const Op& op, Collector& out) {
  std::set<std::string, std::less<>> proved;
  std::size_t index = 0;
  for (const AnySample& s : op.samples()) {
    const std::size_t at = index++;
    if (s.breaks.empty()) continue;
    const std::string id(s.breaks);
    const CaseOf c{op, "refusal", out.device(), id, std::to_string(at)};
    out.guarded(c, [&] {
      const std::string broken = broken_by(op, s, out.registry());
      out.judge(c, broken == id ? "" : broken.empty() ? "the instance is accepted" : "refused for " + broken);
      if (broken == id) proved.insert(id);
    });
  }
  for (const ConstraintDoc& d : op.constraints())
    if (!proved.count(d.id))
      out.add({op, "refusal", out.device(), std::string(d.id)}, Outcome::failed,
              "no sample breaks " + std::string(d.id) + ": " + std::string(d.text));
}

}  // namespace

void check_definition(const Op& op, Collector& out) {
  check_rules(op, out);
  check_refusals(op, out);
  check_literal(op, out);
}

}  // namespace rlx::conformance
