// Expressions of scalar operators.
#pragma once
#include "compile/emit_source/dialect.hpp"

#include <rlx/compile/target.hpp>
#include <rlx/ir/graph.hpp>

#include <span>
#include <string>

namespace rlx::emit_source {

/// Refusal by the dialect: VerifyError naming the operator, with the node's location where it is known.
[[noreturn]] void refuse(const Dialect& dialect, const Node& node, const std::string& why);

/// Target::expresses of a device that compiles `dialect`: so that dispatch refuses, naming every node, what emission
/// would refuse at the first one.
Answer expresses(const Dialect& dialect, const Instance& instance);

/// The row of `t`; refuses when there is none.
const Element& element_of(const Dialect& dialect, const Node& node, DType t);

/// The expression of an elementwise operator or constant on rank-0 tensors, rounded to the type of its result.
std::string scalar_expression(const Dialect& dialect, const Graph& graph, const Node& node,
                              std::span<const std::string> operands);

}  // namespace rlx::emit_source
