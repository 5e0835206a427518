#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Constraint<DimSizeAttrs> dim_size_constraints[] = {
    {"C1", "the dtype is an integer, floating-point or complex one",
     [](const DimSizeAttrs& a, const Signature&) { return Answer(numbers.contains(a.dtype)); }}};

extern const OpDef<DimSizeAttrs> dim_size_op{
    .name = "dim_size",
    .doc = "A dimension as a number: what an expression of symbols is when the program runs.",
    .operands = {},
    .constraints = dim_size_constraints,
    .infer = [](const DimSizeAttrs& a, const Signature&) -> Types { return {tensor(a.dtype, {})}; },
    .meaning = Primitive<DimSizeAttrs>{[](const DimSizeAttrs& a, const ReferenceCall&) -> HostValues {
      return {HostTensor::scalar_i64(a.dtype, a.size.constant())};
    }},
    .vjp = Vjp<DimSizeAttrs>{zero_vjp<DimSizeAttrs>},
    .jvp = zero_jvp<DimSizeAttrs>,
    .batch = [](const BatchCall<DimSizeAttrs>& c) -> Batched {
      return {c.b.emit("dim_size", ValuesIn{}, c.attrs), {-1}};
    },
    .shard =
        [](const DimSizeAttrs&, const Signature&) {
          ShardRule r;
          r.results = {{}};
          return r;
        },
    .cost = [](const DimSizeAttrs& a, const Signature&) { return Cost{0, bit_width(a.dtype) / 8}; },
    .samples = []() -> std::vector<Sample<DimSizeAttrs>> {
      return {sample<DimSizeAttrs>({}, {.size = 7}).expects({{7}}).exact(),
              sample<DimSizeAttrs>({}, {.size = 3, .dtype = DType::f32}).expects({{3}}).exact(),
              sample<DimSizeAttrs>({}, {.size = -2, .dtype = DType::c128}).expects({{-2, 0}}).exact(),
              sample<DimSizeAttrs>({}, {.size = 1, .dtype = DType::boolean}).breaking("C1")};
    }};

}  // namespace rlx::ops
