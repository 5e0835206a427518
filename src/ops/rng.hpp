// Operands and constraints of the random number generators.
#pragma once
#include "ops/structure.hpp"

namespace rlx::ops {

inline constexpr Operand rng_operands[] = {{"key", DType::u32}, {"counter", DType::u64}};

template <class A>
Answer rng_key_fits(const A&, const Signature& s) {
  return Answer(s.rank(0) == 1) && s.equal(s.rank(0) == 1 ? s.shape(0)[0] : 0, 2);
}
template <class A>
Answer rng_counter_fits(const A&, const Signature& s) {
  return Answer(s.rank(1) == 0);
}
template <class A>
Answer rng_shape_fits(const A& a, const Signature& s) {
  Answer all = true;
  for (const Dim& d : a.shape) all = std::move(all) && s.less_equal(0, d);
  return all;
}
/// The first constraints of all of them.
template <class A>
inline constexpr Constraint<A> rng_constraints[] = {{"C1", "key is u32[2]", rng_key_fits<A>},
                                                    {"C2", "counter is a scalar", rng_counter_fits<A>},
                                                    {"C3", "no dimension of shape is negative", rng_shape_fits<A>}};
inline Answer rng_real_dtype(const RngRealAttrs& a, const Signature&) {
  return Answer(a.dtype == DType::f32 || a.dtype == DType::f64);
}
inline constexpr Constraint<RngRealAttrs> rng_real_constraints[] = {rng_constraints<RngRealAttrs>[0],
                                                                    rng_constraints<RngRealAttrs>[1],
                                                                    rng_constraints<RngRealAttrs>[2],
                                                                    {"C4", "dtype is f32 or f64", rng_real_dtype}};
inline Types rng_real_infer(const RngRealAttrs& a, const Signature&) { return {tensor(a.dtype, a.shape)}; }
inline SampleOperand rng_key(double a, double b) { return {tensor(DType::u32, {2}), {a, b}}; }
inline SampleOperand rng_counter(double v) { return {tensor(DType::u64, {}), {v}}; }

/// 32 random bits for each f32, 64 for each f64 (the second word above), as u32 or u64 of shape [count].
Value rng_integers(Value key, Value counter, DType t, const Dim& count);

}  // namespace rlx::ops
