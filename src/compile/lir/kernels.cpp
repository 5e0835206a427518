#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>

namespace rlx::lir {

static void collect_kernels(const Graph& g, RegionId r, std::vector<NodeId>& out) {
  for (NodeId id : g.region(r).nodes) {
    const Node& n = g.node(id);
    if (n.op->name() == "lir.kernel") out.push_back(id);
    else
      for (RegionId inner : n.regions) collect_kernels(g, inner, out);
  }
}

std::vector<NodeId> kernels(const Graph& program) {
  std::vector<NodeId> out;
  collect_kernels(program, Graph::top, out);
  return out;
}

template <class Attrs>
static void collect(const Graph& g, const Node& n, std::vector<NodeId>& out) {
  for (RegionId r : n.regions)
    for (NodeId id : g.region(r).nodes) {
      if (g.node(id).attrs.get_if<Attrs>()) out.push_back(id);
      collect<Attrs>(g, g.node(id), out);
    }
}

std::vector<NodeId> sizes(const Graph& program, const Node& kernel) {
  std::vector<NodeId> out;
  collect<SizeAttrs>(program, kernel, out);
  return out;
}

std::vector<NodeId> checks(const Graph& program, const Node& kernel) {
  std::vector<NodeId> out;
  collect<CheckAttrs>(program, kernel, out);
  return out;
}

std::string step_name(const CallAttrs& a) {
  std::string name;
  for (const std::string& kernel : a.prologues) name += kernel + " + ";
  return name + a.record + (a.epilogue.empty() ? "" : " + " + a.epilogue);
}

std::string step_name(const Node& step) {
  if (const auto* k = step.attrs.get_if<KernelAttrs>()) return k->name;
  if (const auto* c = step.attrs.get_if<CallAttrs>()) return step_name(*c);
  return step_kind(step);
}

std::string step_kind(const Node& step) { return std::string(step.op->name().substr(4)); }

bool is_prologue(const Graph& program, const Node& step) {
  if (step.op->name() != "lir.kernel") return false;
  const NodeId made = program.value(step.operands.back()).node;
  const auto* buffer = made < 0 ? nullptr : program.node(made).attrs.get_if<BufferAttrs>();
  return buffer && buffer->lifetime == Lifetime::piecewise;
}

}  // namespace rlx::lir
