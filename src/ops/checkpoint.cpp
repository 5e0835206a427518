#include "ops/control_flow.hpp"

namespace rlx::ops {

constexpr Operand checkpoint_operands[] = {{"operands", {}, OperandKind::any, true}};
constexpr Constraint<CheckpointAttrs> checkpoint_constraints[] = {
    {"C1", "no operand is a token: what has effects is not done twice", [](const CheckpointAttrs&, const Signature& s) {
       for (std::size_t i = 0; i < s.size(); ++i)
         if (std::holds_alternative<TokenType>(s.types[i])) return Answer::no("operand " + std::to_string(i));
       return Answer(true);
     }}};

extern const OpDef<CheckpointAttrs> checkpoint_op{
    .name = "checkpoint",
    .doc = "Runs its region; reverse mode keeps the operands alone and computes what is inside again.",
    .operands = checkpoint_operands,
    .constraints = checkpoint_constraints,
    .infer = [](const CheckpointAttrs&, const Signature& s) -> Types {
      return s.regions.empty() ? Types{} : s.regions[0].results;
    },
    .meaning =
        Primitive<CheckpointAttrs>{[](const CheckpointAttrs&, const ReferenceCall& c) { return c.region(0, c.in); }},
    .vjp = Never{region_by_region},
    .jvp = Never{region_by_region},
    .batch = Never{batch_region_by_region},
    .shard = Never{shard_region_by_region},
    .cost = Never{cost_of_regions},
    .samples = []() -> std::vector<Sample<CheckpointAttrs>> {
      using C = CheckpointAttrs;
      const RegionBody wave = [](ValuesIn v) { return Values{sin(mul(sin(v[0]), v[1])), v[0]}; },
                       square = [](ValuesIn v) { return Values{mul(v[0], v[0])}; };
      const SampleOperand x{f32({2}), {3, 5}}, token{Type(TokenType{}), Fill::uniform};
      return {sample<C>({f64({2, 3}), f64({2, 3})}).with(wave),
              sample<C>({f64({2, 3}), f64({2, 3})}, {.recomputes = true}).with(wave),
              sample<C>({x}).with(square).expects({{9, 25}}).exact(),
              sample<C>({x}, {.recomputes = true}).with(square).expects({{9, 25}}).exact(),
              sample<C>({}).with([](ValuesIn) { return Values{}; }),
              sample<C>({x}).breaking("regions"),
              sample<C>({x, token}).with(square).breaking("C1")};
    },
    .region_arguments = [](const CheckpointAttrs&, const Signature& s) -> std::vector<Types> {
      return {Types(s.types.begin(), s.types.end())};
    }};

}  // namespace rlx::ops
