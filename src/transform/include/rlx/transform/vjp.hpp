// Reverse mode: graphs that compute cotangents of inputs from cotangents of outputs.
//
// The gradient of a real loss L is dL/dx + i dL/dy, so that the pull-back of a linear map is its conjugate transpose.
// Values of integers, bool, tokens, resources and quantized types have no cotangent. A csr value has one of its own
// structure. A resource carries no cotangent either: an operator that uses one made from a differentiated value must
// take that value as an operand too and answer for it; else differentiation is refused, never silently zero.
//
// Control flow: `if` and `checkpoint` run their region again in reverse; `scan` stacks the state of every trip; `while`
// does so in buffers of max_trips states and is refused without that bound. Nodes that lie on no path from a wanted
// input to an output with a cotangent are not differentiated. Composites whose rule is `derived` are decomposed.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/registry.hpp>

#include <vector>

namespace rlx::transform {

struct VjpOptions {
  std::vector<bool> wanted{};  ///< One an input of f: whether its cotangent is formed. Empty: all that can have one.
  std::vector<bool>
      cotangents{};  ///< One an output: whether the new graph takes its cotangent. Empty: all that can have one.
  bool with_outputs = true;  ///< Also return f's outputs, before the cotangents.
};

/// Inputs: f's, then a cotangent "ct_<output>" for each output that has one. Outputs: f's, then "ct_<input>" for each
/// wanted input; what depends on nothing is a typed zero. Throws ArgumentError where a mask does not fit f, VerifyError
/// with constraint "vjp" and the operator's reason where one on the path has no derivative.
RLX_API Graph vjp(const Graph& f, const Registry& registry, const VjpOptions& options = {});

struct GradOptions {
  std::vector<bool> wanted{};  ///< As in VjpOptions.
  bool with_value = true;      ///< Also return f's outputs, before the gradients.
};

/// Gradients "grad_<input>" of f's first output, which must be a real scalar; further outputs are auxiliary.
RLX_API Graph grad(const Graph& f, const Registry& registry, const GradOptions& options = {});

}  // namespace rlx::transform
