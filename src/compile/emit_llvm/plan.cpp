#include "compile/emit_llvm/plan.hpp"

#include "compile/emit_llvm/costs.hpp"
#include "compile/emit_llvm/lane_forms.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace rlx::emit_llvm {

void refuse(std::string_view op, const std::string& why) {
  throw DeviceError("emit_llvm", 0, "code for " + std::string(op) + ": " + why);
}

namespace {

/// What a kernel's body holds, the regions in it included.
struct BodyFacts {
  int widest = 8;  ///< Bits of what it computes with, addresses aside.
  bool stores_nibbles = false;
  std::size_t nested = 0;  ///< Nodes in the regions of its nodes.
};

void add_facts(const Graph& g, RegionId r, BodyFacts& facts) {
  const auto computes = [&](ValueId v) {
    const DType t = real_of(g.tensor_type(v).dtype);
    facts.widest = std::max(facts.widest, is_floating(t) ? std::max(32, bit_width(t)) : bit_width(t));
  };
  for (NodeId id : g.region(r).nodes) {
    const Node& n = g.node(id);
    for (RegionId inner : n.regions) {
      facts.nested += g.region(inner).nodes.size();
      add_facts(g, inner, facts);
    }
    const std::string_view op = n.op->name();
    if (op == "lir.load") computes(n.results[0]);
    else if (op == "lir.store") {
      computes(n.operands[2]);
      facts.stores_nibbles |= g.tensor_type(n.operands[2]).dtype == DType::i4;
    } else
      for (ValueId v : n.results)
        if (g.tensor_type(v).dtype != DType::i64) computes(v);
  }
}

/// Whether some access runs across rows along the last dimension and along them in the dimension before: a
/// transposition. Running a few positions of that dimension for each vector uses whole cache lines.
bool wants_tile(const Graph& g, RegionId body, const LaneForms& last, const LaneForms& before) {
  for (NodeId id : g.region(body).nodes) {
    const Node& n = g.node(id);
    if (!n.regions.empty()) return false;
    if (n.op->name() != "lir.load" && n.op->name() != "lir.store") continue;
    const LaneForm along = last.of(n.operands[1]), across = before.of(n.operands[1]);
    if (along.kind == LaneForm::Kind::linear && std::abs(along.stride) > 1 && across.kind == LaneForm::Kind::linear &&
        std::abs(across.stride) == 1)
      return true;
  }
  return false;
}

/// Where a kernel operand's memory comes from.
struct Root {
  ValueId value;
  std::int64_t offset = 0, bytes = 0;        ///< Within the root value.
  const lir::BufferAttrs* buffer = nullptr;  ///< Null: the caller's memory.
};

Root root_of(const Graph& g, ValueId v) {
  const TensorType& t = g.tensor_type(v);
  Root r{v, 0, is_constant(Type(t)) ? byte_size(t.dtype, t.numel().constant()) : -1};
  while (g.value(r.value).node >= 0) {
    const Node& n = g.node(g.value(r.value).node);
    if (const auto* view = n.attrs.get_if<lir::ViewAttrs>()) {
      r.value = n.operands[0];
      r.offset += byte_size(g.tensor_type(r.value).dtype, view->offset);
    } else {
      r.buffer = n.attrs.get_if<lir::BufferAttrs>();
      break;
    }
  }
  return r;
}

bool are_disjoint(const Root& a, const Root& b) {
  auto apart = [](std::int64_t x, std::int64_t nx, std::int64_t y, std::int64_t ny) {
    return nx >= 0 && ny >= 0 && (x + nx <= y || y + ny <= x);
  };
  if (a.value == b.value) return apart(a.offset, a.bytes, b.offset, b.bytes);
  if (!a.buffer && !b.buffer) return false;  // two arrays of the caller, who may have donated one
  if (!a.buffer || !b.buffer) return true;
  if (a.buffer->lifetime != b.buffer->lifetime || a.buffer->lifetime == lir::Lifetime::constant) return true;
  if (a.buffer->offset < 0 || b.buffer->offset < 0) return false;  // not planned: nothing is known
  if (a.buffer->slab != b.buffer->slab) return true;
  return apart(a.buffer->offset + a.offset, a.bytes, b.buffer->offset + b.offset, b.bytes);
}

// Lanes of a register for what the kernel computes with.
int natural_lanes(const BodyFacts& facts, const Machine& machine) {
  if (machine.isa == Isa::generic || facts.stores_nibbles) return 1;
  return std::min(machine.vector_bits() / facts.widest, 32);
}

// What shapes the code: lanes, tiles, and which inner loops take lanes. Gives the cycles of a position of it, as far as
// the code knows the sizes.
double choose_lanes(const Graph& g, RegionId body, const BodyFacts& facts, int natural, KernelPlan& p) {
  const Costs costs(g, natural, false);
  std::unordered_map<NodeId, int> inner;
  const double inner_cost = costs.scalar_cost(body, inner);
  const auto in_loops = [&] {
    p.loop_lanes = std::move(inner);
    return inner_cost;
  };
  if (natural == 1 || p.last <= 1) return in_loops();
  LaneForms forms(g, body, g.region(body).arguments[p.outer.size()]);
  const double fill = costs.filled(p.last);
  const double outer_cost = costs.vector_cost(body, forms, fill);
  if (outer_cost > inner_cost) return in_loops();
  p.lanes = costs.lanes_for(p.last);
  // Small bodies: two registers a value hide latency and halve the loop's own cost.
  if (p.lanes == natural && natural <= 16) {
    // Loops over rows: several vectors side by side read longer pieces of each row and add in parallel.
    // Vectors of half a cache line go in pairs besides: each line is then asked for once.
    const bool half_line = natural * facts.widest < 512;
    const int wider = facts.nested == 0    ? (outer_cost * fill < 16 || half_line ? 2 : 1)
                      : facts.nested <= 10 ? 8
                      : facts.nested <= 20 ? 4
                                           : 1;
    if (p.last >= 4 * wider * natural) p.lanes *= wider;
  }
  if (p.outer.size() > 0 && p.last >= natural && !p.piecewise &&
      wants_tile(g, body, forms, LaneForms(g, body, g.region(body).arguments[p.outer.size() - 1])))
    p.tile = std::max<std::int64_t>(1, 64 * 8 / facts.widest);
  if (p.outer.size() > 1) p.tile = std::clamp<std::int64_t>(p.outer.back(), 1, p.tile);
  p.forms = std::move(forms);
  return outer_cost;
}

// Cycles of a position, of the code that has been chosen, at the sizes of this program.
double cost_at_sizes(const Graph& g, RegionId body, int natural, const KernelPlan& p) {
  const Costs costs(g, natural, true);
  std::unordered_map<NodeId, int> chosen;
  return p.lanes == 1 ? costs.scalar_cost(body, chosen) : costs.vector_cost(body, p.forms, costs.filled(p.last));
}

// Units: enough of them for many threads, each worth some microseconds, none depending on how many threads there are.
// `cost`: cycles of a position.
void divide_work(double cost, KernelPlan& p) {
  std::int64_t outer = 1;
  for (std::int64_t e : p.outer) outer *= e;
  const auto worth = static_cast<std::int64_t>(std::max(1.0, 16384.0 / std::max(cost, 0.05)));
  const std::int64_t wanted = (p.last * outer + 255) / 256;
  std::int64_t block = std::clamp(wanted, std::min<std::int64_t>(worth, 65536), std::max<std::int64_t>(worth, 65536));
  block = (block + 63) / 64 * 64;
  if (p.lanes == 1) block = std::min(block, std::max<std::int64_t>(worth, 1));
  p.block = std::max<std::int64_t>(1, p.piecewise ? lir::piece_elements : block);
  if (p.lanes > 1) p.block = (p.block + p.lanes - 1) / p.lanes * p.lanes;
  if (!p.cut) p.block = std::max<std::int64_t>(1, p.last);
  p.blocks = p.last ? (p.last + p.block - 1) / p.block : 0;
  p.units = outer * p.blocks;
  if (p.tile > 1 && p.outer.back())
    p.units = outer / p.outer.back() * ((p.outer.back() + p.tile - 1) / p.tile) * p.blocks;
  const double unit_cost = cost * static_cast<double>(std::min(p.block, p.last) * p.tile) + 10.0;
  p.grain = std::max<std::int64_t>({1, static_cast<std::int64_t>(32768.0 / unit_cost), p.units / 1024});
}

}  // namespace

KernelPlan plan_kernel(const Graph& g, NodeId id, const Machine& machine) {
  // Rows of up to so many points, each of a few operators, are units of their own, whatever else the kernel has.
  constexpr std::int64_t short_row = 64;
  const Node& n = g.node(id);
  KernelPlan p;
  p.node = id;
  p.attrs = &n.attrs.as<lir::KernelAttrs>();
  if (p.attrs->policy == lir::Policy::team)
    refuse(p.attrs->name, "the team policy has no code on the host: target.max_team_threads is 1");
  p.piecewise = lir::is_prologue(g, n);
  const RegionId body = n.regions[0];
  if (!p.attrs->extents.empty()) {
    p.outer.assign(p.attrs->extents.begin(), p.attrs->extents.end() - 1);
    p.last = p.attrs->extents.back();
  }
  BodyFacts facts;
  add_facts(g, body, facts);
  p.cut = p.attrs->extents.size() == 1 || p.last > short_row || facts.nested > 0;
  const int natural = natural_lanes(facts, machine);
  const std::vector<NodeId> sizes = lir::sizes(g, n);
  const double cost = choose_lanes(g, body, facts, natural, p);
  divide_work(sizes.empty() ? cost : cost_at_sizes(g, body, natural, p), p);
  p.sizes = {p.attrs->extents.empty() ? 1 : p.attrs->extents.front(), p.block, p.blocks};
  for (NodeId size : sizes) p.sizes.push_back(g.node(size).attrs.as<lir::SizeAttrs>().value);

  std::vector<Root> roots;
  for (ValueId v : n.operands) roots.push_back(root_of(g, v));
  p.disjoint.assign(roots.size(), std::vector<bool>(roots.size(), false));
  for (std::size_t i = 0; i < roots.size(); ++i)
    for (std::size_t j = 0; j < roots.size(); ++j) p.disjoint[i][j] = i != j && are_disjoint(roots[i], roots[j]);
  return p;
}

ProgramPlan::ProgramPlan(const Graph& lir, const Machine& machine) : lir_(lir), machine_(machine) {
  for (NodeId id : lir::kernels(lir)) kernels_.push_back(plan_kernel(lir, id, machine));
}
ProgramPlan::~ProgramPlan() = default;

std::vector<KernelInfo> kernel_infos(const ProgramPlan& plan) {
  std::vector<KernelInfo> all;
  for (const KernelPlan& p : plan.kernels()) {
    KernelInfo k{p.attrs->name, p.units, p.grain, p.lanes, 0, p.last, p.sizes, {}};
    if (p.tile == 1 && p.blocks) k.rows = p.units / p.blocks;
    for (NodeId check : lir::checks(plan.lir(), plan.lir().node(p.node)))
      k.checks.push_back(plan.lir().node(check).attrs.as<lir::CheckAttrs>());
    all.push_back(std::move(k));
  }
  return all;
}

}  // namespace rlx::emit_llvm
