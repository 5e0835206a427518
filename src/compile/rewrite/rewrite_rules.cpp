#include "compile/dispatch.hpp"

#include <array>

namespace rlx::compile {

// One line a rule in all_rules.inc; the constant is defined in <name>.cpp.
#define RLX_RULE(constant) extern const RewriteRule constant;
#include "compile/rewrite/all_rules.inc"
#undef RLX_RULE

std::span<const RewriteRule* const> rewrite_rules() {
  static const std::array rules{
#define RLX_RULE(constant) &constant,
#include "compile/rewrite/all_rules.inc"
#undef RLX_RULE
  };
  return rules;
}

}  // namespace rlx::compile
