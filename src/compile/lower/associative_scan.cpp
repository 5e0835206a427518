// associative_scan: a loop along the axis for each position of the other dimensions.
#include "compile/lower/lower.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

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
  const Combining combining(l.mir(), n);
  const std::vector<DType>& types = combining.types();
  l.kernel(n, others, n.operands, results, [&](KernelBody& k) {
    Elements& e = k.elements;
    Values operands{e.index().number(0), e.index().number(Extent::of(shape, static_cast<std::size_t>(a.axis)))};
    for (std::size_t i = 0; i < count; ++i)
      operands.push_back(ops::convert(k.load(n.operands[count + i], {}), types[i]));
    const RegionBody trip = [&](ValuesIn args) -> Values {
      Elements::Scope scope(e);
      const Index i = Index::of(args[0], extent);
      Coordinates c = k.position;
      c.insert(c.begin() + a.axis, a.reverse ? i * -1 + Index(extent - 1) : i);
      const Index at = e.index().linear(c, shape);
      const Values carried(args.begin() + 1, args.end());
      // The carried part comes before the element in the order of the combination, from whichever end the walk starts.
      Values both = carried;
      for (std::size_t i = 0; i < count; ++i) both.push_back(ops::convert(k.load(n.operands[i], c), types[i]));
      const Values combined = combining.emit(k.b, both);
      for (std::size_t i = 0; i < count; ++i)
        k.store(i, at, ops::convert((a.exclusive ? carried : combined)[i], l.mir().tensor_type(n.results[i]).dtype));
      return combined;
    };
    k.b.emit("lir.for", operands, lir::ForAttrs{}, std::span(&trip, 1));
  });
}

}  // namespace rlx::compile
