// Forward mode: graphs that push tangents of inputs to tangents of outputs. What has no tangent is as in vjp.hpp.
#pragma once
#include <rlx/ir/graph.hpp>
#include <rlx/ir/registry.hpp>

#include <vector>

namespace rlx::transform {

struct JvpOptions {
  std::vector<bool>
      tangents{};  ///< One an input of f: whether the new graph takes its tangent. Empty: all that can have one.
  bool with_outputs = true;  ///< Also return f's outputs, before the tangents.
};

/// Inputs: f's, then a tangent "t_<input>" for each that has one. Outputs: f's, then "t_<output>" for each output that
/// can have one; what depends on nothing is a typed zero. Throws as vjp does, with constraint "jvp".
RLX_API Graph jvp(const Graph& f, const Registry& registry, const JvpOptions& options = {});

}  // namespace rlx::transform
