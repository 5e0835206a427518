// reduce_window: one short reduction for each result element.
#include "compile/lower/lower.hpp"
#include "compile/lower/positions.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

static std::int64_t or_default(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

void lower_reduce_window(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::ReduceWindowAttrs>();
  const auto shape = l.shape(n.operands[0]), out_shape = l.shape(n.results[0]);
  const DType t = l.mir().tensor_type(n.operands[0]).dtype;
  const Value result = l.allocate(n.results[0]);
  if (element_count(out_shape) == 0) return;
  const std::int64_t terms = element_count(a.window);
  l.kernel(n, out_shape, {n.operands[0]}, {result}, [&](KernelBody& k) {
    Elements& e = k.elements;
    const DType partial = summing_type(a.kind, t);
    const Value identity = identity_of(e, a.kind, partial);
    const Value sum = emit_reduction(
        e, 0, terms, identity,
        [&](const Index& i) {
          const Coordinates w = e.index().coordinates(i, a.window);
          Coordinates from(shape.size());
          Inside inside(e);
          for (std::size_t d = 0; d < shape.size(); ++d)
            from[d] = inside.limited(k.position[d] * or_default(a.stride, d, 1) + w[d] * or_default(a.dilation, d, 1) +
                                         Index(-or_default(a.low, d, 0)),
                                     shape[d]);
          return element_count(shape) == 0
                     ? identity
                     : inside.choose(ops::convert(k.load(n.operands[0], from), partial), identity);
        },
        combine_op(a.kind, t), terms);
    k.store(0, e.index().linear(k.position, out_shape), ops::convert(sum, t));
  });
}

}  // namespace rlx::compile
