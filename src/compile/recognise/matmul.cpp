// A contraction that is a matrix product. It is one node either way, so that it is recognised only where a device has a
// record of the product that accepts it.
#include "compile/recognise/pattern.hpp"

#include <rlx/ir/op.hpp>

namespace rlx::compile {

static std::vector<Candidate> matmul_candidates(const Above& above) {
  if (above.node().op->name() != "dot_general") return {};  // A reshape of one.
  return {{NoAttributes{}, above.graph().types_of(above.node().operands)}};
}

static constexpr std::string_view matmul_roots[] = {"dot_general"};
extern const Pattern matmul_pattern{"linalg.matmul", "linalg.matmul", matmul_roots, matmul_candidates};

}  // namespace rlx::compile
