#include "ops/control_flow.hpp"

#include <algorithm>

namespace rlx::ops {

constexpr Operand if_operands[] = {{"predicate", DType::boolean}, {"operands", {}, OperandKind::any, true}};
constexpr Constraint<NoAttributes> if_constraints[] = {
    {"C1", "predicate is a scalar", [](const NoAttributes&, const Signature& s) { return Answer(s.rank(0) == 0); }},
    {"C2", "there are two regions that return the same types", [](const NoAttributes&, const Signature& s) {
       const Answer two = has_regions(s, 2);
       return two.is_no() ? two : same_types(s.regions[1].results, s.regions[0].results);
     }}};

extern const OpDef<NoAttributes> if_op{
    .name = "if",
    .doc = "Runs the first region on operands where predicate holds, else the second.",
    .operands = if_operands,
    .constraints = if_constraints,
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return s.regions[0].results; },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return c.region(c.tensor(0).get_i64(0) != 0 ? 0 : 1, c.in.subspan(1));
    }},
    .vjp = Never{region_by_region},
    .jvp = Never{region_by_region},
    .batch = Never{batch_region_by_region},
    .shard = Never{shard_region_by_region},
    .cost = Never{cost_of_regions},
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const auto flag = [](double v) { return SampleOperand(boolean({}), {v}); };
      const RegionBody twice = [](ValuesIn v) { return Values{add(v[0], v[0])}; },
                       square = [](ValuesIn v) { return Values{mul(v[0], v[0])}; };
      const RegionBody pair = [](ValuesIn v) { return Values{v[0], v[0]}; },
                       nothing = [](ValuesIn) { return Values{}; };
      const SampleOperand x{f32({2}), {3, 5}};
      return {sample<NoAttributes>({flag(1), f64({2, 3})}).with(twice).with(square),
              sample<NoAttributes>({flag(0), f64({2, 3})}).with(twice).with(square),
              sample<NoAttributes>({flag(1), x}).with(twice).with(square).expects({{6, 10}}).exact(),
              sample<NoAttributes>({flag(0), x}).with(twice).with(square).expects({{9, 25}}).exact(),
              sample<NoAttributes>({flag(0)}).with(nothing).with(nothing),
              sample<NoAttributes>({boolean({1}), x}).with(twice).with(square).breaking("C1"),
              sample<NoAttributes>({flag(1), x}).with(twice).with(pair).breaking("C2"),
              sample<NoAttributes>({flag(1), x}).breaking("regions"),
              sample<NoAttributes>({f32({}), x}).with(twice).with(square).breaking("dtype")};
    },
    .region_arguments = [](const NoAttributes&, const Signature& s) -> std::vector<Types> {
      const Types arguments(s.types.begin() + (s.types.empty() ? 0 : 1), s.types.end());
      return {arguments, arguments};
    }};

}  // namespace rlx::ops
