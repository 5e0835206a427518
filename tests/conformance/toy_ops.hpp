// Operators that are wrong on purpose, each in one way: what the conformance program must find.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>

namespace rlx::testing {

struct ToyAttrs {
  int axis = 0;
  bool operator==(const ToyAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axis", &ToyAttrs::axis, "a dimension"}};
};
using A = ToyAttrs;

inline constexpr Operand toy_operands[] = {{"x", DType::f64}};
inline constexpr Constraint<A> toy_constraints[] = {
    {"C1", "0 <= axis < rank(x)",
     [](const A& a, const Signature& s) -> Answer { return 0 <= a.axis && a.axis < s.rank(0); }}};
inline Types toy_infer(const A&, const Signature& s) { return {s.types[0]}; }

/// x * x, with the derivative 2 x.
inline Values toy_square(Builder&, const A&, ValuesIn in) { return {ops::mul(in[0], in[0])}; }
inline Values toy_vjp(const VjpCall<A>& c) {
  return {ops::mul(c.cotangent[0], ops::mul(c.in[0], ops::full_like(c.in[0], 2)))};
}
inline Values toy_jvp(const JvpCall<A>& c) {
  return {ops::mul(c.tangent[0], ops::mul(c.in[0], ops::full_like(c.in[0], 2)))};
}
inline Values toy_half_vjp(const VjpCall<A>& c) { return {ops::mul(c.cotangent[0], c.in[0])}; }
inline Values toy_half_jvp(const JvpCall<A>& c) { return {ops::mul(c.tangent[0], c.in[0])}; }
/// Right, but of two positions it reads the last one at index 7, which is clamped.
inline Values toy_distant_vjp(const VjpCall<A>& c) {
  HostTensor at(DType::i64, {2});
  at.set_i64(1, 7);
  const Value x = ops::take(c.in[0], ops::constant(c.b, at), 0);
  return {ops::mul(c.cotangent[0], ops::mul(x, ops::full_like(x, 2)))};
}
inline Batched toy_batch(const BatchCall<A>& c) {
  return {c.b.emit(c.node.op->name(), {c.in[0]}, A{c.attrs.axis + (c.axes[0] <= c.attrs.axis ? 1 : 0)}), {c.axes[0]}};
}
inline ShardRule toy_shard(const A&, const Signature& s) {
  ShardRule r{std::vector<ShardRule::Factor>(static_cast<std::size_t>(s.rank(0))), {{}}, {{}}};
  for (int d = 0; d < s.rank(0); ++d) r.operands[0].push_back(d), r.results[0].push_back(d);
  return r;
}
/// The order of one dimension is reversed: a batch rule that forgets to move the axis reverses the members.
inline Values toy_reverse(Builder&, const A& a, ValuesIn in) { return {ops::reverse(in[0], {a.axis})}; }
inline Batched toy_forgetful_batch(const BatchCall<A>& c) {
  return {c.b.emit(c.node.op->name(), {c.in[0]}, c.attrs), {c.axes[0]}};
}

inline std::vector<Sample<A>> toy_samples() {
  return {sample<A>({f64({2, 3})}), sample<A>({{f64({2}), {2, 3}}}).expects({{4, 9}}).exact().without_gradients(),
          sample<A>({f64({2})}, {1}).breaking("C1")};
}
/// For other meanings than x * x: the square of ones, and their order, are ones.
inline std::vector<Sample<A>> toy_ones() {
  return {sample<A>({f64({2, 3})}), sample<A>({{f64({2}), {1, 1}}}).expects({{1, 1}}).exact(),
          sample<A>({f64({2})}, {1}).breaking("C1")};
}
inline std::vector<Sample<A>> toy_stating_nothing() {
  return {sample<A>({f64({2, 3})}), sample<A>({f64({2})}, {1}).breaking("C1")};
}
inline std::vector<Sample<A>> toy_wrong_literal() {
  return {sample<A>({{f64({2}), {2, 3}}}).expects({{4, 8}}), sample<A>({f64({2})}, {1}).breaking("C1")};
}
inline std::vector<Sample<A>> toy_unbroken() { return {sample<A>({{f64({2}), {2, 3}}}).expects({{4, 9}})}; }
inline std::vector<Sample<A>> toy_accepted() {
  return {sample<A>({{f64({2}), {2, 3}}}).expects({{4, 9}}), sample<A>({f64({2})}, {0}).breaking("C1")};
}

inline constexpr Operand toy_pair[] = {{"x", DType::f64}, {"y", DType::f64}};
inline Values toy_product(Builder&, const A&, ValuesIn in) { return {ops::mul(in[0], in[1])}; }
/// Right where both cotangents are wanted; that of y alone is half of it.
inline Values toy_greedy_vjp(const VjpCall<A>& c) {
  const Value t = c.wanted[0] ? c.cotangent[0] : ops::mul(c.cotangent[0], ops::full_like(c.in[0], 0.5));
  return {c.wanted[0] ? ops::mul(c.cotangent[0], c.in[1]) : Value{}, c.wanted[1] ? ops::mul(t, c.in[0]) : Value{}};
}
inline std::vector<Sample<A>> toy_pairs() {
  return {sample<A>({f64({3}), f64({3})}),
          sample<A>({{f64({2}), {2, 3}}, {f64({2}), {5, 7}}}).expects({{10, 21}}).exact(),
          sample<A>({f64({2}), f64({2})}, {1}).breaking("C1")};
}

/// A right one, of which the others differ in one slot.
inline OpDef<A> toy(std::string_view name) {
  return {.name = name,
          .doc = "x * x.",
          .operands = toy_operands,
          .constraints = toy_constraints,
          .infer = toy_infer,
          .meaning = Composite<A>{toy_square},
          .vjp = Vjp<A>{toy_vjp},
          .jvp = toy_jvp,
          .batch = toy_batch,
          .shard = toy_shard,
          .cost = Derived{},
          .samples = toy_samples};
}

}  // namespace rlx::testing
