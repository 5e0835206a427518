// Rows of unequal length: each element is a reduction whose bounds are loaded.
#include "compile/index_check.hpp"
#include "compile/lower/element_rules.hpp"
#include "compile/lower/reduction.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

Value segment_reduce_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& a = n.attrs.as<ops::SegmentReduceAttrs>();
  const Extent entries = Extent::leading(e.shape(n.operands[0])[0]);
  Builder& b = e.builder();
  // Offsets are limited to the entries there are, as gather limits its indices.
  const auto offset_at = [&](const Index& i) {
    const Value offset = ops::convert(e.at(n.operands[1], {i}), DType::i64);
    if (e.checked()) {
      const Value low = ops::compare(offset, e.index().number(0), ops::Direction::ge),
                  high = ops::compare(offset, e.index().number(entries), ops::Direction::le);
      b.emit("lir.check", {b.emit1("and", {low, high}), offset},
             index_check("segment offset", n, index_range(entries.value)));
    }
    return offset;
  };
  const Value begin = offset_at(c[0]), end = offset_at(c[0] + Index(1));
  if (e.checked())
    b.emit("lir.check", {ops::compare(begin, end, ops::Direction::le), end},
           index_check("segment offset", n, std::string(ascending)));
  const Index lower = e.index().clamped(begin, entries + 1), upper = e.index().clamped(end, entries + 1);
  const DType t = e.mir().tensor_type(n.operands[0]).dtype, partial = summing_type(a.kind, t);
  const Value sum = emit_reduction(
      e, lower, upper, identity_of(e, a.kind, partial),
      [&](const Index& i) {
        Coordinates from = c;
        from[0] = i;
        return ops::convert(e.at(n.operands[0], from), partial);
      },
      combine_op(a.kind, t), entries.value);
  return ops::convert(sum, t);
}

}  // namespace rlx::compile
