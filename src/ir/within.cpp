#include "ir/within.hpp"

#include <string>

namespace rlx::detail {

void rethrow_at(const Location& at) {
  try {
    throw;
  } catch (const LocatedVerifyError&) { throw; } catch (const VerifyError& e) {
    if (at.file.empty()) throw;
    throw LocatedVerifyError(e.op(), e.constraint(), std::string(e.what()) + "  " + at.to_string(),
                             {at.file, at.line, {}});
  }
}

void rethrow_within(std::string_view op, std::string_view part) {
  const std::string where = "in its " + std::string(part), head = std::string(op) + ": " + where + ": ";
  try {
    throw;
  } catch (const VerifyError& e) {
    if (e.op() == op) throw;
    // What a rule may refuse by contract stays such a refusal where the rule of an operator inside does.
    const std::string rule = e.constraint() == part ? e.constraint() : where;
    if (const auto* l = dynamic_cast<const LocatedVerifyError*>(&e))
      throw LocatedVerifyError(std::string(op), rule, head + e.what(), l->site());
    throw VerifyError(std::string(op), rule, head + e.what());
  } catch (const ArgumentError& e) { throw VerifyError(std::string(op), where, head + e.what()); }
}

void rethrow_as(std::string_view op) {
  try {
    throw;
  } catch (const NonFiniteError&) { throw; } catch (const NumericalError& e) {
    if (op.empty() || e.op() == op) throw;
    std::string_view said = e.what();
    if (const std::string head = e.op() + ": "; said.starts_with(head)) said.remove_prefix(head.size());
    const std::string whole = std::string(op) + ": " + std::string(said);
    if (e.iterations() >= 0) throw NumericalError(std::string(op), whole, e.iterations(), e.residual());
    throw NumericalError(std::string(op), e.info(), whole);
  }
}

}  // namespace rlx::detail
