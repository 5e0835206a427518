// A graph with symbols as one program: for each set of their values a plan, and code that serves all of them.
#pragma once
#include "runtime/compiled_graph.hpp"

namespace rlx::runtime {

/// Symbols of `g` that its caller gives a value, by the shapes of the arguments: those that no result introduces.
std::vector<std::string> given_symbols(const Graph& g);

/// A call binds the symbols and runs the plan of their values: steps, offsets in the arena and sizes that launches hand
/// over, made when these values first come by. What kernels are compiled to is shared between plans wherever it is the
/// same (Module::code). The report is that of DispatchReport::planned_for. Throws what no value of the symbols helps,
/// and ArgumentError for a symbol that no input's shape tells.
std::unique_ptr<CompiledGraph> symbolic_program(std::shared_ptr<Device> device, const Graph& hir,
                                                const Catalog& catalog, const CompileOptions& options,
                                                const RowNames& names);

}  // namespace rlx::runtime
