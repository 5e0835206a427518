// A graph with a size that is read by the host: a program for what comes before it, and one for each rounded size for
// the rest (compile/sizes/size_points.hpp).
#pragma once
#include "compile/sizes/size_points.hpp"
#include "runtime/compiled_graph.hpp"

namespace rlx::runtime {

std::unique_ptr<CompiledGraph> split_program(std::shared_ptr<Device> device, const Graph& hir, const Catalog& catalog,
                                             const CompileOptions& options, const RowNames& names);

}  // namespace rlx::runtime
