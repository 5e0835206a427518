#include "compile/lir/step_claims.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <utility>

namespace rlx::compile {

StepClaims::StepClaims(const VerifiedProgram& program) : program_(program) {
  for (const StepRow& s : program.report.steps) ++unclaimed_[{s.kind, s.name}];
}

void StepClaims::visit(const Node& n) {
  follow(n);
  pieces(n);
  claim(n);
}

void StepClaims::end_region() {
  if (waits()) program_.refuse("prologue", "ends a region where a call and its kernels are not complete", {});
  group_.clear();
}

void StepClaims::finish() const {
  for (const auto& [step, count] : unclaimed_)
    if (count > 0)
      program_.refuse("claimed", "the report has a " + step.first + " \"" + step.second + "\" that is no step", {});
}

// A call stands between the kernels that it runs: its prologues, and its epilogue. `group_` becomes what of these has
// come, this step included; it is empty where the step is on its own.
void StepClaims::follow(const Node& n) {
  const auto* kernel = n.attrs.get_if<lir::KernelAttrs>();
  const auto* call = n.attrs.get_if<lir::CallAttrs>();
  if (!waits()) group_.clear();
  const auto* caller = group_.empty() ? nullptr : group_.back()->attrs.get_if<lir::CallAttrs>();
  if (caller) {
    if (!kernel || kernel->name != caller->epilogue)
      program_.refuse("epilogue", "comes where a call's kernel \"" + caller->epilogue + "\" was to follow", {});
    group_.push_back(&n);
    return;
  }
  const bool prologue = is_prologue(n);
  if (!group_.empty() && !prologue && !call)
    program_.refuse("prologue", "comes where a prologue's call was to follow", {});
  std::string names;
  for (const Node* one : group_) names += (names.empty() ? "" : " + ") + one->attrs.as<lir::KernelAttrs>().name;
  if (call && call->prologues != names)
    program_.refuse("prologue", "runs \"" + call->prologues + "\" where \"" + names + "\" stands", {});
  for (const Node* one : group_)
    if (call && std::count(n.operands.begin(), n.operands.begin() + call->operands, one->operands.back()) != 1)
      program_.refuse("prologue", "does not take what its kernel makes as an operand", {one->operands.back()});
  if (prologue || !group_.empty() || (call && !call->epilogue.empty())) group_.push_back(&n);
}
// Of a piecewise buffer only its kernel and the call that runs it may know.
void StepClaims::pieces(const Node& n) const {
  const bool prologue = is_prologue(n), call = n.attrs.get_if<lir::CallAttrs>() != nullptr;
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!program_.is_buffer(v) || !program_.memory(program_.root(v)).piecewise) continue;
    const bool made = std::any_of(group_.begin(), group_.end(),
                                  [&](const Node* one) { return one != &n && one->operands.back() == v; });
    if (prologue ? v != n.operands.back() || i + 1 < n.operands.size() : !call || !made)
      program_.refuse("prologue", "names a piecewise buffer that only a call and its prologue may", {v});
  }
}
/// Whether the group needs more steps.
bool StepClaims::waits() const {
  if (group_.empty()) return false;
  const auto* call = group_.back()->attrs.get_if<lir::CallAttrs>();
  return call ? !call->epilogue.empty() : is_prologue(*group_.back());
}
bool StepClaims::is_prologue(const Node& n) const { return lir::is_prologue(program_.graph, n); }

// Each step has its row, and the row of its node knows it; a kernel that a call runs is part of the call's.
void StepClaims::claim(const Node& n) {
  if (is_prologue(n)) return prologues_.push_back(&n);
  const Node* call = group_.size() > 1 && !n.attrs.get_if<lir::CallAttrs>() ? group_[group_.size() - 2] : nullptr;
  const std::string name = program_.name_of(call ? *call : n), kind = program_.kind_of(n);
  if (!call) {
    const auto it = unclaimed_.find({kind, name});
    if (it == unclaimed_.end() || it->second == 0)
      program_.refuse("claimed", "no lowering has reported the " + kind + " \"" + name + "\"", {});
    --it->second;
  }
  for (const Node* p : std::exchange(prologues_, {})) row_names(*p, name);
  row_names(n, name);
}
void StepClaims::row_names(const Node& n, const std::string& name) const {
  if (n.origin < 0) return;
  const auto row = static_cast<std::size_t>(n.origin);
  if (row >= program_.report.rows.size())
    program_.refuse("claimed", "the report has no row " + std::to_string(row), {});
  const auto& steps = program_.report.rows[row].steps;
  if (std::find(steps.begin(), steps.end(), name) == steps.end())
    program_.refuse(
        "claimed",
        "row " + std::to_string(row) + " of the report (" + program_.report.rows[row].op + ") has no such step", {});
}

}  // namespace rlx::compile
