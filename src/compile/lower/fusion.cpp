#include "compile/lower/fusion.hpp"

#include "compile/lower/elements.hpp"
#include "compile/lower/merge.hpp"
#include "compile/lower/passes.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace rlx::compile {

bool is_splat(const Node& n) {
  const auto* a = n.attrs.get_if<ops::ConstantAttrs>();
  if (!a || a->value.numel() == 0 || a->value.dtype() == DType::i4) return false;
  const std::size_t width = static_cast<std::size_t>(bit_width(a->value.dtype()) / 8);
  for (std::int64_t i = 1; i < a->value.numel(); ++i)
    if (std::memcmp(a->value.data(), a->value.data() + static_cast<std::size_t>(i) * width, width) != 0) return false;
  return true;
}

bool is_inlined_kind(const Node& n) {
  if (!n.record.empty() || !element_rule(*n.op)) return false;
  return n.op->name() != "constant" || is_splat(n);
}

bool is_segmented(const Node& n) { return n.op->name() == "segment_reduce"; }

// Work of one element, in simple operations.
int own_weight(const Node& n) {
  const std::string_view op = n.op->name();
  if (op == "constant" || op == "dim_size" || op == "iota" || op == "reshape" || op == "transpose" ||
      op == "broadcast" || op == "slice" || op == "reverse")
    return 0;
  if (!n.op->has_trait(Trait::elementwise)) return 4;
  for (std::string_view cheap :
       {"neg", "abs",    "add",     "sub",     "mul",  "min",  "max",  "and", "or",    "xor",
        "not", "select", "compare", "convert", "real", "imag", "conj", "fma", "clamp", "bitcast"})
    if (op == cheap) return 1;
  return 8;
}

int emitted_size(const Node& n) { return std::max(1, own_weight(n)); }

namespace {

constexpr int duplicate_limit = 2;  // Weight up to which a value is computed again rather than stored.

class KernelFuser {
 public:
  KernelFuser(const Graph& g, RegionId r, const FusionOptions& options)
      : g_(g), region_(g.region(r)), options_(options), s_(g) {}

  Fusion run() {
    collect_uses();
    choose_buffers();
    make_kernels();
    if (options_.enabled) {
      merge_kernels(s_, options_);
      drop_private_buffers(s_, region_);
    }
    s_.sort();
    for (FusedKernel& k : s_.kernels) {
      if (k.space >= 0) k.passes = passes_of(s_, region_, k), find_lodgings(s_, region_, k);
      k.flat = flat(k);
    }
    return {std::move(s_.buffers), std::move(s_.kernels)};
  }

 private:
  void collect_uses() {
    for (NodeId id : region_.nodes) {
      const Node& n = g_.node(id);
      for (ValueId v : n.operands) uses_[v].push_back(id);
    }
    for (ValueId v : region_.results) s_.buffers.insert(v);
  }

  // Backwards, so that where a value's users end up is known before the value itself is decided.
  void choose_buffers() {
    for (NodeId id : region_.nodes) {
      const Node& n = g_.node(id);
      int w = own_weight(n);
      for (ValueId v : n.operands)
        if (const NodeId d = g_.value(v).node; d >= 0 && is_inlined_kind(g_.node(d)) && !s_.buffers.contains(v))
          w += weight_[d];
      weight_[id] = std::min(w, 1 << 20);
    }
    for (auto it = region_.nodes.rbegin(); it != region_.nodes.rend(); ++it) {
      const Node& n = g_.node(*it);
      if (!is_inlined_kind(n)) {
        for (ValueId v : n.results) s_.buffers.insert(v);
        home_[*it] = *it;
        continue;
      }
      const ValueId v = n.results[0];
      if (!s_.buffers.contains(v) && store(*it, v)) s_.buffers.insert(v);
      if (s_.buffers.contains(v)) home_[*it] = *it, aligned_[*it] = true, size_[*it] = emitted_size(n);
    }
  }

  // Whether `v` must be stored. If not, notes the kernel it goes into.
  bool store(NodeId id, ValueId v) {
    const bool constant = g_.node(id).op->name() == "constant";
    if (is_segmented(g_.node(id))) return true;
    if (!options_.enabled && !constant) return true;
    const int weight = weight_[id];
    NodeId home = -1;
    bool aligned = true;
    int inlined_uses = 0;
    for (const NodeId u : uses_[v]) {
      const Node& user = g_.node(u);
      const OperandUse how = is_inlined_kind(user) ? OperandUse::pulled : operand_use(user);
      if (how == OperandUse::buffer || (how == OperandUse::pulled_if_free && weight > 0)) return true;
      const NodeId h = home_[u];
      if (home >= 0 && h != home && weight > duplicate_limit) return true;
      home = h;
      ++inlined_uses;
      aligned = aligned && (is_inlined_kind(user) ? user.op->has_trait(Trait::elementwise) && aligned_[u] : true);
    }
    if (home < 0) return false;  // Unused: nothing will ask for it.
    if (inlined_uses > 1 && !aligned && weight > duplicate_limit) return true;
    if (!constant && size_[home] >= kernel_limit) return true;
    size_[home] += emitted_size(g_.node(id));
    home_[id] = home;
    aligned_[id] = aligned;
    return false;
  }

  void make_kernels() {
    for (NodeId id : region_.nodes) {
      const Node& n = g_.node(id);
      const bool stored = n.results.empty() || std::any_of(n.results.begin(), n.results.end(),
                                                           [&](ValueId v) { return s_.buffers.contains(v); });
      if (stored) s_.kernels.push_back({{id}, n.op->name() == "reduce" && n.record.empty() ? id : -1});
    }
    s_.compact();
  }

  bool flat(const FusedKernel& k) const {
    if (!s_.is_loop(k) && k.space < 0) return false;
    const Node& first = g_.node(k.space < 0 ? k.roots[0] : k.space);
    if (k.space >= 0 && !(g_.tensor_type(first.results[0]).numel() == Dim(1))) return false;
    const Dim total = g_.tensor_type(k.space < 0 ? first.results[0] : first.operands[0]).numel();
    bool ok = true;
    s_.walk(
        k,
        [&](ValueId v) {
          const Dim n = g_.tensor_type(v).numel();
          ok = ok && (n == total || n == Dim(1));
        },
        [&](NodeId id) {
          const Node& n = g_.node(id);
          const std::string_view op = n.op->name();
          if (n.op->has_trait(Trait::elementwise) || op == "reshape" || op == "constant" || op == "reduce") return;
          if (op == "broadcast" && g_.tensor_type(n.operands[0]).numel() == Dim(1)) return;
          if (op == "iota" && g_.tensor_type(n.results[0]).rank() == 1 && g_.tensor_type(n.results[0]).numel() == total)
            return;
          ok = false;
        });
    return ok;
  }

  const Graph& g_;
  const Region& region_;
  const FusionOptions& options_;
  KernelSet s_;
  std::map<ValueId, std::vector<NodeId>> uses_;
  std::map<NodeId, int> weight_, size_;
  std::map<NodeId, NodeId> home_;
  std::map<NodeId, bool> aligned_;
};

}  // namespace

Fusion fuse(const Graph& mir, RegionId region, const FusionOptions& options) {
  return KernelFuser(mir, region, options).run();
}

}  // namespace rlx::compile
