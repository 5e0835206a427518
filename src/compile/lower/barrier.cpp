// A barrier is an order of steps and nothing else: its operands must be in memory, its results are the same buffers.
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

namespace rlx::compile {

void lower_barrier(Lowering& l, const Node& n) {
  for (std::size_t i = 0; i < n.results.size(); ++i) l.set_buffers(n.results[i], l.buffers(n.operands[i]));
}

}  // namespace rlx::compile
