// An abstract run: each transient is fresh, written, or lost to another buffer that was written into its bytes; a map
// from bytes to owners says which. No liveness of its own, so it shares no mistake with the planner.
#include "compile/lir/verify_program.hpp"

#include "compile/lir/call_groups.hpp"
#include "compile/lir/effects.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rlx::compile {
namespace {

// What a step does to memory: values as it names them.
struct Access {
  std::vector<ValueId> reads, writes;
};

class ProgramVerifier {
 public:
  ProgramVerifier(const Graph& g, const Target& t, const StepSources& s, const DispatchReport& r,
                  const std::optional<MemoryPlan>& plan)
      : g_(g), target_(t), sources_(s), plan_(plan), program_(g, r), groups_(program_) {}

  void run() {
    State state;
    for (ValueId v : g_.inputs()) state.content[v] = Content::written, program_.set_root(v, v);
    for (ValueId v : g_.outputs())  // An input that is returned is one that the caller gave away.
      if (g_.value(v).node < 0) program_.memory(v).writable = true;
    region(Graph::top, state);
    program_.at(nullptr);
    for (ValueId v : g_.outputs()) read(state, v);
  }

 private:
  enum class Content : std::uint8_t {
    lost,
    fresh,
    written
  };  // From the worst to the best: two paths meet in the worse.
  struct State {
    std::unordered_map<ValueId, Content> content;                       // By root: buffers and inputs.
    std::map<std::int64_t, std::pair<std::int64_t, ValueId>> owners{};  // First byte in the arena -> end, owner.
  };

  void region(RegionId r, State& state) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      program_.at(&n);
      const std::string_view op = n.op->name();
      if (op == "lir.buffer") buffer(n, state);
      else if (op == "lir.view") view(n);
      else {
        if (!sources_.contains(id)) program_.refuse("claimed", "no lowering says what it was made from", {});
        groups_.visit(n);
        beside(id);
        if (op == "lir.while") loop(n, state);
        else if (op == "lir.start") start(n, state);
        else if (op == "lir.done") done(n, r);
        else if (op == "lir.if") branch(n, state);
        else {
          step(accesses(n), state);
          // They run at one time: what a later one writes must not be where an earlier one reads.
          for (const Node* one : groups_.group())
            for (ValueId v : one->operands) intact(state, v);
        }
      }
    }
    groups_.end_region();
    end_of_starts(r);
  }

  // Steps of another queue, from their start to their done.
  struct Started {
    ValueId token;
    std::int64_t queue;
    lir::Effects effects;
  };

  void start(const Node& n, State& state) {
    const std::int64_t queue = n.attrs.as<lir::StartAttrs>().queue;
    if (queue >= target_.queues)
      program_.refuse(
          "queue", "queue " + std::to_string(queue) + ", and the target has " + counted(target_.queues, "queue"), {});
    const std::int64_t outer = std::exchange(queue_, queue);
    region(n.regions[0], state);
    queue_ = outer;
    running_.push_back({n.results[0], queue, {}});
    add_uses(n.regions[0], running_.back().effects);
  }

  void done(const Node& n, RegionId here) {
    const auto it =
        std::find_if(running_.begin(), running_.end(), [&](const Started& s) { return s.token == n.operands[0]; });
    if (it == running_.end() || g_.value(it->token).region != here)
      program_.refuse("done", "waits for what this region has not started, or has waited for", {});
    running_.erase(it);
  }

  void end_of_starts(RegionId r) {
    for (const Started& s : running_)
      if (g_.value(s.token).region == r) {
        program_.at(&g_.node(g_.value(s.token).node));
        program_.refuse("done", "is not waited for in its region", {});
      }
  }

  // Of the steps of a region and of the regions in it.
  void add_uses(RegionId r, lir::Effects& e) const {
    for (NodeId id : g_.region(r).nodes) add_step_uses(id, e);
    for (ValueId v : g_.region(r).results) e.reads.insert(lir::root(g_, v));
  }
  void add_step_uses(NodeId id, lir::Effects& e) const {
    const Node& n = g_.node(id);
    if (n.regions.empty() || n.op->name() == "lir.kernel") {
      const lir::Effects own = lir::effects(g_, {id});
      e.reads.insert(own.reads.begin(), own.reads.end());
      e.writes.insert(own.writes.begin(), own.writes.end());
      return;
    }
    for (ValueId v : n.operands) e.reads.insert(lir::root(g_, v));
    for (RegionId r : n.regions) add_uses(r, e);
  }

  // Nothing orders the step and those that run on other queues. Steps inside a step are looked at one by one.
  void beside(NodeId id) const {
    const Node& n = g_.node(id);
    if (running_.empty()) return;
    lir::Effects e;
    if (n.regions.empty() || n.op->name() == "lir.kernel") add_step_uses(id, e);
    else
      for (ValueId v : n.operands) e.reads.insert(lir::root(g_, v));
    for (const Started& s : running_)
      if (s.queue != queue_)
        for (const auto* list : {&s.effects.reads, &s.effects.writes})
          for (ValueId v : *list) apart(e, v, s.effects.writes.contains(v));
  }
  void apart(const lir::Effects& e, ValueId v, bool written) const {
    if (e.writes.contains(v) || (written && e.reads.contains(v)))
      program_.refuse("race", "runs at the same time as started steps that use the same memory", {v});
    for (ValueId w : e.writes)
      if (share_bytes(v, w))
        program_.refuse("overlap", "writes over a buffer that started steps use at the same time", {w, v});
  }
  bool share_bytes(ValueId a, ValueId b) const {
    const VerifiedProgram::Memory &x = program_.memory(a), &y = program_.memory(b);
    return plan_ && x.transient && y.transient && x.bytes > 0 && y.bytes > 0 && x.offset < y.offset + y.bytes &&
           y.offset < x.offset + x.bytes;
  }

  void buffer(const Node& n, State& state) {
    const auto& a = n.attrs.as<lir::BufferAttrs>();
    const ValueId v = n.results[0];
    const TensorType& t = g_.tensor_type(v);
    VerifiedProgram::Memory& m = program_.memory(v);
    program_.set_root(v, v);
    m = {a.offset, byte_size(t.dtype, t.numel().constant()), a.lifetime != lir::Lifetime::constant,
         a.lifetime == lir::Lifetime::transient, a.lifetime == lir::Lifetime::piecewise};
    state.content[v] = m.writable && m.bytes > 0 ? Content::fresh : Content::written;
    if (!m.transient || !plan_) return;
    if (a.slab != 0 || a.offset < 0 || a.offset > plan_->arena_bytes || m.bytes > plan_->arena_bytes - a.offset)
      program_.refuse("arena", "outside the arena of " + counted(plan_->arena_bytes, "byte"), {v});
    if (a.offset % target_.alignment != 0)
      program_.refuse("alignment", "not at a multiple of " + std::to_string(target_.alignment), {v});
  }

  void view(const Node& n) { program_.set_root(n.results[0], program_.root(n.operands[0])); }

  Access accesses(const Node& n) const {
    const std::string_view op = n.op->name();
    if (op == "lir.copy") return {{n.operands[0]}, {n.operands[1]}};
    if (op == "lir.call") {
      const auto operands = n.operands.begin() + n.attrs.as<lir::CallAttrs>().operands;
      return {{n.operands.begin(), operands}, {operands, n.operands.end()}};
    }
    if (op == "lir.kernel") return kernel(n);
    program_.refuse("claimed", std::string(op) + " is no step of a program", {});
  }

  // The body's loads from what it writes count as reads unless a store stands before them in the text.
  Access kernel(const Node& n) const {
    const auto writes = n.operands.end() - n.attrs.as<lir::KernelAttrs>().writes;
    Access a{{n.operands.begin(), writes}, {writes, n.operands.end()}};
    const auto arguments = lir::buffer_arguments(g_, n);
    std::unordered_map<ValueId, std::size_t> written;  // Argument of the body -> operand.
    for (std::size_t i = a.reads.size(); i < n.operands.size(); ++i) written[arguments[i]] = i;
    std::unordered_set<ValueId> stored;
    body(n.regions[0], n, written, stored, a);
    return a;
  }

  void body(RegionId r, const Node& n, const std::unordered_map<ValueId, std::size_t>& written,
            std::unordered_set<ValueId>& stored, Access& a) const {
    for (NodeId id : g_.region(r).nodes) {
      const Node& inner = g_.node(id);
      for (RegionId q : inner.regions) body(q, n, written, stored, a);
      const bool store = inner.op->name() == "lir.store";
      if (!store && inner.op->name() != "lir.load") continue;
      const ValueId b = inner.operands[0];
      const NodeId maker = g_.value(b).node;
      if (maker >= 0 ? g_.node(maker).op->name() != "lir.local" : g_.value(b).region != n.regions[0])
        program_.refuse("body", "reaches a buffer that is neither its operand nor its local memory", {b});
      const auto it = written.find(b);
      if (store && maker < 0 && it == written.end())
        program_.refuse("body", "stores to a buffer that it only reads", {b});
      if (store) stored.insert(b);
      else if (it != written.end() && !stored.contains(b)) a.reads.push_back(n.operands[it->second]);
    }
  }

  void step(const Access& a, State& state) {
    for (ValueId v : a.reads) read(state, v);
    for (ValueId v : a.writes) write(state, v);
    // Writing must not have taken the bytes of what the same step reads or writes.
    for (const auto* list : {&a.reads, &a.writes})
      for (ValueId v : *list) intact(state, v);
  }

  void read(const State& state, ValueId v) {
    if (!program_.is_buffer(v)) return;
    intact(state, v);
    if (state.content.at(program_.root(v)) == Content::fresh)
      program_.refuse("written", "reads what nothing has written", {v});
  }

  void intact(const State& state, ValueId v) {
    if (!program_.is_buffer(v) || state.content.at(program_.root(v)) != Content::lost) return;
    program_.refuse("overlap", "uses a buffer after another one was written over it", {v, thief_.at(program_.root(v))});
  }

  void write(State& state, ValueId v) {
    if (!program_.is_buffer(v)) return;
    const ValueId b = program_.root(v);
    const VerifiedProgram::Memory& m = program_.memory(b);
    if (!m.writable) program_.refuse("writable", "writes to an input that is not returned, or to a constant", {v});
    intact(state, v);
    Content& content = state.content.at(b);
    if (content == Content::written) return;
    content = Content::written;
    if (!m.transient || !plan_) return;
    auto at = state.owners.lower_bound(m.offset);
    if (at != state.owners.begin() && std::prev(at)->second.first > m.offset) --at;
    while (at != state.owners.end() && at->first < m.offset + m.bytes) {
      state.content[at->second.second] = Content::lost;
      thief_[at->second.second] = b;
      at = state.owners.erase(at);
    }
    state.owners.emplace(m.offset, std::pair{m.offset + m.bytes, b});
  }

  // What holds after either of two paths. What only one of them made is out of scope.
  static State meet(const State& a, const State& b) {
    State out;
    for (const auto& [v, content] : a.content)
      if (const auto it = b.content.find(v); it != b.content.end()) out.content[v] = std::min(content, it->second);
    for (const auto& [first, owner] : a.owners)
      if (const auto it = out.content.find(owner.second); it != out.content.end() && it->second == Content::written)
        out.owners[first] = owner;
    return out;
  }

  void branch(const Node& n, State& state) {
    read(state, n.operands[0]);
    State other = state;
    region(n.regions[0], state);
    region(n.regions[1], other);
    program_.at(&n);
    state = meet(state, other);
  }

  void loop(const Node& n, State& state) {
    if (n.attrs.as<lir::LoopAttrs>().trips >= 0 && !g_.region(n.regions[0]).nodes.empty())
      program_.refuse("loop", "has steps in a condition that nothing asks for, since its trips are known", {});
    const State before = state;
    region(n.regions[0], state);
    program_.at(&n);
    for (ValueId v : g_.region(n.regions[0]).results) read(state, v);
    State trip = state;
    region(n.regions[1], trip);
    program_.at(&n);
    // The next trip finds what this one left: a buffer from outside that the loop names must still be whole.
    std::unordered_set<ValueId> named;
    collect_named(n, named);
    for (const auto& [v, content] : before.content)
      if (content == Content::written && named.contains(v)) intact(trip, v);
    state = meet(state, trip);
  }

  void collect_named(const Node& n, std::unordered_set<ValueId>& out) const {
    const auto add = [&](const std::vector<ValueId>& values) {
      for (ValueId v : values) out.insert(program_.root(v));
    };
    for (RegionId r : n.regions) {
      add(g_.region(r).results);
      for (NodeId id : g_.region(r).nodes) {
        add(g_.node(id).operands);
        if (g_.node(id).op->name() != "lir.kernel") collect_named(g_.node(id), out);
      }
    }
  }

  const Graph& g_;
  const Target& target_;
  const StepSources& sources_;
  const std::optional<MemoryPlan>& plan_;
  std::unordered_map<ValueId, ValueId> thief_;
  VerifiedProgram program_;
  CallGroups groups_;
  std::vector<Started> running_;  // Waited for by no step so far.
  std::int64_t queue_ = 0;        // Of the steps that are looked at.
};

}  // namespace

void verify_program(const Graph& lir, const Target& target, const StepSources& sources, const DispatchReport& report,
                    const std::optional<MemoryPlan>& plan) {
  ProgramVerifier(lir, target, sources, report, plan).run();
}

}  // namespace rlx::compile
