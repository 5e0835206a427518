#include "compile/plan_memory.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <climits>
#include <map>
#include <vector>

namespace rlx::compile {
namespace {

struct Live {
  NodeId node;
  std::int64_t bytes;
  int first = INT_MAX, last = -1;  ///< Steps that use it.
  std::int64_t offset = -1;
};

class Planner {
 public:
  Planner(Graph& g, const Target& t) : g_(g), target_(t) {}

  std::int64_t run() {
    number_steps(Graph::top);
    std::vector<Live*> order;
    for (auto& [v, l] : live_) order.push_back(&l);
    // Largest first, then by birth: first fit then leaves few gaps.
    std::stable_sort(order.begin(), order.end(), [](const Live* a, const Live* b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a->first < b->first;
    });
    std::int64_t sum = 0;  // Of all, as if they shared nothing: no offset is beyond it.
    for (const Live* l : order)
      if (__builtin_add_overflow(sum, l->bytes, &sum))
        throw MemoryError("the program's buffers", UINT64_MAX, static_cast<std::uint64_t>(target_.max_slab_bytes));
    std::int64_t total = 0;
    std::vector<const Live*> placed;
    for (Live* l : order) {
      l->offset = first_fit(*l, placed);
      placed.push_back(l);
      total = std::max(total, l->offset + l->bytes);
      auto a = g_.node(l->node).attrs.as<lir::BufferAttrs>();
      a.offset = l->offset;
      g_.node(l->node).attrs = a;
    }
    return total;
  }

 private:
  // Numbers the steps of a region in order. A buffer made outside a loop and named inside it must outlive the loop's
  // end and exist from its start, since the next trip may need what this one left.
  void number_steps(RegionId r) {
    std::vector<const Node*> group;  // A call and the kernels that it runs: they run at one time.
    int group_start = 0;
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      const int at = clock_++;
      if (n.op->name() == "lir.buffer") {
        const auto& a = n.attrs.as<lir::BufferAttrs>();
        if (a.lifetime == lir::Lifetime::transient) live_[n.results[0]] = {id, size(a)};
        root_[n.results[0]] = n.results[0];
        depth_[n.results[0]] = static_cast<int>(loops_.size());
        continue;
      }
      if (n.op->name() == "lir.view")
        root_[n.results[0]] = root_.contains(n.operands[0]) ? root_[n.operands[0]] : n.operands[0];
      for (ValueId v : n.operands) touch(v, at);
      if (n.op->name() == "lir.done")
        for (ValueId v : started_[n.operands[0]]) touch(v, at);
      if (group.empty()) group_start = at;
      if (joins_next(n)) group.push_back(&n);
      else if (!group.empty() && !is_memory(n)) {
        group.push_back(&n);
        for (const Node* one : group)
          for (ValueId v : one->operands) touch(v, group_start), touch(v, at);
        group.clear();
      }
      if (n.op->name() == "lir.start") {
        std::vector<ValueId> named;
        starting_.push_back(&named);
        number_steps(n.regions[0]);
        starting_.pop_back();
        started_[n.results[0]] = std::move(named);
      }
      if (n.op->name() == "lir.while" || n.op->name() == "lir.if") {
        loops_.push_back({at, {}});
        for (RegionId inner : n.regions) {
          number_steps(inner);
          for (ValueId v : g_.region(inner).results) touch(v, clock_);
        }
        const int end = clock_++;
        const std::vector<ValueId> inside = std::move(loops_.back().touched);
        loops_.pop_back();
        for (ValueId v : inside) touch(v, at), touch(v, end);
      }
    }
    if (r == Graph::top)
      for (ValueId v : g_.region(r).results) touch(v, clock_);
  }

  static bool is_memory(const Node& n) { return n.op->name() == "lir.buffer" || n.op->name() == "lir.view"; }
  bool joins_next(const Node& n) const {
    if (const auto* call = n.attrs.get_if<lir::CallAttrs>()) return !call->epilogue.empty();
    return lir::is_prologue(g_, n);
  }

  void touch(ValueId v, int at) {
    const auto it = root_.find(v);
    const ValueId root = it == root_.end() ? v : it->second;
    const auto l = live_.find(root);
    if (l == live_.end()) return;
    l->second.first = std::min(l->second.first, at);
    l->second.last = std::max(l->second.last, at);
    for (std::vector<ValueId>* named : starting_) named->push_back(root);
    for (std::size_t d = static_cast<std::size_t>(depth_[root]); d < loops_.size(); ++d)
      loops_[d].touched.push_back(root);
  }

  std::int64_t size(const lir::BufferAttrs& a) const {
    const auto& t = std::get<TensorType>(a.type);
    const std::int64_t bytes = byte_size(t.dtype, t.numel().constant());
    return (std::max<std::int64_t>(bytes, 1) + target_.alignment - 1) / target_.alignment * target_.alignment;
  }

  static std::int64_t first_fit(const Live& l, const std::vector<const Live*>& placed) {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const Live* p : placed)
      if (p->first <= l.last && l.first <= p->last) taken.emplace_back(p->offset, p->offset + p->bytes);
    std::sort(taken.begin(), taken.end());
    std::int64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - at >= l.bytes) break;
      at = std::max(at, end);
    }
    return at;
  }

  struct Loop {
    int start;
    std::vector<ValueId> touched;
  };
  Graph& g_;
  const Target& target_;
  int clock_ = 0;
  std::map<ValueId, Live> live_;
  std::map<ValueId, ValueId> root_;
  std::map<ValueId, int> depth_;
  std::vector<Loop> loops_;
  std::vector<std::vector<ValueId>*> starting_;        // What the steps of the starts around here name.
  std::map<ValueId, std::vector<ValueId>> started_{};  // The same of whole starts, by their tokens.
};

}  // namespace

std::int64_t plan_memory(Graph& lir, const Target& target) { return Planner(lir, target).run(); }

}  // namespace rlx::compile
