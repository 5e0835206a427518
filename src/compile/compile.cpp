// The passes from HIR to a planned LIR program, each followed by its checks.
#include <rlx/compile/compile.hpp>

#include "compile/dispatch.hpp"
#include "compile/elide_copies.hpp"
#include "compile/fuse_calls.hpp"
#include "compile/lir/verify_program.hpp"
#include "compile/lower/lower.hpp"
#include "compile/plan_memory.hpp"

#include <rlx/ir/verify.hpp>

namespace rlx {

namespace {

std::vector<std::string> free_symbols(const Type& t) {
  Shape dimensions;
  if (const auto* x = std::get_if<TensorType>(&t)) dimensions = x->shape;
  else if (const auto* s = std::get_if<SparseType>(&t)) {
    dimensions = s->shape;
    dimensions.push_back(s->entries);
  }
  for (const Dim& d : dimensions)
    if (!d.is_constant()) return d.symbols();
  return {};
}

void refuse_symbols(const Graph& g, RegionId r) {
  const auto refuse = [&](ValueId v) {
    const std::vector<std::string> symbols = free_symbols(g.type(v));
    if (symbols.empty()) return;
    throw ArgumentError("symbol \"" + symbols[0] + "\" of graph \"" + g.name + "\" has no value: a value of it is " +
                        to_string(g.type(v)) + ", and programs have constant shapes");
  };
  for (ValueId v : g.region(r).arguments) refuse(v);
  for (NodeId id : g.region(r).nodes) {
    for (ValueId v : g.node(id).results) refuse(v);
    for (RegionId inner : g.node(id).regions) refuse_symbols(g, inner);
  }
}

}  // namespace

Program compile_program(const Graph& hir, const Registry& registry, const Target& target,
                        std::span<const KernelRecord> records, const CompileOptions& given) {
  CompileOptions options = given;
  options.fuse = given.fuse && !given.check_numerics;  // A check of every node needs every node's result in memory.
  verify(hir, Level::hir);
  if (!target.interprets) refuse_symbols(hir, Graph::top);
  compile::Dispatched d = compile::dispatch(hir, registry, target, records, options);
  verify(d.mir, Level::mir);
  Program p{std::move(d.mir), Graph(hir.name), {}, 0};
  if (!target.interprets) {
    const auto check = [&](const std::optional<compile::MemoryPlan>& plan) {
      verify(p.lir, Level::lir);
      compile::verify_program(p.lir, target, d.report, plan);
    };
    p.lir = compile::lower(p.mir, registry, target, records, options, d.report);
    check({});
    compile::elide_copies(p.lir, d.report);
    check({});
    if (options.fuse) compile::fuse_calls(p.lir, target, registry, records, d.report);
    check({});
    p.arena_bytes = compile::plan_memory(p.lir, target);
    check(compile::MemoryPlan{p.arena_bytes});
  }
  d.report.arena_bytes = p.arena_bytes;
  p.report = std::move(d.report);
  return p;
}

}  // namespace rlx
