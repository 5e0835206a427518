// Loops and reductions of kernel bodies.
#include "compile/emit_llvm/costs.hpp"
#include "compile/emit_llvm/elementwise.hpp"
#include "compile/emit_llvm/kernel.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace rlx::emit_llvm {

namespace {
// What a loop carries, as one block hands it on.
struct Edge {
  const std::vector<Val>& values;
  LLVMBasicBlockRef from;
};
void complete(const std::vector<Val>& phis, const Edge& entry, const Edge& latch) {
  for (std::size_t k = 0; k < phis.size(); ++k)
    for (const Edge* e : {&entry, &latch}) incoming(phis[k], e->values[k], e->from);
}
}  // namespace

Val Kernel::carried_form(const Val& x, ValueId argument) const {
  Val y = lanes_ > 1 && !forms_.of(argument).is_uniform() ? widened(x) : x;
  y.factor_a = y.factor_b = {};
  y.non_negative = false;
  return y;
}

std::vector<Val> Kernel::carried_loop(V from, V to, std::int64_t step, std::vector<Val> carried, const LoopBody& body) {
  const LLVMBasicBlockRef before = ir_.here(), head = ir_.block("loop"), done = ir_.block("done");
  ir_.branch(lt(from, to), head, done);
  ir_.at(head);
  const V i = ir_.phi(from.type());
  std::vector<Val> phis;
  for (const Val& x : carried) phis.push_back(phi_like(x));
  std::vector<Val> next = body(i, phis);
  const V after = ir_.wrap(LLVMBuildNSWAdd(ir_.b, i.v, ir_.integer(from.type(), step).v, ""));
  for (std::size_t k = 0; k < next.size(); ++k)
    if (Ir::lanes(next[k].re.type()) != Ir::lanes(phis[k].re.type()) || next[k].stride) next[k] = widened(next[k]);
  const LLVMBasicBlockRef latch = ir_.here();
  Ir::incoming(i, from, before);
  Ir::incoming(i, after, latch);
  ir_.branch(lt(after, to), head, done);
  ir_.at(done);
  std::vector<Val> results;
  for (const Val& x : carried) results.push_back(phi_like(x));
  for (const auto* p : {&phis, &results}) complete(*p, {carried, before}, {next, latch});
  return results;
}

std::vector<Val> Kernel::ragged_loop(V from, V to, std::int64_t step, std::vector<Val> carried, const LoopBody& body) {
  const V outside = mask_;
  const V first = mask_ ? mask_ & lt(from, to) : lt(from, to);
  const LLVMBasicBlockRef before = ir_.here();
  const V some = any(first);
  const LLVMBasicBlockRef head = ir_.block("ragged"), done = ir_.block("ragged.done");
  ir_.branch(some, head, done);
  ir_.at(head);
  const V i = ir_.phi(from.type()), active = ir_.phi(first.type());
  std::vector<Val> phis;
  for (const Val& x : carried) phis.push_back(phi_like(x));
  mask_ = active;
  std::vector<Val> next = body(i, phis);
  for (std::size_t k = 0; k < next.size(); ++k) next[k] = merge(active, next[k], phis[k]);
  mask_ = outside;
  const V after = i + static_cast<double>(step);
  const V still = active & lt(after, to);
  const V more = any(still);
  const LLVMBasicBlockRef latch = ir_.here();
  for (auto [phi, x, y] : {std::array{i, from, after}, std::array{active, first, still}}) {
    Ir::incoming(phi, x, before);
    Ir::incoming(phi, y, latch);
  }
  ir_.branch(more, head, done);
  ir_.at(done);
  std::vector<Val> results;
  for (const Val& x : carried) results.push_back(phi_like(x));
  for (const auto* p : {&phis, &results}) complete(*p, {carried, before}, {next, latch});
  return results;
}

void Kernel::for_loop(NodeId id, const Node& n) {
  const auto& attrs = n.attrs.as<lir::ForAttrs>();
  const Val lower = value(n.operands[0]), upper = value(n.operands[1]);
  const Region& body = g_.region(n.regions[0]);
  const auto chosen = plan_.loop_lanes.find(id);
  if (chosen != plan_.loop_lanes.end() && lanes_ == 1) {
    const auto low = constant_i64(g_, n.operands[0]), high = constant_i64(g_, n.operands[1]);
    forms_ = LaneForms(g_, n.regions[0], body.arguments[0]);
    vector_range(
        lower.re, upper.re, chosen->second, low && high ? std::max<std::int64_t>(0, *high - *low) : -1,
        [&](const Val& i) {
          Val x = i;
          x.non_negative = lower.non_negative;
          region(n.regions[0], std::span<const Val>(&x, 1));
        },
        2);
    return;
  }
  std::vector<Val> carried;
  for (std::size_t k = 2; k < n.operands.size(); ++k)
    carried.push_back(carried_form(value(n.operands[k]), body.arguments[k - 1]));
  const LoopBody trip = [&](V i, std::span<const Val> state) {
    std::vector<Val> arguments{index(i)};
    arguments[0].non_negative = lower.non_negative;
    arguments.insert(arguments.end(), state.begin(), state.end());
    return region(n.regions[0], arguments);
  };
  const bool even = is_scalar(lower) && is_scalar(upper);
  const std::vector<Val> results = even ? carried_loop(lower.re, upper.re, attrs.step, carried, trip)
                                        : ragged_loop(wide(lower), wide(upper), attrs.step, carried, trip);
  for (std::size_t k = 0; k < results.size(); ++k) define(n.results[k], results[k]);
}

std::vector<Val> Kernel::combine(const Node& n, std::span<const Val> a, std::span<const Val> b) {
  std::vector<Val> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  return region(n.regions[1], both);
}

void Kernel::reduce(NodeId id, const Node& n) {
  const auto chosen = plan_.loop_lanes.find(id);
  const bool takes_lanes = chosen != plan_.loop_lanes.end() && lanes_ == 1;
  const std::vector<Val> results = !takes_lanes                  ? term_after_term(n)
                                   : by_entries(g_, n, machine_) ? segment_reduce(n)
                                                                 : vector_reduce(n, chosen->second);
  for (std::size_t k = 0; k < results.size(); ++k) define(n.results[k], results[k]);
}

std::vector<Val> Kernel::term_after_term(const Node& n) {
  const Val lower = value(n.operands[0]), upper = value(n.operands[1]);
  const Region& pair = g_.region(n.regions[1]);
  std::vector<Val> identity;
  for (std::size_t k = 2; k < n.operands.size(); ++k)
    identity.push_back(carried_form(value(n.operands[k]), pair.arguments[k - 2]));
  const LoopBody trip = [&](V i, std::span<const Val> sum) {
    Val at = index(i);
    at.non_negative = lower.non_negative;
    return combine(n, sum, region(n.regions[0], std::span<const Val>(&at, 1)));
  };
  const bool even = is_scalar(lower) && is_scalar(upper);
  return even ? carried_loop(lower.re, upper.re, 1, identity, trip)
              : ragged_loop(wide(lower), wide(upper), 1, identity, trip);
}

// A short segment is over before several sums, and what combines them, would pay.
std::vector<Val> Kernel::segment_reduce(const Node& n) {
  constexpr double short_segment = 16;
  const V lower = value(n.operands[0]).re, upper = value(n.operands[1]).re;
  ask_ahead(n.regions[0], lower);
  const LLVMBasicBlockRef blocks[] = {ir_.block("segment.short"), ir_.block("segment.long")};
  const LLVMBasicBlockRef join = ir_.block("segment.done");
  ir_.branch(lt(upper - lower, short_segment), blocks[0], blocks[1]);
  std::vector<Val> sums[2];
  LLVMBasicBlockRef ends[2];
  for (int side = 0; side < 2; ++side) {
    ir_.at(blocks[side]);
    sums[side] = side == 0 ? term_after_term(n) : vector_reduce(n, 1);
    ends[side] = ir_.here();
    ir_.jump(join);
  }
  ir_.at(join);
  std::vector<Val> results;
  for (std::size_t k = 0; k < sums[0].size(); ++k) {
    results.push_back(phi_like(sums[0][k]));
    for (int side = 0; side < 2; ++side) incoming(results[k], sums[side][k], ends[side]);
  }
  return results;
}

// `sets` independent sums of `lanes` lanes each, combined by fixed trees: the shape depends on the trip count and the
// instruction level and on nothing else.
std::vector<Val> Kernel::vector_reduce(const Node& n, int lanes) {
  const V lower = value(n.operands[0]).re, upper = value(n.operands[1]).re;
  const bool non_negative = value(n.operands[0]).non_negative;
  const auto low = constant_i64(g_, n.operands[0]), high = constant_i64(g_, n.operands[1]);
  const std::int64_t known = low && high ? std::max<std::int64_t>(0, *high - *low) : -1;
  double cost = 0;
  for (NodeId k : g_.region(n.regions[0]).nodes) cost += g_.node(k).regions.empty() ? node_cost(g_, g_.node(k)) : 100.0;
  int sets = n.results.size() > 1 || cost > 12 ? 2 : 4;
  lanes_ = lanes;
  forms_ = LaneForms(g_, n.regions[0], g_.region(n.regions[0]).arguments[0]);
  // An address a lane takes longer than the sums' latency, which more sets would hide.
  if (lanes > 1 && (cost > 40 || gathers(g_, n))) sets = 1;
  while (sets > 1 && known >= 0 && known < static_cast<std::int64_t>(sets) * lanes) sets /= 2;
  // Segments of loaded bounds are short and lie one behind the other, so that the processor's own prefetchers, which
  // follow one loop, come too late: what lies ahead in memory is the next segments' data.
  ahead_ = has_loaded_bounds(g_, n) ? elements_ahead() : 0;
  const std::size_t width = n.results.size();
  std::vector<Val> sums;
  for (int s = 0; s < sets; ++s)
    for (std::size_t k = 2; k < n.operands.size(); ++k) {
      sums.push_back(widened(value(n.operands[k])));
      sums.back().factor_a = sums.back().factor_b = {};
    }
  auto terms = [&](V i) {
    Val at = index(i);
    at.stride = lanes > 1 ? 1 : 0;
    at.non_negative = non_negative;
    std::vector<Val> t = region(n.regions[0], std::span<const Val>(&at, 1));
    for (Val& x : t) x = widened(x);
    return t;
  };
  auto combined = [&](std::span<const Val> a, std::span<const Val> b) {
    std::vector<Val> c = combine(n, a, b);
    for (Val& x : c) {
      x = widened(x);
      x.factor_a = x.factor_b = {};
    }
    return c;
  };
  auto set = [&](std::span<const Val> all, int s) { return all.subspan(static_cast<std::size_t>(s) * width, width); };

  const std::int64_t step = static_cast<std::int64_t>(sets) * lanes;
  if (known < 0 || known >= step)
    sums =
        carried_loop(lower, upper - ir_.integer(ir_.i64, step - 1), step, sums, [&](V i, std::span<const Val> state) {
          std::vector<Val> next;
          for (int s = 0; s < sets; ++s) {
            turn_ = s;
            const std::vector<Val> t = terms(s ? i + ir_.integer(ir_.i64, static_cast<std::int64_t>(s) * lanes) : i);
            for (Val& x : combined(set(state, s), t)) next.push_back(x);
          }
          turn_ = 0;
          return next;
        });
  for (int half = sets / 2; half > 0; half /= 2) {
    std::vector<Val> fewer;
    for (int s = 0; s < half; ++s)
      for (Val& x : combined(set(sums, s), set(sums, s + half))) fewer.push_back(x);
    sums = std::move(fewer);
  }
  if (known < 0 || known % step) {
    const V count = upper - lower;
    const V done = select(lt(count, 0.0), 0.0, count);
    const V from = lower + (step == 1 ? done : bits_and(done, -step));
    sums = carried_loop(from, upper, lanes, sums, [&](V i, std::span<const Val> state) {
      if (lanes == 1) return combined(state, terms(i));
      mask_ = lanes_below(i, upper);
      const V mask = mask_;
      const std::vector<Val> t = terms(i);
      std::vector<Val> next = combined(state, t);
      for (std::size_t k = 0; k < width; ++k) next[k] = merge(mask, next[k], state[k]);
      mask_ = {};
      return next;
    });
  }
  ahead_ = 0;
  while (lanes_ > 1) {
    const int half = lanes_ / 2;
    std::vector<Val> left = sums, right = sums;
    for (std::size_t k = 0; k < width; ++k) {
      auto part = [&](V x, int from) { return x ? ir_.slice(x, from, half) : x; };
      left[k].re = part(sums[k].re, 0), left[k].im = part(sums[k].im, 0);
      right[k].re = part(sums[k].re, half), right[k].im = part(sums[k].im, half);
    }
    lanes_ = half;
    sums = combined(left, right);
  }
  return sums;
}

void Kernel::ask_ahead(RegionId terms, V from) {
  const Region& r = g_.region(terms);
  for (NodeId id : r.nodes) {
    const Node& n = g_.node(id);
    if (n.op->name() != "lir.load" || n.operands[1] != r.arguments[0]) continue;
    const KernelBufferRef& b = buffers_.at(n.operands[0]);
    const V at = address(b, storage_type(ir_, b.dtype), from + ir_.integer(ir_.i64, elements_ahead()));
    ir_.intrinsic("llvm.prefetch", {ir_.ptr},
                  {at, ir_.integer(ir_.i32, 0), ir_.integer(ir_.i32, 3), ir_.integer(ir_.i32, 1)});
  }
}

}  // namespace rlx::emit_llvm
