// The rows of a report, before any is resolved: one for each node of the user's graph, which learns it as its origin.
#pragma once
#include <rlx/compile/compile.hpp>

namespace rlx::compile {

DispatchReport open_rows(Graph& hir, const Target& target, const CompileOptions& options);

}  // namespace rlx::compile
