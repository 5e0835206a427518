#include "compile/lower/kernel_set.hpp"

#include <rlx/ir/op.hpp>

#include <utility>

namespace rlx::compile {

void KernelSet::walk(const FusedKernel& k, const std::function<void(ValueId)>& reads,
                     const std::function<void(NodeId)>& inside) const {
  std::set<ValueId> seen = results(k);
  std::vector<NodeId> stack(k.roots.begin(), k.roots.end());
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    inside(id);
    for (ValueId v : graph.node(id).operands) {
      if (!seen.insert(v).second) continue;
      const NodeId d = graph.value(v).node;
      if (d < 0 || buffers.contains(v)) reads(v);
      else stack.push_back(d);
    }
  }
}

std::set<ValueId> KernelSet::reads(const FusedKernel& k) const {
  std::set<ValueId> out;
  walk(k, [&](ValueId v) { out.insert(v); }, [](NodeId) {});
  return out;
}

int KernelSet::size(const FusedKernel& k) const {
  int n = 0;
  walk(k, [](ValueId) {}, [&](NodeId id) { n += emitted_size(graph.node(id)); });
  return n;
}

bool KernelSet::is_loop(const FusedKernel& k) const {
  const Node& n = graph.node(k.roots[0]);
  return k.space < 0 && is_inlined_kind(n) && n.op->name() != "constant";
}

std::set<ValueId> KernelSet::results(const FusedKernel& k) const {
  std::set<ValueId> out;
  for (NodeId r : k.roots) out.insert(graph.node(r).results.begin(), graph.node(r).results.end());
  return out;
}

void KernelSet::compact() {
  std::erase_if(kernels, [](const FusedKernel& k) { return k.roots.empty(); });
  producer_.clear();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (ValueId v : results(kernels[k])) producer_[v] = k;
}

std::set<std::size_t> KernelSet::dependencies(const FusedKernel& k) const {
  std::set<std::size_t> out;
  for (ValueId v : reads(k))
    if (const auto it = producer_.find(v); it != producer_.end()) out.insert(it->second);
  return out;
}

void KernelSet::sort() {
  std::vector<FusedKernel> sorted;
  std::vector<int> state(kernels.size(), 0);
  std::vector<std::pair<std::size_t, bool>> stack;
  for (std::size_t start = 0; start < state.size(); ++start) {
    stack.emplace_back(start, false);
    while (!stack.empty()) {
      const auto [k, done] = stack.back();
      stack.pop_back();
      if (done) {
        sorted.push_back(std::move(kernels[k]));
        state[k] = 2;
        continue;
      }
      if (state[k]) continue;
      state[k] = 1;
      stack.emplace_back(k, true);
      const std::set<std::size_t> needs = dependencies(kernels[k]);
      for (auto d = needs.rbegin(); d != needs.rend(); ++d)
        if (!state[*d]) stack.emplace_back(*d, false);
    }
  }
  kernels = std::move(sorted);
  compact();
}

}  // namespace rlx::compile
