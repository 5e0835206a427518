#include "compile/row_access.hpp"

#include "compile/lir/effects.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace rlx::compile {
namespace {

/// A sum of kernel indices times constants.
struct Affine {
  std::vector<std::int64_t> factors;
  std::int64_t constant = 0;
  bool operator==(const Affine&) const = default;
  bool is_constant() const {
    return std::all_of(factors.begin(), factors.end(), [](std::int64_t f) { return f == 0; });
  }
};

class Indices {
 public:
  Indices(const Graph& g, const Region& body, std::size_t count) : g_(g), count_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      Affine a{std::vector<std::int64_t>(count, 0), 0};
      a.factors[i] = 1;
      known_[body.arguments[i]] = a;
    }
  }

  std::optional<Affine> of(ValueId v) {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    const NodeId id = g_.value(v).node;
    if (id < 0) return std::nullopt;
    const Node& n = g_.node(id);
    const std::string_view op = n.op->name();
    std::optional<Affine> out;
    if (const auto* c = n.attrs.get_if<ops::ConstantAttrs>()) {
      if (c->value.numel() == 1 && c->value.dtype() == DType::i64)
        out = Affine{std::vector<std::int64_t>(count_, 0), c->value.get_i64(0)};
    } else if (op == "add" || op == "sub" || op == "mul") {
      auto a = of(n.operands[0]), b = of(n.operands[1]);
      if (!a || !b) return std::nullopt;
      if (op == "mul") {
        if (a->is_constant()) std::swap(a, b);
        if (b->is_constant()) out = combined({std::vector<std::int64_t>(count_, 0), 0}, *a, b->constant);
      } else out = combined(*a, *b, op == "add" ? 1 : -1);
    }
    if (out) known_[v] = *out;
    return out;
  }

 private:
  static Affine combined(Affine a, const Affine& b, std::int64_t times) {
    for (std::size_t i = 0; i < a.factors.size(); ++i) a.factors[i] += times * b.factors[i];
    a.constant += times * b.constant;
    return a;
  }
  const Graph& g_;
  std::size_t count_;
  std::map<ValueId, Affine> known_;
};

/// Positions of the loads and stores of a kernel, as far as they are known; dimensions of extent 1 do not count.
struct KernelAccesses {
  struct One {
    bool store;
    ValueId buffer;  ///< The kernel's operand.
    std::optional<Affine> at;
  };
  std::vector<One> all;
  bool plain = true;  ///< No loops, no checks.
};

KernelAccesses kernel_accesses(const Graph& g, const Node& kernel) {
  const auto& extents = kernel.attrs.as<lir::KernelAttrs>().extents;
  const Region& body = g.region(kernel.regions[0]);
  const auto buffers = lir::buffer_arguments(g, kernel);
  Indices indices(g, body, extents.size());
  KernelAccesses out;
  for (NodeId id : body.nodes) {
    const Node& n = g.node(id);
    const std::string_view op = n.op->name();
    if (!n.regions.empty() || op == "lir.check") out.plain = false;
    if (op != "lir.load" && op != "lir.store") continue;
    const auto argument = std::find(buffers.begin(), buffers.end(), n.operands[0]);
    if (argument == buffers.end()) {  // local memory
      out.plain = false;
      continue;
    }
    const auto operand = static_cast<std::size_t>(argument - buffers.begin());
    std::optional<Affine> at = indices.of(n.operands[1]);
    for (std::size_t d = 0; at && d < extents.size(); ++d)
      if (extents[d] == 1) at->factors[d] = 0;
    out.all.push_back({op == "lir.store", kernel.operands[operand], std::move(at)});
  }
  return out;
}

Affine own_position(const std::vector<std::int64_t>& extents) {
  Affine own{std::vector<std::int64_t>(extents.size(), 1), 0};
  for (std::size_t d = extents.size(); d-- > 1;) own.factors[d - 1] = own.factors[d] * extents[d];
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] == 1) own.factors[d] = 0;
  return own;
}

}  // namespace

bool stores_own_position(const Graph& g, const Node& kernel, const Shape& shape) {
  const auto& a = kernel.attrs.as<lir::KernelAttrs>();
  if (a.policy != lir::Policy::mdrange || a.extents.empty() || a.extents != constant_shape(shape)) return false;
  const KernelAccesses all = kernel_accesses(g, kernel);
  const Affine own = own_position(a.extents);
  return all.plain && std::all_of(all.all.begin(), all.all.end(),
                                  [&](const KernelAccesses::One& x) { return !x.store || (x.at && *x.at == own); });
}

bool loads_own_position(const Graph& g, const Node& kernel, const Shape& shape, ValueId from) {
  if (!stores_own_position(g, kernel, shape)) return false;
  const Affine own = own_position(kernel.attrs.as<lir::KernelAttrs>().extents);
  const KernelAccesses all = kernel_accesses(g, kernel);
  return std::all_of(all.all.begin(), all.all.end(),
                     [&](const KernelAccesses::One& x) { return x.buffer != from || (x.at && *x.at == own); });
}

AlongRows loads_along_rows(const Graph& g, const Node& kernel) {
  AlongRows known = AlongRows::yes;
  for (const KernelAccesses::One& x : kernel_accesses(g, kernel).all) {
    if (x.store) continue;
    if (!x.at) known = AlongRows::unknown;
    else if (!x.at->factors.empty() && x.at->factors.back() != 0 && x.at->factors.back() != 1) return AlongRows::across;
  }
  return known;
}

}  // namespace rlx::compile
