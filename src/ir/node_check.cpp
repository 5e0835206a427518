#include "ir/node_check.hpp"

#include <algorithm>

namespace rlx {

bool operands_fit(const Op& op, const Signature& s) {
  const auto declared = op.operands();
  const bool variadic = !declared.empty() && declared.back().variadic;
  if (variadic ? s.size() + 1 < declared.size() : s.size() != declared.size()) return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const Operand& o = declared[std::min(i, declared.size() - 1)];
    if (o.kind != OperandKind::any && s.types[i].index() != static_cast<std::size_t>(o.kind)) return false;
  }
  return true;
}

static void check_regions(const Op& op, const AnyAttrs& attrs, const Signature& s) {
  const auto refuse = [&](const std::string& why) {
    throw VerifyError(std::string(op.name()), "regions", std::string(op.name()) + ": regions: " + why);
  };
  const std::vector<Types> wanted = op.region_arguments(attrs, Signature{s.types, {}, s.symbols});
  if (wanted.size() != s.regions.size())
    refuse(counted(s.regions.size(), "region") + " given, expected " + std::to_string(wanted.size()));
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    const Types& given = s.regions[r].arguments;
    const std::string which = "region " + std::to_string(r);
    if (given.size() != wanted[r].size())
      refuse(which + " has " + counted(given.size(), "argument") + ", expected " + std::to_string(wanted[r].size()));
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i] != wanted[r][i])
        refuse("argument " + std::to_string(i) + " of " + which + " is " + to_string(given[i]) + ", expected " +
               to_string(wanted[r][i]));
  }
}

Types check_node(const Op& op, const AnyAttrs& attrs, const Signature& s) {
  try {
    if (operands_fit(op, s)) check_regions(op, attrs, s);
    op.check(attrs, s);
    return op.infer(attrs, s);
  } catch (const ArgumentError& e) {
    throw VerifyError(std::string(op.name()), "infer", std::string(op.name()) + ": infer: " + e.what());
  }
}

}  // namespace rlx
