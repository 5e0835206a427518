// The helper functions that a program's kernels need, and no others: device compilers take time for each.
#pragma once
#include "compile/emit_source/dialect.hpp"

#include <string>
#include <string_view>

namespace rlx::emit_source {

/// Common text of all helpers whose names occur in `text` or, in turn, in such a helper; callees first.
std::string helpers_for(const Dialect& dialect, std::string_view text);

}  // namespace rlx::emit_source
