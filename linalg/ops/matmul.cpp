#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand matmul_operands[] = {{"a", numbers}, {"b", numbers}};
constexpr Constraint<NoAttributes> matmul_constraints[] = {
    {"C1", "both have the same rank, at least 2",
     [](const NoAttributes&, const Signature& s) -> Answer { return s.rank(0) >= 2 && s.rank(0) == s.rank(1); }},
    {"C2", "the inner dimensions agree",
     [](const NoAttributes&, const Signature& s) {
       return s.equal(s.shape(0).back(), s.shape(1)[s.shape(1).size() - 2]);
     }},
    {"C3", "leading dimensions agree",
     [](const NoAttributes&, const Signature& s) {
       return s.same_shape(Shape(s.shape(0).begin(), s.shape(0).end() - 2),
                           Shape(s.shape(1).begin(), s.shape(1).end() - 2));
     }},
    {"C4", "both have one dtype", [](const NoAttributes&, const Signature& s) { return one_dtype(s, {0, 1}); }}};

static Types matmul_infer(const NoAttributes&, const Signature& s) {
  Shape shape = s.shape(0);
  shape.back() = s.shape(1).back();
  return {tensor(s.dtype(0), shape)};
}

extern const OpDef<NoAttributes> matmul_op{
    .name = "linalg.matmul",
    .doc = "Matrix product of the last two dimensions; leading ones are batch dimensions.",
    .operands = matmul_operands,
    .constraints = matmul_constraints,
    .infer = matmul_infer,
    .meaning = Composite<NoAttributes>{[](Builder&, const NoAttributes&, ValuesIn in) -> Values {
      return {ops::matmul(in[0], in[1])};
    }},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = Derived{},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          const Dim mnk = s.tensor(0).numel() * s.shape(1).back();
          const std::int64_t bytes = bit_width(s.dtype(0)) / 8;
          return Cost{mnk * 2, (s.tensor(0).numel() + s.tensor(1).numel()) * bytes};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      return {sample<NoAttributes>({f64({3, 4}), f64({4, 2})}),
              sample<NoAttributes>({f32({2, 3, 5}), f32({2, 5, 3})}),
              sample<NoAttributes>({c64({2, 2}), c64({2, 3})}),
              sample<NoAttributes>({{f64({2, 2}), {1, 2, 3, 4}}, {f64({2, 1}), {5, 6}}}).expects({{17, 39}}).exact(),
              sample<NoAttributes>({f64({3}), f64({3})}).breaking("C1"),
              sample<NoAttributes>({f64({3, 4}), f64({3, 2})}).breaking("C2"),
              sample<NoAttributes>({f64({2, 3, 4}), f64({3, 4, 2})}).breaking("C3"),
              sample<NoAttributes>({f64({3, 4}), f32({4, 2})}).breaking("C4")};
    }};

}  // namespace rlx::linalg
