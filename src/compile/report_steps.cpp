#include "compile/report_steps.hpp"

#include "compile/moved_bytes.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace rlx::compile {

std::optional<Cost> cost_of(const Graph& g, const Node& n) {
  if (n.op->cost_rule().kind != RuleKind::given) return std::nullopt;
  const Types types = g.types_of(n.operands);
  std::vector<RegionType> regions;
  for (RegionId r : n.regions) regions.push_back({g.types_of(g.region(r).arguments), g.types_of(g.region(r).results)});
  return n.op->cost(n.attrs, {types, regions, &g.symbols});
}

namespace {

std::int64_t operations(const Graph& g, const Node& n) {
  std::int64_t count = 0;
  for (RegionId r : n.regions)
    for (NodeId id : g.region(r).nodes) count += 1 + operations(g, g.node(id));
  return count;
}

class StepReporter {
 public:
  StepReporter(const Graph& lir, const Graph& mir, const StepSources& sources, std::span<const KernelRecord> records,
               DispatchReport& report)
      : lir_(lir), mir_(mir), sources_(sources), records_(records), report_(report) {}

  void region(RegionId r) {
    std::vector<NodeId> step;  // One, or a call between the kernels that it runs.
    for (NodeId id : lir_.region(r).nodes) {
      const Node& n = lir_.node(id);
      if (n.op->name() == "lir.buffer" || n.op->name() == "lir.view") continue;
      step.push_back(id);
      const auto* call = n.attrs.get_if<lir::CallAttrs>();
      if (lir::is_prologue(lir_, n) || (call && !call->epilogue.empty())) continue;  // The rest of it follows.
      report(std::exchange(step, {}));
      if (!n.attrs.get_if<lir::KernelAttrs>())
        for (RegionId inner : n.regions) region(inner);
    }
  }

 private:
  void report(const std::vector<NodeId>& step) {
    const Node* head = &lir_.node(step.front());
    for (NodeId id : step)
      if (lir_.node(id).attrs.get_if<lir::CallAttrs>()) head = &lir_.node(id);
    StepRow row{.name = lir::step_name(*head), .kind = lir::step_kind(*head), .provider = provider(*head)};
    for (NodeId id : step)
      if (const Node& n = lir_.node(id); n.attrs.get_if<lir::KernelAttrs>())
        row.kernel_operations += operations(lir_, n);
    row.flops = flops(step);
    row.bytes = moved_bytes(lir_, step);
    std::set<std::int32_t> rows;
    for (NodeId id : step)
      for (const auto* list : {&sources_.at(id).makes, &sources_.at(id).uses})
        for (const Node* n : *list)
          if (n->origin >= 0) rows.insert(n->origin);
    for (std::int32_t r : rows) report_.rows.at(static_cast<std::size_t>(r)).steps.push_back(row.name);
    report_.steps.push_back(std::move(row));
  }

  std::string provider(const Node& n) const {
    const auto* call = n.attrs.get_if<lir::CallAttrs>();
    if (!call) return "generated";
    for (const KernelRecord& r : records_)
      if (r.name.value == call->record && r.op.value == call->op) return std::string(r.provider.value);
    throw InternalError("no record " + call->record + " for " + call->op);
  }

  // Nothing for loops and branches: their steps have rows of their own.
  std::optional<double> flops(const std::vector<NodeId>& step) const {
    double sum = 0;
    for (NodeId id : step) {
      const Node& n = lir_.node(id);
      if (n.op->name() == "lir.copy") continue;
      if (!n.regions.empty() && !n.attrs.get_if<lir::KernelAttrs>()) return std::nullopt;
      const StepSource& s = sources_.at(id);
      std::vector<const Node*> nodes = s.uses;
      if (s.works) nodes.insert(nodes.end(), s.makes.begin(), s.makes.end());
      for (const Node* of : nodes) {
        const std::optional<Cost> cost = cost_of(mir_, *of);
        if (!cost || !cost->flops.is_constant()) return std::nullopt;
        sum += static_cast<double>(cost->flops.constant());
      }
    }
    return sum;
  }

  const Graph &lir_, &mir_;
  const StepSources& sources_;
  std::span<const KernelRecord> records_;
  DispatchReport& report_;
};

}  // namespace

void report_steps(const Graph& lir, const Graph& mir, const StepSources& sources, std::span<const KernelRecord> records,
                  DispatchReport& report) {
  StepReporter(lir, mir, sources, records, report).region(Graph::top);
}

}  // namespace rlx::compile
