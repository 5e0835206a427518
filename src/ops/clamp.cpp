#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand clamp_operands[] = {{"low", real_numbers}, {"x", real_numbers}, {"high", real_numbers}};

// clamp is min(max(x, low), high), and its gradient is theirs: halves where x meets a bound.
static Value gt(Value x, Value y) { return compare(x, y, Direction::gt); }
static Value eq(Value x, Value y) { return compare(x, y, Direction::eq); }
static Value of_max(Value t, Value x, Value y) { return share(t, gt(x, y), eq(x, y)); }
static Value of_min(Value t, Value x, Value y) { return share(t, gt(y, x), eq(x, y)); }

static Values clamp_vjp(const VjpCall<NoAttributes>& c) {
  const Value low = c.in[0], x = c.in[1], high = c.in[2], t = c.cotangent[0];
  if (!t) return Values(3);
  const Value raised = max(x, low);
  const Value inner = c.wanted[0] || c.wanted[1] ? of_min(t, raised, high) : Value{};
  return {c.wanted[0] ? of_max(inner, low, x) : Value{}, c.wanted[1] ? of_max(inner, x, low) : Value{},
          c.wanted[2] ? of_min(t, high, raised) : Value{}};
}
static Values clamp_jvp(const JvpCall<NoAttributes>& c) {
  const Value low = c.in[0], x = c.in[1], high = c.in[2], raised = max(x, low);
  const Value inner = plus(c.tangent[0] ? of_max(c.tangent[0], low, x) : Value{},
                           c.tangent[1] ? of_max(c.tangent[1], x, low) : Value{});
  return {
      plus(inner ? of_min(inner, raised, high) : Value{}, c.tangent[2] ? of_min(c.tangent[2], high, raised) : Value{})};
}

extern const OpDef<NoAttributes> clamp_op{
    .name = "clamp",
    .doc =
        "min(max(x, low), high): x where it lies between the bounds, else the nearer one; high where the bounds cross.",
    .operands = clamp_operands,
    .constraints = one_type<>,
    .infer = infer_first<>,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) {
      return map_ternary(c, []<RealElement T>(T low, T x, T high) { return minimum(maximum(x, low), high); });
    }},
    .vjp = Vjp<NoAttributes>{clamp_vjp},
    .jvp = clamp_jvp,
    .batch = batch_elementwise<>,
    .shard = shard_elementwise<>,
    .cost = cost_elementwise<2>,
    .samples = []() -> Samples {
      return {
          sample({{f64({3, 5}), Fill::uniform, -0.6, -0.4},
                  {f64({3, 5}), Fill::distinct, -1, 1},
                  {f64({3, 5}), Fill::uniform, 0.41, 0.6}}),
          sample({{f32({17}), Fill::uniform, -0.6, -0.4}, f32({17}), {f32({17}), Fill::uniform, 0.4, 0.6}}),
          sample({{f16({17}), Fill::uniform, -0.6, -0.4}, f16({17}), {f16({17}), Fill::uniform, 0.4, 0.6}}),
          sample({{bf16({17}), Fill::uniform, -0.6, -0.4}, bf16({17}), {bf16({17}), Fill::uniform, 0.4, 0.6}}),
          sample(
              {{f32({6}), {0, 0, 0, 0, NAN, 2}}, {f32({6}), {-1, 0.5, 3, NAN, 0, 0}}, {f32({6}), {1, 1, 1, 1, 1, 1}}})
              .expects({{0, 0.5, 1, NAN, NAN, 1}})
              .exact()
              .without_gradients(),
          sample({{tensor(DType::i8, {3}), {-5, -5, -5}},
                  {tensor(DType::i8, {3}), {-128, 3, 127}},
                  {tensor(DType::i8, {3}), {5, 5, 5}}})
              .expects({{-5, 3, 5}})
              .exact(),
          sample({{tensor(DType::u8, {2}), {10, 10}},
                  {tensor(DType::u8, {2}), {3, 255}},
                  {tensor(DType::u8, {2}), {20, 20}}})
              .expects({{10, 20}})
              .exact(),
          sample({f32({2}), f32({2}), f32({3})}).breaking("C1"),
          sample({f32({2}), f32({2}), f64({2})}).breaking("C2"),
          sample({c64({2}), c64({2}), c64({2})}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
