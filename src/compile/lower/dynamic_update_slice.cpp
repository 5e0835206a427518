// dynamic_update_slice: the operand's memory with the window written into it. Where the operand is not needed
// afterwards the copy goes (elide_copies), and what is left costs the window alone: a loop that fills its outputs row
// by row is linear.
#include "compile/lower/element_rules.hpp"
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

namespace rlx::compile {

void lower_dynamic_update_slice(Lowering& l, const Node& n) {
  const ValueId operand = n.operands[0], update = n.operands[1];
  const auto shape = l.shape(operand), window = l.shape(update);
  // What is computed from the operand is stored first: once they are the same memory, a kernel that writes the window
  // must not read the rest.
  if (element_count(window) > 0) l.store_if_reads(n, update, operand);
  const Value result = l.allocate_copy(n, operand);
  if (element_count(window) == 0 || element_count(shape) == 0) return;
  const std::vector<ValueId> pulled(n.operands.begin() + 1, n.operands.end());
  l.kernel(n, window, pulled, {result}, [&](KernelBody& k) {
    Coordinates to = k.position;
    for (std::size_t d = 0; d < to.size(); ++d)
      to[d] = to[d] + window_start(k.elements, n.operands[d + 2], Extent::of(shape, d), window[d]);
    k.store(0, k.elements.index().linear(to, shape), k.load(update, k.position));
  });
}

}  // namespace rlx::compile
