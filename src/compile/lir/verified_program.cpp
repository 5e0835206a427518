#include "compile/lir/verified_program.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/text.hpp>

namespace rlx::compile {

void VerifiedProgram::refuse(const std::string& rule, const std::string& why,
                             std::initializer_list<ValueId> buffers) const {
  const std::string op = step_ ? std::string(step_->op->name()) : "program";
  std::string text = op +
                     (step_ && lir::step_name(*step_) != lir::step_kind(*step_) ? " " + lir::step_name(*step_) : "") +
                     ": " + rule + ": " + why;
  const auto numbers = print_numbers(graph);
  for (ValueId v : buffers)
    text += "\n  %" + std::to_string(numbers[static_cast<std::size_t>(v)]) + " " + to_string(graph.type(v)) + place(v);
  ErrorSite site;
  if (step_) {  // The user's node that the step was made for, as the report names it.
    site = {step_->location.file, step_->location.line, {}};
    const auto row = static_cast<std::size_t>(step_->origin);
    if (step_->origin >= 0 && row < report.rows.size()) site.node = report.rows[row].value;
  }
  throw LocatedVerifyError(op, rule, text, std::move(site));
}

std::string VerifiedProgram::place(ValueId v) const {
  if (root(v) < 0) return "";
  const Memory& m = memory(root(v));
  std::int64_t end = 0;
  if (!m.transient || m.offset < 0 || __builtin_add_overflow(m.offset, m.bytes, &end)) return "";
  return "  bytes " + std::to_string(m.offset) + " to " + std::to_string(end);
}

}  // namespace rlx::compile
