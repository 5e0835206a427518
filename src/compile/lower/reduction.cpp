#include "compile/lower/reduction.hpp"

#include "ops/regions.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rlx::compile {

ReductionSpace reduction_space(const Graph& mir, const Node& reduce) {
  constexpr std::int64_t few_rows = 64;  // Up to so many the rows alone do not keep the threads busy.
  const auto& axes = reduce.attrs.as<ops::ReduceAttrs>().axes;
  ReductionSpace s;
  s.shape = constant_shape(mir.tensor_type(reduce.operands[0]).shape);
  bool inside = false;
  for (std::size_t d = 0; d < s.shape.size(); ++d) {
    const bool r = std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
    (r ? s.reduced : s.kept).push_back(s.shape[d]);
    (r ? s.reduced_axes : s.kept_axes).push_back(d);
    inside = inside || r;
    s.contiguous = s.contiguous && (r || !inside || s.shape[d] == 1);
    if (s.shape[d] > 1) s.columns = !r;
  }
  s.counts = !s.reduced_axes.empty() && s.reduced_axes[0] == 0;
  s.rows = element_count(s.kept);
  s.terms = element_count(s.reduced);
  const std::int64_t chunks = (s.terms + ReductionSpace::chunk - 1) / ReductionSpace::chunk;
  if (s.rows <= few_rows && chunks > 1) s.chunks = chunks;
  return s;
}

Coordinates ReductionSpace::at(Elements& e, const Coordinates& row, const Index& i) const {
  if (e.flat()) return {i};
  Coordinates c(shape.size());
  for (std::size_t d = 0; d < kept_axes.size(); ++d) c[kept_axes[d]] = row[d];
  const Coordinates inner = e.index().coordinates(i, reduced);
  for (std::size_t d = 0; d < reduced_axes.size(); ++d) c[reduced_axes[d]] = inner[d];
  return c;
}

Values emit_reduction(Elements& e, const Index& lower, const Index& upper, ValuesIn identities,
                      const std::function<Values(const Index&)>& term, const Combination& combine,
                      std::int64_t extent) {
  Values operands{e.index().emit(lower), e.index().emit(upper)};
  operands.insert(operands.end(), identities.begin(), identities.end());
  const std::vector<RegionBody> regions{[&](ValuesIn a) {
                                          Elements::Scope scope(e);
                                          return term(Index::of(a[0], extent));
                                        },
                                        combine};
  return e.builder().emit("lir.reduce", operands, {}, regions);
}

Value emit_reduction(Elements& e, const Index& lower, const Index& upper, Value identity,
                     const std::function<Value(const Index&)>& term, std::string_view combine, std::int64_t extent) {
  return emit_reduction(
      e, lower, upper, {&identity, 1}, [&](const Index& i) { return Values{term(i)}; },
      [&](ValuesIn a) { return Values{e.builder().emit1(combine, {a[0], a[1]})}; }, extent)[0];
}

Combining::Combining(const Graph& mir, const Node& n) : mir_(mir), node_(n) {
  const auto* reduce = n.attrs.get_if<ops::ReduceAttrs>();
  const auto& accumulate = reduce ? reduce->accumulate : n.attrs.as<ops::AssociativeScanAttrs>().accumulate;
  std::vector<DType> narrow;
  for (std::size_t k = 0; k < n.results.size(); ++k) {
    const DType operand = mir.tensor_type(n.operands[k]).dtype, result = mir.tensor_type(n.results[k]).dtype;
    types_.push_back(ops::combined_type(accumulate, k, operand));
    const auto kind = ops::recognise_combine(mir, n.regions[0], k);
    if (!kind || !(numbers | DTypeSet{DType::boolean}).contains(operand)) continue;
    kinds_.push_back(*kind);
    const bool extremum = *kind == ops::Combine::min || *kind == ops::Combine::max;
    const bool wraps = is_integer(operand) && bit_width(result) <= bit_width(types_[k]);
    narrow.push_back(extremum ? operand : wraps ? result : types_[k]);
  }
  if (kinds_.size() < types_.size()) kinds_.clear();
  else types_ = narrow;
}

Values Combining::emit(Builder& b, ValuesIn both) const {
  if (kinds_.empty()) return b.inline_region(mir_, node_.regions[0], both);
  Values out;
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    out.push_back(b.emit1(combine_op(kinds_[k], types_[k]), {both[k], both[kinds_.size() + k]}));
  return out;
}

DType summing_type(ops::Combine kind, DType t) {
  const bool sums = kind == ops::Combine::add || kind == ops::Combine::mul;
  return sums && is_floating(t) ? default_accumulator(t) : t;
}

std::string_view combine_op(ops::Combine kind, DType t) {
  const bool logical = t == DType::boolean;
  switch (kind) {
    case ops::Combine::add:
      return "add";
    case ops::Combine::min:
      return logical ? "and" : "min";
    case ops::Combine::max:
      return logical ? "or" : "max";
    case ops::Combine::mul:
      return "mul";
    case ops::Combine::set:
      break;
  }
  throw InternalError("set combines nothing");
}

Value identity_of(Elements& e, ops::Combine kind, DType t) {
  HostTensor v(t, {});
  if (kind == ops::Combine::mul) v.set_f64(0, 1);
  if (kind == ops::Combine::min || kind == ops::Combine::max) {
    // set_f64 saturates integers, so that infinity gives their extremes.
    const double sign = kind == ops::Combine::min ? 1 : -1;
    if (t == DType::boolean) v.set_i64(0, sign > 0);
    else v.set_f64(0, sign * std::numeric_limits<double>::infinity());
  }
  return ops::constant(e.builder(), v);
}

}  // namespace rlx::compile
