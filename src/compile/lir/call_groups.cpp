#include "compile/lir/call_groups.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::compile {

void CallGroups::visit(const Node& n) {
  follow(n);
  pieces(n);
}

void CallGroups::end_region() {
  if (waits()) program_.refuse("prologue", "ends a region where a call and its kernels are not complete", {});
  group_.clear();
}

static std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : "\", \"") + name;
  return text.empty() ? "no kernel" : text + "\"";
}

// A call stands between the kernels that it runs: its prologues, and its epilogue. `group_` becomes what of these has
// come, this step included; it is empty where the step is on its own.
void CallGroups::follow(const Node& n) {
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
  std::vector<std::string> names;
  for (const Node* one : group_) names.push_back(one->attrs.as<lir::KernelAttrs>().name);
  if (call && call->prologues != names)
    program_.refuse("prologue", "runs " + list_text(call->prologues) + " where " + list_text(names) + " stands", {});
  for (const Node* one : group_)
    if (call && std::count(n.operands.begin(), n.operands.begin() + call->operands, one->operands.back()) != 1)
      program_.refuse("prologue", "does not take what its kernel makes as an operand", {one->operands.back()});
  if (prologue || !group_.empty() || (call && !call->epilogue.empty())) group_.push_back(&n);
}

// Of a piecewise buffer only its kernel and the call that runs it may know.
void CallGroups::pieces(const Node& n) const {
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
bool CallGroups::waits() const {
  if (group_.empty()) return false;
  const auto* call = group_.back()->attrs.get_if<lir::CallAttrs>();
  return call ? !call->epilogue.empty() : is_prologue(*group_.back());
}
bool CallGroups::is_prologue(const Node& n) const { return lir::is_prologue(program_.graph, n); }

}  // namespace rlx::compile
