#include "ops/elementwise.hpp"

namespace rlx::ops {

constexpr Operand compare_operands[] = {{"x", numbers | DTypeSet{DType::boolean}},
                                        {"y", numbers | DTypeSet{DType::boolean}}};

constexpr Constraint<CompareAttrs> compare_constraints[] = {
    one_type<CompareAttrs>[0],
    one_type<CompareAttrs>[1],
    {"C3", "complex numbers are compared by eq or ne", [](const CompareAttrs& a, const Signature& s) -> Answer {
       return !is_complex(s.dtype(0)) || a.direction == Direction::eq || a.direction == Direction::ne;
     }}};

template <class T>
static bool holds(Direction d, T x, T y) {
  if (d == Direction::eq) return x == y;
  if (d == Direction::ne) return x != y;
  if constexpr (RealElement<T>) {
    if (d == Direction::lt) return x < y;
    if (d == Direction::le) return x <= y;
    return d == Direction::gt ? x > y : x >= y;
  }
  return false;
}

extern const OpDef<CompareAttrs> compare_op{
    .name = "compare",
    .doc = "Whether x and y are so related. NaN is unequal to everything and in no order; -0 equals 0.",
    .operands = compare_operands,
    .constraints = compare_constraints,
    .infer = infer_bool<CompareAttrs>,
    .meaning = Primitive<CompareAttrs>{[](const CompareAttrs& a, const ReferenceCall& c) {
      return map_binary(c, [d = a.direction](auto x, auto y) { return holds(d, x, y); });
    }},
    .vjp = Vjp<CompareAttrs>{zero_vjp<CompareAttrs>},
    .jvp = zero_jvp<CompareAttrs>,
    .batch = batch_elementwise<CompareAttrs>,
    .shard = shard_elementwise<CompareAttrs>,
    .cost = cost_bool<1, CompareAttrs>,
    .samples = []() -> std::vector<Sample<CompareAttrs>> {
      return {sample<CompareAttrs>({f64({2, 3}), f64({2, 3})}, {.direction = Direction::lt}),
              sample<CompareAttrs>({{i32({2, 3}), Fill::uniform, -2, 2}, {i32({2, 3}), Fill::uniform, -2, 2}},
                                   {.direction = Direction::ge}),
              sample<CompareAttrs>({f16({5}), f16({5})}, {.direction = Direction::gt}),
              sample<CompareAttrs>({bf16({5}), bf16({5})}, {.direction = Direction::le}),
              sample<CompareAttrs>({{f32({5}), {1, 2, NAN, -0.0, INFINITY}}, {f32({5}), {2, 2, NAN, 0, 1}}},
                                   {.direction = Direction::eq})
                  .expects({{0, 1, 0, 1, 0}})
                  .exact(),
              sample<CompareAttrs>({{f32({5}), {1, 2, NAN, -0.0, INFINITY}}, {f32({5}), {2, 2, NAN, 0, 1}}},
                                   {.direction = Direction::ne})
                  .expects({{1, 0, 1, 0, 1}})
                  .exact(),
              sample<CompareAttrs>({{f32({5}), {1, 2, NAN, -0.0, INFINITY}}, {f32({5}), {2, 2, NAN, 0, 1}}},
                                   {.direction = Direction::lt})
                  .expects({{1, 0, 0, 0, 0}})
                  .exact(),
              sample<CompareAttrs>({{f32({5}), {1, 2, NAN, -0.0, INFINITY}}, {f32({5}), {2, 2, NAN, 0, 1}}},
                                   {.direction = Direction::le})
                  .expects({{1, 1, 0, 1, 0}})
                  .exact(),
              sample<CompareAttrs>({{f32({5}), {1, 2, NAN, -0.0, INFINITY}}, {f32({5}), {2, 2, NAN, 0, 1}}},
                                   {.direction = Direction::gt})
                  .expects({{0, 0, 0, 0, 1}})
                  .exact(),
              sample<CompareAttrs>({{f32({5}), {1, 2, NAN, -0.0, INFINITY}}, {f32({5}), {2, 2, NAN, 0, 1}}},
                                   {.direction = Direction::ge})
                  .expects({{0, 1, 0, 1, 1}})
                  .exact(),
              sample<CompareAttrs>({{i64({2}), {-9223372036854775808.0, 3}}, {i64({2}), {9223372036854775807.0, 3}}},
                                   {.direction = Direction::lt})
                  .expects({{1, 0}})
                  .exact(),
              sample<CompareAttrs>({{tensor(DType::u8, {1}), {255}}, {tensor(DType::u8, {1}), {1}}},
                                   {.direction = Direction::gt})
                  .expects({{1}})
                  .exact(),
              sample<CompareAttrs>({{boolean({2}), {0, 1}}, {boolean({2}), {1, 1}}}, {.direction = Direction::lt})
                  .expects({{1, 0}})
                  .exact(),
              sample<CompareAttrs>({{c64({2}), {1, 2, 1, 2}}, {c64({2}), {1, 2, 1, 3}}}, {.direction = Direction::eq})
                  .expects({{1, 0}})
                  .exact(),
              sample<CompareAttrs>({f32({2}), f32({3})}, {}).breaking("C1"),
              sample<CompareAttrs>({f32({2}), f64({2})}, {}).breaking("C2"),
              sample<CompareAttrs>({c64({2}), c64({2})}, {.direction = Direction::lt}).breaking("C3"),
              sample<CompareAttrs>({tensor(DType::i4, {2}), tensor(DType::i4, {2})}, {}).breaking("dtype")};
    },
    .traits = Trait::elementwise};

}  // namespace rlx::ops
