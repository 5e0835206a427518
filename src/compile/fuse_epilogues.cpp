#include "compile/fuse_epilogues.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes.hpp>

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

class Fuser {
 public:
  Fuser(Graph& g, std::span<const KernelRecord> records, DispatchReport& report)
      : g_(g), records_(records), report_(report) {}

  void visit(RegionId r) {
    for (NodeId id : std::vector<NodeId>(g_.region(r).nodes)) {
      const std::string_view op = g_.node(id).op->name();
      if (op == "lir.while" || op == "lir.if")
        for (RegionId inner : std::vector<RegionId>(g_.node(id).regions)) visit(inner);
    }
    std::vector<NodeId>& steps = g_.region(r).nodes;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (g_.node(steps[i]).op->name() != "lir.call") continue;
      std::size_t k = i + 1;
      while (k < steps.size() && is_memory(g_.node(steps[k]))) ++k;
      if (k < steps.size() && takes(g_.node(steps[i]), g_.node(steps[k]))) fuse(steps, i, k);
    }
  }

 private:
  static bool is_memory(const Node& n) { return n.op->name() == "lir.buffer" || n.op->name() == "lir.view"; }
  ValueId root(ValueId v) const {
    for (NodeId d; (d = g_.value(v).node) >= 0 && g_.node(d).op->name() == "lir.view";) v = g_.node(d).operands[0];
    return v;
  }
  static std::size_t writes(const Node& kernel) {
    return static_cast<std::size_t>(kernel.attrs.as<lir::KernelAttrs>().writes);
  }

  bool takes(const Node& call, const Node& kernel) const {
    if (kernel.op->name() != "lir.kernel") return false;
    const auto& a = call.attrs.as<lir::CallAttrs>();
    const bool offers = std::any_of(records_.begin(), records_.end(), [&](const KernelRecord& r) {
      return r.name.value == a.record && r.op.value == a.op && r.epilogue;
    });
    if (!offers || call.operands.size() != static_cast<std::size_t>(a.operands) + 1) return false;
    const ValueId result = call.operands.back();
    const std::size_t reads = kernel.operands.size() - writes(kernel);
    bool reads_result = false;
    for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
      const ValueId v = kernel.operands[i];
      if (i < reads) reads_result = reads_result || v == result;
      if (i < reads ? v != result && root(v) == root(result) : root(v) == root(result)) return false;
      if (i >= reads)
        for (std::size_t o = 0; o + 1 < call.operands.size(); ++o)
          if (root(call.operands[o]) == root(v)) return false;
    }
    return reads_result && by_rows(kernel, result);
  }

  /// Every point of the kernel writes the element at its own position, in row-major order, and reads `result` there;
  /// and no access runs across rows, which would make its code run several rows at a time.
  bool by_rows(const Node& kernel, ValueId result) const {
    const auto& a = kernel.attrs.as<lir::KernelAttrs>();
    const Shape& shape = g_.tensor_type(result).shape;
    if (a.policy != lir::Policy::mdrange || a.extents != constant_shape(shape)) return false;
    const Region& body = g_.region(kernel.regions[0]);
    Indices indices(g_, body, a.extents.size());
    Affine own{std::vector<std::int64_t>(a.extents.size(), 1), 0};
    for (std::size_t d = a.extents.size(); d-- > 1;) own.factors[d - 1] = own.factors[d] * a.extents[d];
    for (std::size_t d = 0; d < a.extents.size(); ++d)
      if (a.extents[d] == 1) own.factors[d] = 0;
    const auto operand = [&](ValueId argument) {
      const auto at = std::find(body.arguments.begin(), body.arguments.end(), argument) - body.arguments.begin();
      return kernel.operands[static_cast<std::size_t>(at) - a.extents.size()];
    };
    for (NodeId id : body.nodes) {
      const Node& n = g_.node(id);
      const std::string_view op = n.op->name();
      if (!n.regions.empty() || op == "lir.check") return false;
      if (op != "lir.load" && op != "lir.store") continue;
      std::optional<Affine> at = indices.of(n.operands[1]);
      if (!at) return false;
      for (std::size_t d = 0; d < a.extents.size(); ++d)
        if (a.extents[d] == 1) at->factors[d] = 0;
      if ((op == "lir.store" || operand(n.operands[0]) == result) && at != own) return false;
      if (at->factors.back() != 0 && at->factors.back() != 1) return false;
    }
    return true;
  }

  void fuse(std::vector<NodeId>& steps, std::size_t call_at, std::size_t kernel_at) {
    Node& call = g_.node(steps[call_at]);
    Node& kernel = g_.node(steps[kernel_at]);
    auto attrs = call.attrs.as<lir::CallAttrs>();
    attrs.epilogue = kernel.attrs.as<lir::KernelAttrs>().name;
    if (!rename(call, attrs)) return;
    call.attrs = attrs;
    const ValueId result = call.operands.back(), out = kernel.operands.back();
    if (writes(kernel) != 1 || !is_fresh(result) || !is_fresh(out) || g_.type(result) != g_.type(out)) return;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (i != call_at && i != kernel_at) {
        const Node& n = g_.node(steps[i]);
        if (std::find(n.operands.begin(), n.operands.end(), result) != n.operands.end()) return;
        if (i < kernel_at && std::find(n.operands.begin(), n.operands.end(), out) != n.operands.end()) return;
        if (!n.regions.empty() && n.op->name() != "lir.kernel") return;  // may name buffers from outside
      }
    if (is_returned(result)) return;
    for (Node* n : {&call, &kernel})
      for (ValueId& v : n->operands)
        if (v == result) v = out;
    const NodeId unused = g_.value(result).node, buffer = g_.value(out).node;
    const auto at = std::find(steps.begin(), steps.end(), buffer),
               first = std::find(steps.begin(), steps.end(), unused);
    if (at == steps.end() || first == steps.end()) return;
    std::iter_swap(at, first);  // what is shared exists before the call
    steps.erase(std::find(steps.begin(), steps.end(), unused));
  }
  bool is_fresh(ValueId v) const {
    const NodeId d = g_.value(v).node;
    return d >= 0 && g_.node(d).op->name() == "lir.buffer" &&
           g_.node(d).attrs.as<lir::BufferAttrs>().lifetime != lir::Lifetime::constant;
  }
  bool is_returned(ValueId v) const {
    const std::vector<ValueId>& results = g_.region(g_.node(g_.value(v).node).parent).results;
    return std::find(results.begin(), results.end(), v) != results.end();
  }

  /// The call's step and the kernel's, which follows it, become one, also in the rows of the nodes that they came from.
  bool rename(const Node& call, const lir::CallAttrs& a) {
    const std::string &kernel = a.epilogue, both = lir::step_name(a);
    const auto step = std::find_if(report_.steps.begin(), report_.steps.end(),
                                   [&](const StepRow& s) { return s.kind == "kernel" && s.name == kernel; });
    if (step == report_.steps.begin() || step == report_.steps.end()) return false;
    const auto before = step - 1;
    if (before->kind != "call" || before->name != a.record) return false;
    before->name = both;
    before->kernel_operations += step->kernel_operations;
    report_.steps.erase(step);
    for (ReportRow& r : report_.rows) std::replace(r.steps.begin(), r.steps.end(), kernel, both);
    if (call.origin >= 0) {
      std::vector<std::string>& own = report_.rows[static_cast<std::size_t>(call.origin)].steps;
      if (const auto it = std::find(own.begin(), own.end(), a.record); it != own.end()) *it = both;
    }
    return true;
  }

  Graph& g_;
  std::span<const KernelRecord> records_;
  DispatchReport& report_;
};

}  // namespace

void fuse_epilogues(Graph& lir, std::span<const KernelRecord> records, DispatchReport& report) {
  Fuser(lir, records, report).visit(Graph::top);
}

}  // namespace rlx::compile
