#include "compile/lower/reduction.hpp"

#include <rlx/ops/build.hpp>

#include <cmath>
#include <limits>

namespace rlx::compile {

Value emit_reduction(KernelBody& k, const Index& lower, const Index& upper, Value identity,
                     const std::function<Value(const Index&)>& term, std::string_view combine, std::int64_t extent) {
  Elements& e = k.elements;
  const std::vector<RegionBody> regions{[&](ValuesIn a) -> Values {
                                          Elements::Scope scope(e);
                                          return {term(Index::of(a[0], extent))};
                                        },
                                        [&](ValuesIn a) -> Values { return {k.b.emit1(combine, {a[0], a[1]})}; }};
  const Values operands{e.index().emit(lower), e.index().emit(upper), identity};
  return k.b.emit1("lir.reduce", operands, {}, regions);
}

std::string_view combine_op(ops::Combine kind) {
  switch (kind) {
    case ops::Combine::add:
      return "add";
    case ops::Combine::min:
      return "min";
    case ops::Combine::max:
      return "max";
    case ops::Combine::mul:
      return "mul";
    case ops::Combine::set:
      break;
  }
  throw InternalError("set combines nothing");
}

Value identity_of(KernelBody& k, ops::Combine kind, DType t) {
  HostTensor v(t, {});
  if (kind == ops::Combine::mul) v.set_f64(0, 1);
  if (kind == ops::Combine::min || kind == ops::Combine::max) {
    // set_f64 saturates integers, so that infinity gives their extremes.
    const double sign = kind == ops::Combine::min ? 1 : -1;
    if (t == DType::boolean) v.set_i64(0, sign > 0);
    else v.set_f64(0, sign * std::numeric_limits<double>::infinity());
  }
  return ops::constant(k.b, v);
}

}  // namespace rlx::compile
