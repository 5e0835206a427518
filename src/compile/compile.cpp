// The passes from HIR to a planned LIR program, each followed by its checks.
#include <rlx/compile/compile.hpp>

#include "compile/dispatch.hpp"
#include "compile/elide_copies.hpp"
#include "compile/fuse_calls.hpp"
#include "compile/lir/verify_program.hpp"
#include "compile/lower/lower.hpp"
#include "compile/open_rows.hpp"
#include "compile/plan_memory.hpp"
#include "compile/recognise/recognise.hpp"
#include "compile/refuse.hpp"
#include "compile/report_steps.hpp"
#include "compile/reuse_donated.hpp"
#include "compile/sizes/bound_sizes.hpp"
#include "compile/slab_limits.hpp"
#include "compile/widening.hpp"

#include <rlx/ir/verify.hpp>

#include <map>
#include <set>

namespace rlx {

namespace {

using SizeNodes = std::map<std::string, NodeId>;

void refuse_symbols(const Graph& g, RegionId r, const SizeNodes& sizes) {
  const auto refuse = [&](ValueId v) {
    std::set<std::string> symbols;
    collect_symbols(g.type(v), symbols);
    for (const std::string& s : symbols)
      if (!sizes.contains(s))
        throw ArgumentError("symbol \"" + s + "\" of graph \"" + g.name + "\" has no value: a value of it is " +
                            to_string(g.type(v)) + ", and programs have constant shapes");
  };
  for (ValueId v : g.region(r).arguments) refuse(v);
  for (NodeId id : g.region(r).nodes) {
    for (ValueId v : g.node(id).results) refuse(v);
    for (RegionId inner : g.node(id).regions) refuse_symbols(g, inner, sizes);
  }
}

// The arrays of donated inputs, as places among those of all inputs; ArgumentError for what cannot be given away.
std::vector<std::size_t> donated_arrays(const Graph& g, const std::vector<std::size_t>& donated) {
  std::vector<std::size_t> first, out;  // Of each input its first array.
  std::size_t arrays = 0;
  for (ValueId v : g.inputs()) {
    first.push_back(arrays);
    arrays += std::holds_alternative<SparseType>(g.type(v)) ? 3 : 1;
  }
  first.push_back(arrays);
  for (std::size_t i : std::set<std::size_t>(donated.begin(), donated.end())) {
    if (i >= g.inputs().size())
      throw ArgumentError("input " + std::to_string(i) + " of graph \"" + g.name + "\" is donated, which takes " +
                          std::to_string(g.inputs().size()));
    const Type& t = g.type(g.inputs()[i]);
    if (!std::holds_alternative<TensorType>(t) && !std::holds_alternative<SparseType>(t))
      throw ArgumentError("input \"" + g.input_names[i] + "\" of graph \"" + g.name + "\" is donated, but a " +
                          to_string(t) + " has no memory that a result could take");
    for (std::size_t a = first[i]; a < first[i + 1]; ++a) out.push_back(a);
  }
  return out;
}

}  // namespace

Program compile_program(const Graph& hir, const Registry& registry, const Target& target,
                        std::span<const KernelRecord> records, const CompileOptions& given) {
  CompileOptions options = given;
  options.fuse = given.fuse && !given.check_numerics;  // A check of every node needs every node's result in memory.
  options.recognise = given.recognise && !given.check_numerics;
  verify(hir, Level::hir);
  const std::vector<std::size_t> donated = donated_arrays(hir, options.donated);
  Graph rows = hir;
  DispatchReport report = compile::open_rows(rows, target, options);
  if (target.takes == Takes::graphs)
    compile::refuse_program(std::move(report), "native",
                            target.device + " takes graphs, and no pass cuts subgraphs of MIR for it");
  if (options.recognise) {
    compile::recognise(rows, registry, target, records, options, report);
    verify(rows, Level::hir);
  }
  compile::BoundedGraph bounded{std::move(rows)};
  if (!target.interprets()) {
    const SizeNodes sizes = size_nodes(hir);
    refuse_symbols(hir, Graph::top, sizes);
    if (!sizes.empty()) {
      bounded = compile::bound_sizes(bounded.graph, registry, target, options, report);
      verify(bounded.graph, Level::hir);
    }
  }
  Graph mir = compile::dispatch(bounded.graph, registry, target, records, options, report);
  for (const auto& [row, why] : bounded.refused) {
    report.rows.at(static_cast<std::size_t>(row)).path = Path::unresolved;
    report.rows[static_cast<std::size_t>(row)].refusals.push_back({"sizes", why});
  }
  if (report.unresolved()) throw CompileError(std::move(report));
  verify(mir, Level::mir, target.storage);
  compile::note_widening(mir, target, report);
  Program p{std::move(mir), Graph(hir.name), {}, 0, std::move(bounded.sizes)};
  if (!target.interprets()) {
    compile::check_byte_sizes(p.mir);
    compile::Lowered lowered = compile::lower(p.mir, registry, target, records, options, report);
    p.lir = std::move(lowered.program);
    const auto check = [&](const std::optional<compile::MemoryPlan>& plan) {
      verify(p.lir, Level::lir);
      compile::verify_program(p.lir, target, lowered.sources, report, plan);
    };
    check({});
    compile::elide_copies(p.lir);
    check({});
    if (!donated.empty()) {
      std::vector<ValueId> inputs;
      for (std::size_t i : donated) inputs.push_back(p.lir.inputs()[i]);
      compile::reuse_donated(p.lir, inputs, report);
      check({});
    }
    if (options.fuse) compile::fuse_calls(p.lir, target, registry, records, report);
    check({});
    p.arena_bytes = compile::plan_memory(p.lir, target);
    check(compile::MemoryPlan{p.arena_bytes});
    compile::check_slab_limits(p.lir, target, p.arena_bytes, report);
    compile::report_steps(p.lir, p.mir, lowered.sources, records, report);
  }
  if (target.interprets())
    for (std::size_t i : options.donated)
      report.donations.push_back({p.mir.input_names[i], {}, 0, "a device that interprets makes every result anew"});
  report.arena_bytes = p.arena_bytes;
  p.report = std::move(report);
  return p;
}

}  // namespace rlx
