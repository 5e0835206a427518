#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand complex_operands[] = {{"re", DTypeSet{DType::f32, DType::f64}},
                                        {"im", DTypeSet{DType::f32, DType::f64}}};

constexpr DType complex_of(DType part) { return part == DType::f32 ? DType::c64 : DType::c128; }

static Values complex_vjp(const VjpCall<NoAttributes>& c) {
  return {pulls(c, 0) ? real(c.cotangent[0]) : Value{}, pulls(c, 1) ? imag(c.cotangent[0]) : Value{}};
}
static Values complex_jvp(const JvpCall<NoAttributes>& c) {
  const Value re = c.tangent[0], im = c.tangent[1];
  if (!re && !im) return {Value{}};
  return {complex(re ? re : zeros_like(im), im ? im : zeros_like(re))};
}

extern const OpDef<NoAttributes> complex_op{
    .name = "complex",
    .doc = "The complex number of real part re and imaginary part im.",
    .operands = complex_operands,
    .constraints = one_type<>,
    .infer = [](const NoAttributes&, const Signature& s) -> Types {
      return {tensor(complex_of(s.dtype(0)), s.shape(0))};
    },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_binary(c, [](double re, double im) { return std::complex<double>(re, im); });
    }},
    .vjp = Vjp<NoAttributes>{complex_vjp},
    .jvp = complex_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = [](const NoAttributes&, const Signature& s) { return elementwise_cost(s, 0, complex_of(s.dtype(0))); },
    .samples = []() -> Samples {
      return {sample({f64({2, 3}), f64({2, 3})}),
              sample({f32({5}), f32({5})}),
              sample({{f32({3}), {1, -0.0, INFINITY}}, {f32({3}), {2, 0, NAN}}})
                  .expects({{1, 2, -0.0, 0, INFINITY, NAN}})
                  .exact(),
              sample({{f64({1}), {0.1}}, {f64({1}), {-0.2}}}).expects({{0.1, -0.2}}).exact(),
              sample({f32({2}), f32({3})}).breaking("C1"),
              sample({f32({2}), f64({2})}).breaking("C2"),
              sample({f16({2}), f16({2})}).breaking("dtype"),
              sample({c64({2}), c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
