// An abstract run: each transient is fresh, written, or lost to another buffer that was written into its bytes; a map
// from bytes to owners says which. No liveness of its own, so it shares no mistake with the planner.
#include "compile/lir/verify_program.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/text.hpp>

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
  ProgramVerifier(const Graph& g, const Target& t, const DispatchReport& r, const std::optional<MemoryPlan>& plan)
      : g_(g), target_(t), report_(r), plan_(plan), root_(g.value_count(), -1), memory_(g.value_count()) {}

  void run() {
    for (const StepRow& s : report_.steps) ++unclaimed_[{s.kind, s.name}];
    State state;
    for (ValueId v : g_.inputs()) state.content[v] = Content::written, set_root(v, v);
    for (ValueId v : g_.outputs())  // An input that is returned is one that the caller gave away.
      if (g_.value(v).node < 0) memory_[static_cast<std::size_t>(v)].writable = true;
    region(Graph::top, state);
    step_ = nullptr;
    for (ValueId v : g_.outputs()) read(state, v);
    for (const auto& [step, count] : unclaimed_)
      if (count > 0)
        refuse("claimed", "the report has a " + step.first + " \"" + step.second + "\" that is no step", {});
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
  struct Memory {
    std::int64_t offset = -1, bytes = 0;  // Of a transient; bytes of any root.
    bool writable = false, transient = false, piecewise = false;
  };

  // The buffer or input that a value is, or is a view of.
  ValueId root(ValueId v) const { return root_[static_cast<std::size_t>(v)]; }
  void set_root(ValueId v, ValueId r) { root_[static_cast<std::size_t>(v)] = r; }
  const Memory& memory(ValueId v) const { return memory_[static_cast<std::size_t>(v)]; }
  bool is_buffer(ValueId v) const { return std::holds_alternative<TensorType>(g_.type(v)); }

  static std::string kind_of(const Node& n) { return std::string(n.op->name().substr(4)); }
  static std::string name_of(const Node& n) {
    if (const auto* k = n.attrs.get_if<lir::KernelAttrs>()) return k->name;
    if (const auto* c = n.attrs.get_if<lir::CallAttrs>()) return lir::step_name(*c);
    return kind_of(n);
  }

  [[noreturn]] void refuse(const std::string& rule, const std::string& why,
                           std::initializer_list<ValueId> buffers) const {
    const std::string op = step_ ? std::string(step_->op->name()) : "program";
    std::string text =
        op + (step_ && name_of(*step_) != kind_of(*step_) ? " " + name_of(*step_) : "") + ": " + rule + ": " + why;
    const auto numbers = print_numbers(g_);
    for (ValueId v : buffers)
      text += "\n  %" + std::to_string(numbers[static_cast<std::size_t>(v)]) + " " + to_string(g_.type(v)) + place(v);
    throw LocatedVerifyError(op, rule, text, site());
  }
  // The user's node that the step was made for, as the report names it.
  ErrorSite site() const {
    if (!step_) return {};
    const auto row = static_cast<std::size_t>(step_->origin);
    return {step_->location.file, step_->location.line,
            step_->origin >= 0 && row < report_.rows.size() ? report_.rows[row].value : std::string()};
  }
  std::string place(ValueId v) const {
    if (root(v) < 0) return "";
    const Memory& m = memory(root(v));
    std::int64_t end = 0;
    if (!m.transient || m.offset < 0 || __builtin_add_overflow(m.offset, m.bytes, &end)) return "";
    return "  bytes " + std::to_string(m.offset) + " to " + std::to_string(end);
  }

  void region(RegionId r, State& state) {
    for (NodeId id : g_.region(r).nodes) {
      const Node& n = g_.node(id);
      step_ = &n;
      const std::string_view op = n.op->name();
      if (op == "lir.buffer") buffer(n, state);
      else if (op == "lir.view") view(n);
      else {
        follow(n);
        pieces(n);
        claim(n);
        if (op == "lir.while") loop(n, state);
        else if (op == "lir.if") branch(n, state);
        else {
          step(accesses(n), state);
          // They run at one time: what a later one writes must not be where an earlier one reads.
          for (const Node* one : group_)
            for (ValueId v : one->operands) intact(state, v);
        }
      }
    }
    if (waits()) refuse("prologue", "ends a region where a call and its kernels are not complete", {});
    group_.clear();
  }

  void buffer(const Node& n, State& state) {
    const auto& a = n.attrs.as<lir::BufferAttrs>();
    const ValueId v = n.results[0];
    const TensorType& t = g_.tensor_type(v);
    Memory& m = memory_[static_cast<std::size_t>(v)];
    set_root(v, v);
    m = {a.offset, byte_size(t.dtype, t.numel().constant()), a.lifetime != lir::Lifetime::constant,
         a.lifetime == lir::Lifetime::transient, a.lifetime == lir::Lifetime::piecewise};
    state.content[v] = m.writable && m.bytes > 0 ? Content::fresh : Content::written;
    if (!m.transient || !plan_) return;
    if (a.slab != 0 || a.offset < 0 || a.offset > plan_->arena_bytes || m.bytes > plan_->arena_bytes - a.offset)
      refuse("arena", "outside the arena of " + std::to_string(plan_->arena_bytes) + " bytes", {v});
    if (a.offset % target_.alignment != 0)
      refuse("alignment", "not at a multiple of " + std::to_string(target_.alignment), {v});
  }

  void view(const Node& n) { set_root(n.results[0], root(n.operands[0])); }

  // A call stands between the kernels that it runs: its prologues, and its epilogue. `group_` becomes what of these has
  // come, this step included; it is empty where the step is on its own.
  void follow(const Node& n) {
    const auto* kernel = n.attrs.get_if<lir::KernelAttrs>();
    const auto* call = n.attrs.get_if<lir::CallAttrs>();
    if (!waits()) group_.clear();
    const auto* caller = group_.empty() ? nullptr : group_.back()->attrs.get_if<lir::CallAttrs>();
    if (caller) {
      if (!kernel || kernel->name != caller->epilogue)
        refuse("epilogue", "comes where a call's kernel \"" + caller->epilogue + "\" was to follow", {});
      group_.push_back(&n);
      return;
    }
    const bool prologue = is_prologue(n);
    if (!group_.empty() && !prologue && !call) refuse("prologue", "comes where a prologue's call was to follow", {});
    std::string names;
    for (const Node* one : group_) names += (names.empty() ? "" : " + ") + one->attrs.as<lir::KernelAttrs>().name;
    if (call && call->prologues != names)
      refuse("prologue", "runs \"" + call->prologues + "\" where \"" + names + "\" stands", {});
    for (const Node* one : group_)
      if (call && std::count(n.operands.begin(), n.operands.begin() + call->operands, one->operands.back()) != 1)
        refuse("prologue", "does not take what its kernel makes as an operand", {one->operands.back()});
    if (prologue || !group_.empty() || (call && !call->epilogue.empty())) group_.push_back(&n);
  }
  // Of a piecewise buffer only its kernel and the call that runs it may know.
  void pieces(const Node& n) const {
    const bool prologue = is_prologue(n), call = n.attrs.get_if<lir::CallAttrs>() != nullptr;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!is_buffer(v) || !memory(root(v)).piecewise) continue;
      const bool made = std::any_of(group_.begin(), group_.end(),
                                    [&](const Node* one) { return one != &n && one->operands.back() == v; });
      if (prologue ? v != n.operands.back() || i + 1 < n.operands.size() : !call || !made)
        refuse("prologue", "names a piecewise buffer that only a call and its prologue may", {v});
    }
  }
  /// Whether the group needs more steps.
  bool waits() const {
    if (group_.empty()) return false;
    const auto* call = group_.back()->attrs.get_if<lir::CallAttrs>();
    return call ? !call->epilogue.empty() : is_prologue(*group_.back());
  }
  bool is_prologue(const Node& n) const { return lir::is_prologue(g_, n); }

  // Each step has its row, and the row of its node knows it; a kernel that a call runs is part of the call's.
  void claim(const Node& n) {
    if (is_prologue(n)) return prologues_.push_back(&n);
    const Node* call = group_.size() > 1 && !n.attrs.get_if<lir::CallAttrs>() ? group_[group_.size() - 2] : nullptr;
    const std::string name = name_of(call ? *call : n), kind = kind_of(n);
    if (!call) {
      const auto it = unclaimed_.find({kind, name});
      if (it == unclaimed_.end() || it->second == 0)
        refuse("claimed", "no lowering has reported the " + kind + " \"" + name + "\"", {});
      --it->second;
    }
    for (const Node* p : std::exchange(prologues_, {})) row_names(*p, name);
    row_names(n, name);
  }
  void row_names(const Node& n, const std::string& name) const {
    if (n.origin < 0) return;
    const auto row = static_cast<std::size_t>(n.origin);
    if (row >= report_.rows.size()) refuse("claimed", "the report has no row " + std::to_string(row), {});
    const auto& steps = report_.rows[row].steps;
    if (std::find(steps.begin(), steps.end(), name) == steps.end())
      refuse("claimed", "row " + std::to_string(row) + " of the report (" + report_.rows[row].op + ") has no such step",
             {});
  }

  Access accesses(const Node& n) const {
    const std::string_view op = n.op->name();
    if (op == "lir.copy") return {{n.operands[0]}, {n.operands[1]}};
    if (op == "lir.call") {
      const auto operands = n.operands.begin() + n.attrs.as<lir::CallAttrs>().operands;
      return {{n.operands.begin(), operands}, {operands, n.operands.end()}};
    }
    if (op == "lir.kernel") return kernel(n);
    refuse("claimed", std::string(op) + " is no step of a program", {});
  }

  // The body's loads from what it writes count as reads unless a store stands before them in the text.
  Access kernel(const Node& n) const {
    const auto writes = n.operands.end() - n.attrs.as<lir::KernelAttrs>().writes;
    Access a{{n.operands.begin(), writes}, {writes, n.operands.end()}};
    const auto& arguments = g_.region(n.regions[0]).arguments;
    std::unordered_map<ValueId, std::size_t> written;  // Argument of the body -> operand.
    for (std::size_t i = a.reads.size(); i < n.operands.size(); ++i)
      written[arguments[arguments.size() - n.operands.size() + i]] = i;
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
        refuse("body", "reaches a buffer that is neither its operand nor its local memory", {b});
      const auto it = written.find(b);
      if (store && maker < 0 && it == written.end()) refuse("body", "stores to a buffer that it only reads", {b});
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
    if (!is_buffer(v)) return;
    intact(state, v);
    if (state.content.at(root(v)) == Content::fresh) refuse("written", "reads what nothing has written", {v});
  }

  void intact(const State& state, ValueId v) {
    if (!is_buffer(v) || state.content.at(root(v)) != Content::lost) return;
    refuse("overlap", "uses a buffer after another one was written over it", {v, thief_.at(root(v))});
  }

  void write(State& state, ValueId v) {
    if (!is_buffer(v)) return;
    const ValueId b = root(v);
    const Memory& m = memory(b);
    if (!m.writable) refuse("writable", "writes to an input that is not returned, or to a constant", {v});
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
    step_ = &n;
    state = meet(state, other);
  }

  void loop(const Node& n, State& state) {
    const State before = state;
    region(n.regions[0], state);
    step_ = &n;
    for (ValueId v : g_.region(n.regions[0]).results) read(state, v);
    State trip = state;
    region(n.regions[1], trip);
    step_ = &n;
    // The next trip finds what this one left: a buffer from outside that the loop names must still be whole.
    std::unordered_set<ValueId> named;
    collect_named(n, named);
    for (const auto& [v, content] : before.content)
      if (content == Content::written && named.contains(v)) intact(trip, v);
    state = meet(state, trip);
  }

  void collect_named(const Node& n, std::unordered_set<ValueId>& out) const {
    const auto add = [&](const std::vector<ValueId>& values) {
      for (ValueId v : values) out.insert(root(v));
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
  const DispatchReport& report_;
  const std::optional<MemoryPlan>& plan_;
  std::vector<ValueId> root_;
  std::vector<Memory> memory_;  // Of roots.
  std::unordered_map<ValueId, ValueId> thief_;
  std::map<std::pair<std::string, std::string>, int> unclaimed_;
  const Node* step_ = nullptr;
  std::vector<const Node*> group_;      // Of a call and the kernels that it runs, those that have come.
  std::vector<const Node*> prologues_;  // Whose call has not come.
};

}  // namespace

void verify_program(const Graph& lir, const Target& target, const DispatchReport& report,
                    const std::optional<MemoryPlan>& plan) {
  ProgramVerifier(lir, target, report, plan).run();
}

}  // namespace rlx::compile
