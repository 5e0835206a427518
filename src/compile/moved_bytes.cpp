#include "compile/moved_bytes.hpp"

#include "compile/lir/effects.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace rlx::compile {
namespace {

// How many elements of its buffers one step touches, at most; infinite where that depends on what it computes.
struct Touched {
  std::map<ValueId, double> read, written;  // By the buffer or view that the step names.
};

// A kernel's body, executed so many times.
class BodyCount {
 public:
  BodyCount(const Graph& g, const Node& kernel, Touched& out) : g_(g), out_(out) {
    const auto arguments = lir::buffer_arguments(g, kernel);
    for (std::size_t i = 0; i < arguments.size(); ++i) operand_[arguments[i]] = kernel.operands[i];
  }

  void region(RegionId r, double times) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      const std::string_view op = n.op->name();
      if (op == "lir.load" || op == "lir.store") access(n, op == "lir.store", times);
      const double inside = (op == "lir.for" || op == "lir.reduce") && times > 0 ? times * trips(n) : times;
      for (RegionId inner : n.regions) region(inner, inside);
    }
  }

 private:
  void access(const Node& n, bool store, double times) {
    const auto it = operand_.find(n.operands[0]);
    if (it == operand_.end()) return;  // Local memory.
    if (store) out_.written[it->second] += times;
    else if (!out_.written.contains(it->second)) out_.read[it->second] += times;  // Else what it has put there itself.
  }

  double trips(const Node& loop) const {
    const std::optional<double> lower = number(loop.operands[0]), upper = number(loop.operands[1]);
    if (!lower || !upper) return HUGE_VAL;
    const auto* a = loop.attrs.get_if<lir::ForAttrs>();
    return std::max(0.0, std::ceil((*upper - *lower) / (a ? static_cast<double>(a->step) : 1.0)));
  }
  std::optional<double> number(ValueId v) const {
    const NodeId n = g_.value(v).node;
    if (n < 0) return std::nullopt;
    if (const auto* size = g_.node(n).attrs.get_if<lir::SizeAttrs>()) return static_cast<double>(size->value);
    const auto* c = g_.node(n).attrs.get_if<ops::ConstantAttrs>();
    return c ? std::optional(c->value.get_f64(0)) : std::nullopt;
  }

  const Graph& g_;
  Touched& out_;
  std::map<ValueId, ValueId> operand_;  // By the body's argument.
};

Touched touched(const Graph& g, const Node& n) {
  Touched t;
  if (const auto* kernel = n.attrs.get_if<lir::KernelAttrs>()) {
    double points = 1;
    for (const auto* list : {&kernel->extents, &kernel->team})
      for (std::int64_t e : *list) points *= static_cast<double>(e);
    BodyCount(g, n, t).region(n.regions[0], points);
    return t;
  }
  const auto* call = n.attrs.get_if<lir::CallAttrs>();
  const std::size_t reads = call ? static_cast<std::size_t>(call->operands) : 1;  // Of a copy.
  for (std::size_t i = 0; i < n.operands.size(); ++i) (i < reads ? t.read : t.written)[n.operands[i]] = HUGE_VAL;
  return t;
}

}  // namespace

std::optional<double> moved_bytes(const Graph& g, std::span<const NodeId> step) {
  double bytes = 0;
  std::set<ValueId> made, written;  // By earlier parts: memory; buffers that count already.
  const auto add = [&](ValueId v, double elements) {
    const auto* t = std::get_if<TensorType>(&g.type(v));
    if (!t) return;  // A resource.
    const NodeId maker = g.value(lir::root(g, v)).node;
    const auto* buffer = maker < 0 ? nullptr : g.node(maker).attrs.get_if<lir::BufferAttrs>();
    if (buffer && buffer->lifetime == lir::Lifetime::piecewise) return;
    const std::int64_t count = t->numel().constant();
    bytes += static_cast<double>(
        byte_size(t->dtype, elements < static_cast<double>(count) ? static_cast<std::int64_t>(elements) : count));
  };
  for (NodeId id : step) {
    const Node& n = g.node(id);
    if (!n.regions.empty() && !n.attrs.get_if<lir::KernelAttrs>()) return std::nullopt;
    const Touched t = touched(g, n);
    for (const auto& [v, elements] : t.read)
      if (!made.contains(lir::root(g, v))) add(v, elements);
    for (const auto& [v, elements] : t.written) {
      if (written.insert(v).second) add(v, elements);
      made.insert(lir::root(g, v));
    }
  }
  return bytes;
}

}  // namespace rlx::compile
