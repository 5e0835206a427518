#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand diagonal_operands[] = {{"a", numbers, OperandKind::sparse}};
constexpr Constraint<NoAttributes> diagonal_constraints[] = {
    {"C1", "a is a square csr matrix",
     [](const NoAttributes&, const Signature& s) { return is_csr(s, 0) && is_square(s, 0); }}};

static Types diagonal_infer(const NoAttributes&, const Signature& s) {
  return {tensor(s.sparse(0).dtype, {s.sparse(0).shape[0]})};
}

static Values diagonal_decompose(Builder& b, const NoAttributes&, ValuesIn in) {
  const Values parts = b.emit("sparse.parts", {in[0]});
  const Value here = ops::compare(row_indices(in[0]), parts[1], ops::Direction::eq);
  return {ops::segment_reduce(ops::select(here, parts[2], ops::zeros_like(parts[2])), parts[0], ops::Combine::add)};
}

extern const OpDef<NoAttributes> diagonal_op{
    .name = "linalg.diagonal",
    .doc = "The diagonal of a square csr matrix; 0 where no entry is stored.",
    .operands = diagonal_operands,
    .constraints = diagonal_constraints,
    .infer = diagonal_infer,
    .meaning = Composite<NoAttributes>{diagonal_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Never{"a batch of sparse matrices has no type yet: loop over them"},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          return Cost{s.sparse(0).entries, s.sparse(0).entries * (bit_width(s.sparse(0).dtype) / 8)};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {5, 5}, 11},
          z{SparseFormat::csr, DType::c64, DType::i32, {3, 3}, 6};
      SparseType wide = a;
      wide.shape[1] = 6;
      SampleOperand full(SparseType{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 4});
      full.literal = {1, 2, 3, 4};
      return {sample<NoAttributes>({full}).expects({{1, 4}}).exact(),
              sample<NoAttributes>({SampleOperand(a, Fill::well_conditioned)}), sample<NoAttributes>({z}),
              sample<NoAttributes>({wide}).breaking("C1")};
    }};

}  // namespace rlx::linalg
