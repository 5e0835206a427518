#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Constraint<ConstantAttrs> constant_constraints[] = {
    {"C1", "the value has the elements that its shape promises",
     [](const ConstantAttrs& a, const Signature&) -> Answer {
       return a.value.numel() == element_count(a.value.shape());
     }}};

static HostTensor literal(DType t, std::vector<std::int64_t> shape, std::vector<double> values) {
  return HostTensor::from(t, std::move(shape), values);
}

extern const OpDef<ConstantAttrs> constant_op{
    .name = "constant",
    .doc = "The tensor in the attribute.",
    .operands = {},
    .constraints = constant_constraints,
    .infer = [](const ConstantAttrs& a, const Signature&) -> Types {
      return {tensor(a.value.dtype(), Shape(a.value.shape().begin(), a.value.shape().end()))};
    },
    .meaning =
        Primitive<ConstantAttrs>{[](const ConstantAttrs& a, const ReferenceCall&) -> HostValues { return {a.value}; }},
    .vjp = Vjp<ConstantAttrs>{zero_vjp<ConstantAttrs>},
    .jvp = zero_jvp<ConstantAttrs>,
    .batch = [](const BatchCall<ConstantAttrs>& c) -> Batched {
      return {c.b.emit("constant", ValuesIn{}, c.attrs), {-1}};
    },
    .shard =
        [](const ConstantAttrs& a, const Signature&) {
          ShardRule r;
          r.results = {std::vector<int>(a.value.shape().size(), -1)};
          return r;
        },
    .cost = [](const ConstantAttrs& a, const Signature&) { return Cost{0, a.value.bytes()}; },
    .samples = []() -> std::vector<Sample<ConstantAttrs>> {
      return {
          sample<ConstantAttrs>({}, {.value = literal(DType::f32, {2}, {1.5, -0.0})}).expects({{1.5, -0.0}}).exact(),
          sample<ConstantAttrs>({}, {.value = literal(DType::f64, {}, {3.25})}).expects({{3.25}}).exact(),
          sample<ConstantAttrs>({}, {.value = literal(DType::i8, {2, 2}, {1, -128, 3, 127})})
              .expects({{1, -128, 3, 127}})
              .exact(),
          sample<ConstantAttrs>({}, {.value = literal(DType::i4, {3}, {-8, 7, 1})}).expects({{-8, 7, 1}}).exact(),
          sample<ConstantAttrs>({}, {.value = literal(DType::boolean, {2}, {1, 0})}).expects({{1, 0}}).exact(),
          sample<ConstantAttrs>({}, {.value = literal(DType::bf16, {1}, {NAN})}).expects({{NAN}}).exact(),
          sample<ConstantAttrs>({}, {.value = HostTensor(DType::c64, {0, 2})}),
          sample<ConstantAttrs>({}).breaking("C1"),
          sample<ConstantAttrs>({f32({2})}, {.value = HostTensor::scalar(DType::f32, 1)}).breaking("arity")};
    },
    .traits = Trait::constant};

}  // namespace rlx::ops
