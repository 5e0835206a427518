// Splitting of sparse values: their arrays are buffers like any other, so taking them apart costs nothing.
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

namespace rlx::compile {

void lower_sparse_parts(Lowering& l, const Node& n) {
  for (std::size_t i = 0; i < n.results.size(); ++i) l.set_buffers(n.results[i], {l.buffer(n.operands[0], i)});
}

void lower_sparse_assemble(Lowering& l, const Node& n) {
  Values parts;
  for (ValueId v : n.operands) parts.push_back(l.buffer(v));
  l.set_buffers(n.results[0], parts);
}

}  // namespace rlx::compile
