// associative_scan: a loop along the axis for each position of the other dimensions.
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/attributes.hpp>

namespace rlx::compile {

void lower_associative_scan(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::AssociativeScanAttrs>();
  const std::size_t count = n.operands.size() / 2;
  const auto shape = l.shape(n.operands[0]);
  auto others = shape;
  others.erase(others.begin() + a.axis);
  const std::int64_t extent = shape[static_cast<std::size_t>(a.axis)];
  Values results;
  for (ValueId v : n.results) results.push_back(l.allocate(v));
  if (element_count(shape) == 0) return;
  l.kernel(n, others, n.operands, results, [&](KernelBody& k) {
    Elements& e = k.elements;
    Values operands{e.index().number(0), e.index().number(Extent::of(shape, static_cast<std::size_t>(a.axis)))};
    for (std::size_t i = 0; i < count; ++i) operands.push_back(k.load(n.operands[count + i], {}));
    const RegionBody trip = [&](ValuesIn args) -> Values {
      Elements::Scope scope(e);
      const Index i = Index::of(args[0], extent);
      Coordinates c = k.position;
      c.insert(c.begin() + a.axis, a.reverse ? i * -1 + Index(extent - 1) : i);
      const Index at = e.index().linear(c, shape);
      const Values carried(args.begin() + 1, args.end());
      // The carried part comes before the element in the order of the combination, from whichever end the walk starts.
      Values both = carried;
      for (std::size_t i = 0; i < count; ++i) both.push_back(k.load(n.operands[i], c));
      const Values combined = k.b.inline_region(l.mir(), n.regions[0], both);
      for (std::size_t i = 0; i < count; ++i) k.store(i, at, (a.exclusive ? carried : combined)[i]);
      return combined;
    };
    k.b.emit("lir.for", operands, lir::ForAttrs{}, std::span(&trip, 1));
  });
}

}  // namespace rlx::compile
