// Graphs in text files, their symbols and their inputs.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/host_value.hpp>

#include <string>
#include <vector>

namespace rlx::cli {

/// Parses the file against the program's catalog; nodes get its lines as their locations.
Graph read_graph(const std::string& path);
/// "n=4" each; UsageError for no number, ArgumentError for a symbol given twice or not of the graph.
Bindings symbol_bindings(const Graph& g, const std::vector<std::string>& given);
/// `g` with these values; ArgumentError naming the symbols that are still without one.
Graph with_symbols(const Graph& g, const Bindings& bindings);

/// "a, b", or "none".
std::string joined(const std::vector<std::string>& names);

/// The inputs of `g`, read from "name=file" each, in its order. Files of a csr input are Matrix Market or dense; its
/// index type follows the declared one. Adds what their shapes say about symbols to `bindings`. ArgumentError for a
/// name given twice, unknown or missing, and where a file's type is not the declared one.
HostValues read_inputs(const Graph& g, const std::vector<std::string>& given, Bindings& bindings);

}  // namespace rlx::cli
