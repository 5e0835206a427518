// Branches and checks of kernel bodies.
#include "compile/emit_llvm/costs.hpp"
#include "compile/emit_llvm/kernel.hpp"

#include <rlx/ir/op.hpp>

namespace rlx::emit_llvm {

void incoming(const Val& phi, const Val& x, LLVMBasicBlockRef from) {
  Ir::incoming(phi.re, x.re, from);
  if (phi.im) Ir::incoming(phi.im, x.im, from);
}

Val Kernel::phi_like(const Val& x) {
  Val p{x.dtype, ir_.phi(x.re.type())};
  if (x.im) p.im = ir_.phi(x.im.type());
  return p;
}

Val Kernel::merge(V condition, const Val& yes, const Val& no) const {
  Val a = yes, b = no;
  const bool scalar = Ir::lanes(condition.type()) == 1 && is_scalar(a) && is_scalar(b);
  if (!scalar) {
    a = widened(a);
    b = widened(b);
  }
  Val r{a.dtype, select(condition, a.re, b.re)};
  if (a.im) r.im = select(condition, a.im, b.im);
  return r;
}

/// Whether evaluating the region always is harmless and cheaper than a branch.
bool Kernel::is_cheap(RegionId r, double& cost) const {
  for (NodeId id : g_.region(r).nodes) {
    const Node& n = g_.node(id);
    const std::string_view op = n.op->name();
    if (op.starts_with("lir.")) return false;
    cost += node_cost(g_, n);
  }
  return cost <= 24;
}

void Kernel::if_then(const Node& n) {
  const Val predicate = value(n.operands[0]);
  double cost = 0;
  if (is_cheap(n.regions[0], cost) && is_cheap(n.regions[1], cost)) {
    const std::vector<Val> yes = region(n.regions[0], {}), no = region(n.regions[1], {});
    for (std::size_t k = 0; k < yes.size(); ++k) define(n.results[k], merge(predicate.re, yes[k], no[k]));
    return;
  }
  if (is_scalar(predicate)) {
    const LLVMBasicBlockRef blocks[] = {ir_.block("yes"), ir_.block("no")};
    const LLVMBasicBlockRef join = ir_.block("join");
    ir_.branch(predicate.re, blocks[0], blocks[1]);
    std::vector<Val> results[2];
    LLVMBasicBlockRef ends[2];
    for (int side = 0; side < 2; ++side) {
      ir_.at(blocks[side]);
      results[side] = region(n.regions[static_cast<std::size_t>(side)], {});
      ends[side] = ir_.here();
    }
    for (int side = 0; side < 2; ++side) {
      ir_.at(ends[side]);
      for (std::size_t k = 0; k < results[side].size(); ++k) {
        const Val& other = results[1 - side][k];
        if (!is_scalar(results[side][k]) || !is_scalar(other)) results[side][k] = widened(results[side][k]);
      }
      ir_.jump(join);
    }
    ir_.at(join);
    for (std::size_t k = 0; k < n.results.size(); ++k) {
      const Val p = phi_like(results[0][k]);
      for (int side = 0; side < 2; ++side) incoming(p, results[side][k], ends[side]);
      define(n.results[k], p);
    }
    return;
  }
  // Lanes differ: each side runs under its mask, if it has a lane at all.
  const V outside = mask_;
  std::vector<Val> results[2];
  for (int side = 0; side < 2; ++side) {
    const RegionId r = n.regions[static_cast<std::size_t>(side)];
    const Region& body = g_.region(r);
    if (body.nodes.empty() && body.results.empty()) continue;
    const V here = side == 0 ? predicate.re : ~predicate.re;
    const V mask = outside ? outside & here : here;
    const V some = any(mask);
    const LLVMBasicBlockRef before = ir_.here(), run = ir_.block("side"), join = ir_.block("side.done");
    ir_.branch(some, run, join);
    ir_.at(run);
    mask_ = mask;
    std::vector<Val> ran = region(r, {});
    for (Val& x : ran) x = widened(x);
    mask_ = outside;
    const LLVMBasicBlockRef end = ir_.here();
    ir_.jump(join);
    ir_.at(join);
    for (const Val& x : ran) {
      const Val p = phi_like(x);
      Val nothing{x.dtype, ir_.zero(x.re.type())};
      if (x.im) nothing.im = ir_.zero(x.im.type());
      incoming(p, nothing, before);
      incoming(p, x, end);
      results[side].push_back(p);
    }
  }
  for (std::size_t k = 0; k < n.results.size(); ++k)
    define(n.results[k], merge(predicate.re, results[0][k], results[1][k]));
}

void Kernel::check(NodeId id, const Node& n) {
  Val condition = value(n.operands[0]);
  const Val at = value(n.operands[1]);
  const bool scalar = is_scalar(condition);
  V bad = ~condition.re;
  if (!scalar && mask_) bad = bad & mask_;
  const V some = any(bad);
  const LLVMBasicBlockRef report = ir_.block("refused"), done = ir_.block("checked");
  ir_.branch(some, report, done);
  ir_.at(report);
  V lane = ir_.integer(ir_.i32, 0);
  if (!scalar || (mask_ && !is_scalar(at))) {
    // The first lane that is active and refused.
    V which = scalar ? mask_ : bad;
    const LLVMTypeRef bits = LLVMIntTypeInContext(ir_.c, static_cast<unsigned>(lanes_));
    const V word = ir_.wrap(LLVMBuildBitCast(ir_.b, which.v, bits, ""));
    lane = resize_unsigned(ir_.intrinsic("llvm.cttz", {bits}, {word, ir_.integer(ir_.i1, 1)}), ir_.i32);
    if (lanes_ > 32) lane = resize_unsigned(lane, ir_.i32);
  }
  const V offending = is_scalar(at) ? at.re : ir_.lane(wide(at), lane);
  const V point = point_ + resize_unsigned(lane, ir_.i64);
  LLVMTypeRef parameters[] = {ir_.ptr, ir_.i64, ir_.i64, ir_.i64};
  const LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(ir_.c), parameters, 4, 0);
  const V fail = ir_.wrap(LLVMBuildLoad2(ir_.b, ir_.ptr, check_.v, ""));
  const V arguments[] = {check_, ir_.integer(ir_.i64, checks_of_body_.at(id)), offending, point};
  ir_.call(type, fail.v, arguments);
  ir_.jump(done);
  ir_.at(done);
}

}  // namespace rlx::emit_llvm
