// check_within: a kernel of its own, so that each element is looked at once whoever uses it. What is refused is stored
// as the nearest allowed value: whatever runs before the host hears of it stays in bounds.
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

void lower_check_within(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::CheckWithinAttrs>();
  const auto shape = l.shape(n.operands[0]);
  const Value result = l.allocate(n.results[0]);
  if (element_count(shape) == 0) return;
  l.kernel(n, shape, n.operands, {result}, [&](KernelBody& k) {
    const Value x = k.load(n.operands[0], k.position), lower = k.elements.index().number(a.lower),
                limit = k.load(n.operands[1], {});
    const Value above = ops::compare(x, lower, ops::Direction::ge), below = ops::compare(x, limit, ops::Direction::le);
    k.b.emit("lir.check", {k.b.emit1("and", {above, below}), x}, lir::CheckAttrs{a.what, n.origin, a.expected, a.of});
    const Value most = k.b.emit1("min", {x, limit});
    k.store(0, k.elements.index().linear(k.position, shape), k.b.emit1("max", {most, lower}));
  });
}

}  // namespace rlx::compile
