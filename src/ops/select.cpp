#include "ops/elementwise.hpp"

#include <cstring>

namespace rlx::ops {

constexpr Operand select_operands[] = {
    {"predicate", DTypeSet{DType::boolean}}, {"on_true", storable}, {"on_false", storable}};

constexpr Constraint<NoAttributes> select_constraints[] = {
    {"C1", "all operands have one shape", same_shapes<NoAttributes>},
    {"C2", "on_true and on_false have one dtype",
     [](const NoAttributes&, const Signature& s) -> Answer { return s.dtype(1) == s.dtype(2); }}};

static Values select_vjp(const VjpCall<NoAttributes>& c) {
  const Value t = c.cotangent[0];
  return {Value{}, pulls(c, 1) ? select(c.in[0], t, zeros_like(t)) : Value{},
          pulls(c, 2) ? select(c.in[0], zeros_like(t), t) : Value{}};
}
static Values select_jvp(const JvpCall<NoAttributes>& c) {
  const Value x = c.tangent[1], y = c.tangent[2];
  if (!x && !y) return {Value{}};
  return {select(c.in[0], x ? x : zeros_like(y), y ? y : zeros_like(x))};
}

/// Bits are copied, so that every type takes part and NaN keep their payload.
static HostValues select_reference(const NoAttributes&, const ReferenceCall& c) {
  HostTensor y = c.make();
  const std::int64_t size = bit_width(y.dtype()) / 8;  // bytes; i4 shares them
  std::byte* const to = y.mutable_data();
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    const HostTensor& from = c.tensor(c.tensor(0).get_u64(i) ? 1 : 2);
    if (size) std::memcpy(to + i * size, from.data() + i * size, static_cast<std::size_t>(size));
    else y.set_i64(i, from.get_i64(i));
  }
  return {y};
}

extern const OpDef<NoAttributes> select_op{
    .name = "select",
    .doc = "on_true where the predicate is true, else on_false.",
    .operands = select_operands,
    .constraints = select_constraints,
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {tensor(s.dtype(1), s.shape(0))}; },
    .meaning = Primitive<NoAttributes>{select_reference},
    .vjp = Vjp<NoAttributes>{select_vjp},
    .jvp = select_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = [](const NoAttributes&, const Signature& s) { return elementwise_cost(s, 1, s.dtype(1)); },
    .samples = []() -> Samples {
      return {
          sample({{boolean({2, 3}), Fill::uniform, 0, 1}, f64({2, 3}), f64({2, 3})}),
          sample({{boolean({5}), Fill::uniform, 0, 1}, f16({5}), f16({5})}),
          sample({{boolean({4}), Fill::uniform, 0, 1}, c128({4}), c128({4})}),
          sample({{boolean({3}), {1, 0, 1}}, {f32({3}), {1, 2, NAN}}, {f32({3}), {4, -0.0, 6}}})
              .expects({{1, -0.0, NAN}})
              .exact(),
          sample({{boolean({3}), {1, 0, 1}}, {tensor(DType::i4, {3}), {-8, 2, 7}}, {tensor(DType::i4, {3}), {4, 5, 6}}})
              .expects({{-8, 5, 7}})
              .exact(),
          sample({{boolean({2}), {1, 0}}, {boolean({2}), {0, 0}}, {boolean({2}), {1, 1}}}).expects({{0, 1}}).exact(),
          sample(
              {{boolean({2}), {1, 0}}, {i64({2}), {-9223372036854775808.0, 0}}, {i64({2}), {0, 9223372036854775807.0}}})
              .expects({{-9223372036854775808.0, 9223372036854775807.0}})
              .exact(),
          sample({{boolean({2}), {1, 0}},
                  {tensor(DType::f8e4m3fn, {2}), {448, 1}},
                  {tensor(DType::f8e4m3fn, {2}), {0, -2}}})
              .expects({{448, -2}})
              .exact(),
          sample({boolean({2}), f32({3}), f32({3})}).breaking("C1"),
          sample({boolean({2}), f32({2}), f64({2})}).breaking("C2"),
          sample({f32({2}), f32({2}), f32({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
