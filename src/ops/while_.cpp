// `max_trips` is a promise of whoever wrote the loop; a loop that runs longer stops with NumericalError.
#include "ops/control_flow.hpp"

#include <algorithm>

namespace rlx::ops {

constexpr Operand while_operands[] = {{"state and invariants", {}, OperandKind::any, true}};
constexpr Constraint<WhileAttrs> while_constraints[] = {
    {"C1", "0 <= carried <= number of operands",
     [](const WhileAttrs& a, const Signature& s) {
       return Answer(0 <= a.carried && static_cast<std::size_t>(a.carried) <= s.size());
     }},
    {"C2", "max_trips >= -1", [](const WhileAttrs& a, const Signature&) { return Answer(a.max_trips >= -1); }},
    {"C3", "there are two regions, of which the condition returns one bool scalar",
     [](const WhileAttrs&, const Signature& s) {
       const Answer two = has_regions(s, 2);
       const Type flag = boolean({});
       return two.is_no() ? two : same_types(s.regions[0].results, {&flag, 1});
     }},
    {"C4", "the body returns the types of the state", [](const WhileAttrs& a, const Signature& s) {
       return same_types(s.regions[1].results, s.types.first(static_cast<std::size_t>(a.carried)));
     }}};

static Types while_infer(const WhileAttrs& a, const Signature& s) {
  return Types(s.types.begin(), s.types.begin() + a.carried);
}

static HostValues while_reference(const WhileAttrs& a, const ReferenceCall& c) {
  HostValues all(c.in.begin(), c.in.end());
  for (std::int64_t trip = 0; std::get<HostTensor>(c.region(0, all)[0]).get_i64(0) != 0; ++trip) {
    if (trip == a.max_trips)
      throw NumericalError("while", 0, "while: runs longer than max_trips = " + std::to_string(a.max_trips));
    HostValues state = c.region(1, all);
    std::move(state.begin(), state.end(), all.begin());
  }
  all.resize(static_cast<std::size_t>(a.carried));
  return all;
}

extern const OpDef<WhileAttrs> while_op{
    .name = "while",
    .doc = "Replaces the state by the body's results as long as the condition holds.",
    .operands = while_operands,
    .constraints = while_constraints,
    .infer = while_infer,
    .meaning = Primitive<WhileAttrs>{while_reference},
    .vjp = Never{region_by_region},
    .jvp = Never{region_by_region},
    .batch = Never{batch_region_by_region},
    .shard = Never{shard_region_by_region},
    .cost = Never{cost_of_regions},
    .samples = []() -> std::vector<Sample<WhileAttrs>> {
      // Doubles the first state until the second, which counts, reaches the invariant.
      const RegionBody below = [](ValuesIn v) { return Values{compare(v[1], v[2], Direction::lt)}; };
      const RegionBody step = [](ValuesIn v) {
        return Values{add(v[0], v[0]), add(v[1], scalar(*v[1].builder, v[1].dtype(), 1))};
      };
      const RegionBody swapped = [](ValuesIn v) { return Values{v[1], v[0]}; },
                       keep = [](ValuesIn v) { return Values{v[0], v[1]}; };
      const SampleOperand x{f32({2}), {1, 3}}, zero{i32({}), {0}}, three{i32({}), {3}};
      return {sample<WhileAttrs>({x, zero, three}, {2, -1}).with(below).with(step).expects({{8, 24}, {3}}).exact(),
              sample<WhileAttrs>({x, three, zero}, {2, 0}).with(below).with(step).expects({{1, 3}, {3}}).exact(),
              sample<WhileAttrs>({f64({2, 3}), zero, three}, {2, 3}).with(below).with(step),
              sample<WhileAttrs>({x, zero, three}, {4, -1}).with(below).with(step).breaking("C1"),
              sample<WhileAttrs>({x, zero, three}, {2, -2}).with(below).with(step).breaking("C2"),
              sample<WhileAttrs>({x, zero, three}, {2, -1}).with(keep).with(step).breaking("C3"),
              sample<WhileAttrs>({x, zero, three}, {2, -1}).breaking("regions"),
              sample<WhileAttrs>({x, zero, three}, {2, -1}).with(below).with(swapped).breaking("C4")};
    },
    .region_arguments = [](const WhileAttrs&, const Signature& s) -> std::vector<Types> {
      const Types all(s.types.begin(), s.types.end());
      return {all, all};
    }};

}  // namespace rlx::ops
