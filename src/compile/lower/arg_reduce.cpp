// arg_reduce: a reduction of (value, index) pairs; NaN wins, ties go to the smaller index, so that any order of
// combination gives the same result.
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

#include <cmath>
#include <limits>

namespace rlx::compile {

void lower_arg_reduce(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::ArgReduceAttrs>();
  const auto axis = static_cast<std::size_t>(a.axis);
  const auto shape = l.shape(n.operands[0]);
  auto kept = shape;
  kept.erase(kept.begin() + a.axis);
  const DType t = l.mir().tensor_type(n.operands[0]).dtype;
  const Value result = l.allocate(n.results[0]);
  if (element_count(kept) == 0) return;
  const Extent extent = Extent::of(shape, axis);

  const auto better = [&](Builder& b, Value x, Value y) {  // Whether x replaces y, both values without ties.
    const Value beats = ops::compare(x, y, a.kind == ops::Extremum::max ? ops::Direction::gt : ops::Direction::lt);
    if (!is_floating(t)) return beats;
    const Value y_is_number = b.emit1("not", {b.emit1("is_nan", {y})});
    return b.emit1("or", {beats, b.emit1("and", {b.emit1("is_nan", {x}), y_is_number})});
  };
  l.kernel(n, kept, {n.operands[0]}, {result}, [&](KernelBody& k) {
    Elements& e = k.elements;
    const auto at = [&](const Index& i) {
      Coordinates c = k.position;
      c.insert(c.begin() + a.axis, i);
      return k.load(n.operands[0], c);
    };
    // Index `extent` marks "no element yet": every real one replaces it.
    HostTensor worst(t, {});
    worst.set_f64(0, a.kind == ops::Extremum::max ? -std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::infinity());
    const Values start{e.index().number(0), e.index().number(extent), ops::constant(k.b, worst),
                       e.index().number(extent)};
    const std::vector<RegionBody> regions{
        [&](ValuesIn i) -> Values {
          Elements::Scope scope(e);
          return {at(Index::of(i[0], extent.value)), i[0]};
        },
        [&](ValuesIn v) -> Values {
          Builder& b = k.b;
          const Value second_wins = better(b, v[2], v[0]), first_wins = better(b, v[0], v[2]);
          const Value second_first = ops::compare(v[3], v[1], ops::Direction::lt);
          const Value tie = b.emit1("not", {first_wins});
          const Value take = b.emit1("or", {second_wins, b.emit1("and", {tie, second_first})});
          return {ops::select(take, v[2], v[0]), ops::select(take, v[3], v[1])};
        }};
    const Values out = k.b.emit("lir.reduce", start, {}, regions);
    k.store(0, e.index().linear(k.position, kept), ops::convert(out[1], a.index));
  });
}

}  // namespace rlx::compile
