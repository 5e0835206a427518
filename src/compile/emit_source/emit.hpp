// Prints the kernels of a LIR program in a C-like language.
#pragma once
#include "compile/emit_source/dialect.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/graph.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rlx::emit_source {

/// Groups and threads of a group in each dimension, fastest first. A kernel without points has a 0 among its groups: it
/// is not launched.
struct Geometry {
  std::array<std::int64_t, 3> groups{1, 1, 1}, threads{1, 1, 1};
  bool empty() const { return groups[0] == 0 || groups[1] == 0 || groups[2] == 0; }
  std::int64_t threads_per_group() const { return threads[0] * threads[1] * threads[2]; }
};

struct EmittedKernel {
  std::string name;  ///< Symbol in the text: "k_" and the name in the IR, which might be a word of the language.
  NodeId node = -1;
  std::size_t buffers = 0;  ///< Parameters, in the order of the node's operands.
  Geometry geometry;
  std::vector<std::int64_t> sizes;  ///< Values of the parameters that follow the buffers; the text does not have them.
  bool checks = false;              ///< Has the extra parameter of checked mode.
};

struct EmittedProgram {
  std::string text;
  std::vector<EmittedKernel> kernels;   ///< In the order of lir::kernels().
  std::vector<lir::CheckAttrs> checks;  ///< What check number i + 1 says.
};

/// Throws VerifyError (constraint "dialect") naming the operator and dtype that the dialect cannot express.
EmittedProgram emit(const Graph& program, const Dialect& dialect);

}  // namespace rlx::emit_source
