#include "compile/lower/fusion.hpp"

#include "compile/lower/elements.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/attributes.hpp>

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

namespace {

constexpr int duplicate_limit = 2;  // Weight up to which a value is computed again rather than stored.
constexpr int kernel_limit = 256;   // Nodes of one kernel: keeps code size and compile time in bounds.
constexpr std::size_t merge_window = 48;

// Work of one element, in simple operations.
int own_weight(const Node& n) {
  const std::string_view op = n.op->name();
  if (op == "constant" || op == "iota" || op == "reshape" || op == "transpose" || op == "broadcast" || op == "slice" ||
      op == "reverse")
    return 0;
  if (!n.op->has_trait(Trait::elementwise)) return 4;
  for (std::string_view cheap :
       {"neg", "abs",    "add",     "sub",     "mul",  "min",  "max",  "and", "or",    "xor",
        "not", "select", "compare", "convert", "real", "imag", "conj", "fma", "clamp", "bitcast"})
    if (op == cheap) return 1;
  return 8;
}

class Fuser {
 public:
  Fuser(const Graph& g, RegionId r, bool enabled) : g_(g), region_(g.region(r)), enabled_(enabled) {}

  Fusion run() {
    collect_uses();
    choose_buffers();
    make_kernels();
    if (enabled_) merge_kernels();
    sort_kernels();
    for (FusedKernel& k : fusion_.kernels) k.flat = flat(k);
    return std::move(fusion_);
  }

 private:
  struct Use {
    NodeId node;
    std::size_t operand;
  };

  void collect_uses() {
    for (NodeId id : region_.nodes) {
      const Node& n = g_.node(id);
      for (std::size_t i = 0; i < n.operands.size(); ++i) uses_[n.operands[i]].push_back({id, i});
    }
    for (ValueId v : region_.results) fusion_.buffers.insert(v);
  }

  // Backwards, so that where a value's users end up is known before the value itself is decided.
  void choose_buffers() {
    for (NodeId id : region_.nodes) {
      const Node& n = g_.node(id);
      int w = own_weight(n);
      for (ValueId v : n.operands)
        if (const NodeId d = g_.value(v).node; d >= 0 && is_inlined_kind(g_.node(d))) w += weight_[d];
      weight_[id] = std::min(w, 1 << 20);
    }
    for (auto it = region_.nodes.rbegin(); it != region_.nodes.rend(); ++it) {
      const Node& n = g_.node(*it);
      if (!is_inlined_kind(n)) {
        for (ValueId v : n.results) fusion_.buffers.insert(v);
        home_[*it] = *it;
        continue;
      }
      const ValueId v = n.results[0];
      if (!fusion_.buffers.contains(v) && store(*it, v)) fusion_.buffers.insert(v);
      if (fusion_.buffers.contains(v)) home_[*it] = *it, aligned_[*it] = true, ++size_[*it];
    }
  }

  // Whether `v` must be stored. If not, notes the kernel it goes into.
  bool store(NodeId id, ValueId v) {
    const bool constant = g_.node(id).op->name() == "constant";
    if (!enabled_ && !constant) return true;
    const int weight = weight_[id];
    NodeId home = -1;
    bool aligned = true;
    int inlined_uses = 0;
    for (const Use& u : uses_[v]) {
      const Node& user = g_.node(u.node);
      const OperandUse how = is_inlined_kind(user) ? OperandUse::pulled : operand_use(user, u.operand);
      if (how == OperandUse::buffer || (how == OperandUse::pulled_if_free && weight > 0)) return true;
      const NodeId h = home_[u.node];
      if (home >= 0 && h != home && weight > duplicate_limit) return true;
      home = h;
      ++inlined_uses;
      aligned = aligned && (is_inlined_kind(user) ? user.op->has_trait(Trait::elementwise) && aligned_[u.node] : true);
    }
    if (home < 0) return false;  // Unused: nothing will ask for it.
    if (inlined_uses > 1 && !aligned && weight > duplicate_limit) return true;
    if (!constant && size_[home] >= kernel_limit) return true;
    ++size_[home];
    home_[id] = home;
    aligned_[id] = aligned;
    return false;
  }

  void make_kernels() {
    for (NodeId id : region_.nodes) {
      const Node& n = g_.node(id);
      const bool stored = n.results.empty() || std::any_of(n.results.begin(), n.results.end(),
                                                           [&](ValueId v) { return fusion_.buffers.contains(v); });
      if (!stored) continue;
      for (ValueId v : n.results) producer_[v] = static_cast<int>(fusion_.kernels.size());
      fusion_.kernels.push_back({{id}, false});
    }
  }

  bool is_loop(const FusedKernel& k) const {
    return is_inlined_kind(g_.node(k.roots[0])) && g_.node(k.roots[0]).op->name() != "constant";
  }

  // Calls f(value) for each stored value that the kernel reads, and g(node) for each node inside it.
  template <class F, class G>
  void walk(const FusedKernel& k, F reads, G inside) const {
    std::set<ValueId> seen;
    std::vector<NodeId> stack(k.roots.begin(), k.roots.end());
    for (NodeId r : k.roots) seen.insert(g_.node(r).results.begin(), g_.node(r).results.end());
    while (!stack.empty()) {
      const Node& n = g_.node(stack.back());
      inside(n);
      stack.pop_back();
      for (ValueId v : n.operands) {
        if (!seen.insert(v).second) continue;
        const NodeId d = g_.value(v).node;
        if (d < 0 || fusion_.buffers.contains(v)) reads(v);
        else stack.push_back(d);
      }
    }
  }

  std::set<int> dependencies(const FusedKernel& k) const {
    std::set<int> out;
    walk(
        k,
        [&](ValueId v) {
          if (const auto it = producer_.find(v); it != producer_.end()) out.insert(it->second);
        },
        [](const Node&) {});
    return out;
  }

  // Joins loops over equal shapes where no other kernel has to run between them, and one feeds the other or both read
  // the same value: memory is then passed once instead of twice.
  void merge_kernels() {
    const std::size_t n = fusion_.kernels.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));  // before[k][j]: k needs j, directly or not.
    std::vector<std::set<ValueId>> reads(n);
    std::vector<std::size_t> into(n);
    for (std::size_t k = 0; k < n; ++k) {
      into[k] = k;
      walk(fusion_.kernels[k], [&](ValueId v) { reads[k].insert(v); }, [](const Node&) {});
      for (int d : dependencies(fusion_.kernels[k])) {
        before[k][static_cast<std::size_t>(d)] = true;
        for (std::size_t j = 0; j < n; ++j)
          if (before[static_cast<std::size_t>(d)][j]) before[k][j] = true;
      }
    }
    const auto shape = [&](std::size_t k) -> const Shape& {
      return g_.tensor_type(g_.node(fusion_.kernels[k].roots[0]).results[0]).shape;
    };
    for (std::size_t k = 0; k < n; ++k) {
      if (!is_loop(fusion_.kernels[k])) continue;
      for (std::size_t j = k; j-- > 0 && k - j < merge_window;) {
        if (fusion_.kernels[j].roots.empty() || !is_loop(fusion_.kernels[j]) || !(shape(j) == shape(k))) continue;
        if (before[j][k]) continue;  // It needs what k has absorbed, perhaps by way of others.
        bool between = false, related = before[k][j];
        for (std::size_t c = 0; c < n && !between; ++c)
          between = c != j && c != k && !fusion_.kernels[c].roots.empty() && before[k][c] && before[c][j];
        if (between) continue;
        for (ValueId v : reads[j]) related = related || reads[k].contains(v);
        // A value of j that k reads at other positions must be complete before k starts.
        if (!related || !reads_aligned(k, j) || size_of(k) + size_of(j) > kernel_limit) continue;
        absorb(k, j, before, reads);
      }
    }
    std::erase_if(fusion_.kernels, [](const FusedKernel& k) { return k.roots.empty(); });
    producer_.clear();
    for (std::size_t k = 0; k < fusion_.kernels.size(); ++k)
      for (NodeId r : fusion_.kernels[k].roots)
        for (ValueId v : g_.node(r).results) producer_[v] = static_cast<int>(k);
  }

  int size_of(std::size_t k) const {
    int n = 0;
    walk(fusion_.kernels[k], [](ValueId) {}, [&](const Node&) { ++n; });
    return n;
  }

  bool reads_aligned(std::size_t k, std::size_t j) const {
    std::set<ValueId> made;
    for (NodeId r : fusion_.kernels[j].roots) made.insert(g_.node(r).results.begin(), g_.node(r).results.end());
    bool aligned = true;
    walk(
        fusion_.kernels[k], [](ValueId) {},
        [&](const Node& n) {
          if (n.op->has_trait(Trait::elementwise)) return;  // Its operands are read where it is itself.
          for (ValueId v : n.operands)
            if (depends_inline(v, made)) aligned = false;
        });
    return aligned;
  }
  bool depends_inline(ValueId v, const std::set<ValueId>& made) const {
    if (made.contains(v)) return true;
    const NodeId d = g_.value(v).node;
    if (d < 0 || fusion_.buffers.contains(v)) return false;
    const Node& n = g_.node(d);
    return std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId o) { return depends_inline(o, made); });
  }

  void absorb(std::size_t k, std::size_t j, std::vector<std::vector<bool>>& before,
              std::vector<std::set<ValueId>>& reads) {
    const std::size_t n = before.size();
    auto& to = fusion_.kernels[k].roots;
    to.insert(to.begin(), fusion_.kernels[j].roots.begin(), fusion_.kernels[j].roots.end());
    fusion_.kernels[j].roots.clear();
    for (std::size_t c = 0; c < n; ++c)
      if (before[j][c]) before[k][c] = true;
    before[k][j] = before[k][k] = false;
    for (std::size_t c = 0; c < n; ++c)
      if (c != k && (before[c][j] || before[c][k])) {
        before[c][k] = true;
        for (std::size_t d = 0; d < n; ++d)
          if (before[k][d]) before[c][d] = true;
      }
    reads[k].merge(reads[j]);
  }

  // Depth first over needs, in program order: stable, and every kernel comes after what it reads.
  void sort_kernels() {
    std::vector<FusedKernel> sorted;
    std::vector<int> state(fusion_.kernels.size(), 0);
    std::vector<std::pair<std::size_t, bool>> stack;
    for (std::size_t start = 0; start < state.size(); ++start) {
      stack.emplace_back(start, false);
      while (!stack.empty()) {
        const auto [k, done] = stack.back();
        stack.pop_back();
        if (done) {
          sorted.push_back(fusion_.kernels[k]);
          state[k] = 2;
          continue;
        }
        if (state[k]) continue;
        state[k] = 1;
        stack.emplace_back(k, true);
        const std::set<int> needs = dependencies(fusion_.kernels[k]);
        for (auto d = needs.rbegin(); d != needs.rend(); ++d)
          if (!state[static_cast<std::size_t>(*d)]) stack.emplace_back(static_cast<std::size_t>(*d), false);
      }
    }
    fusion_.kernels = std::move(sorted);
  }

  bool flat(const FusedKernel& k) const {
    if (!is_loop(k)) return false;
    const Dim total = g_.tensor_type(g_.node(k.roots[0]).results[0]).numel();
    bool ok = true;
    walk(
        k,
        [&](ValueId v) {
          const Dim n = g_.tensor_type(v).numel();
          ok = ok && (n == total || n == Dim(1));
        },
        [&](const Node& n) {
          const std::string_view op = n.op->name();
          if (n.op->has_trait(Trait::elementwise) || op == "reshape" || op == "constant") return;
          if (op == "broadcast" && g_.tensor_type(n.operands[0]).numel() == Dim(1)) return;
          if (op == "iota" && g_.tensor_type(n.results[0]).rank() == 1 && g_.tensor_type(n.results[0]).numel() == total)
            return;
          ok = false;
        });
    return ok;
  }

  const Graph& g_;
  const Region& region_;
  bool enabled_;
  Fusion fusion_;
  std::map<ValueId, std::vector<Use>> uses_;
  std::map<NodeId, int> weight_, size_;
  std::map<NodeId, NodeId> home_;
  std::map<NodeId, bool> aligned_;
  std::map<ValueId, int> producer_;
};

}  // namespace

Fusion fuse(const Graph& mir, RegionId region, bool enabled) { return Fuser(mir, region, enabled).run(); }

}  // namespace rlx::compile
