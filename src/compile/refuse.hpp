// Programs that resolve node by node, but that the target cannot take.
#pragma once
#include <rlx/compile/report.hpp>

#include <string>

namespace rlx::compile {

/// Throws CompileError: the row that the step belongs to is unresolved, for its `why`.
[[noreturn]] void refuse_step(DispatchReport report, const Node& step, const std::string& why);
/// Throws CompileError: no row is resolved, for its `why`.
[[noreturn]] void refuse_program(DispatchReport report, const std::string& path, const std::string& why);

}  // namespace rlx::compile
