#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand row_indices_operands[] = {{"a", numbers, OperandKind::sparse}};
constexpr Constraint<NoAttributes> row_indices_constraints[] = {
    {"C1", "a is csr", [](const NoAttributes&, const Signature& s) { return is_csr(s, 0); }},
    {"C2", "a has at least one row",
     [](const NoAttributes&, const Signature& s) { return s.less_equal(1, s.sparse(0).shape[0]); }}};

static Types row_indices_infer(const NoAttributes&, const Signature& s) {
  return {tensor(s.sparse(0).index, {s.sparse(0).entries})};
}

// A one where each row after the first begins, summed up: empty rows leave twos and threes. Rows behind the last entry
// mark one place more than there are entries, so that no offset of a sound matrix is out of range.
static Values row_indices_decompose(Builder& b, const NoAttributes&, ValuesIn in) {
  const auto& a = std::get<SparseType>(in[0].type());
  const Value offsets = b.emit("sparse.parts", {in[0]})[0];
  const Value starts = ops::slice(offsets, {1}, {a.shape[0]});
  const Value marks =
      ops::index_add(ops::full(b, a.index, {a.entries + 1}, 0), starts, ops::full(b, a.index, {a.shape[0] - 1}, 1));
  return {ops::slice_axis(ops::cumsum(marks, 0), 0, 0, a.entries)};
}

extern const OpDef<NoAttributes> row_indices_op{
    .name = "linalg.row_indices",
    .doc = "The row of every stored entry of a csr matrix with at least one row.",
    .operands = row_indices_operands,
    .constraints = row_indices_constraints,
    .infer = row_indices_infer,
    .meaning = Composite<NoAttributes>{row_indices_decompose},
    .vjp = Vjp<NoAttributes>{[](const VjpCall<NoAttributes>&) -> Values { return {Value{}}; }},
    .jvp = [](const JvpCall<NoAttributes>&) -> Values { return {Value{}}; },
    .batch = Never{"a batch of sparse matrices has no type yet: loop over them"},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost =
        [](const NoAttributes&, const Signature& s) {
          return Cost{s.sparse(0).entries, s.sparse(0).entries * (bit_width(s.sparse(0).index) / 8)};
        },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 5}, 9},
          wide{SparseFormat::csr, DType::f32, DType::i64, {1, 5}, 3};
      SparseType coo = a, empty{SparseFormat::csr, DType::f64, DType::i32, {0, 5}, 0};
      coo.format = SparseFormat::coo;
      return {sample<NoAttributes>({a}), sample<NoAttributes>({wide}).expects({{0, 0, 0}}).exact(),
              sample<NoAttributes>({coo}).breaking("C1"), sample<NoAttributes>({empty}).breaking("C2")};
    }};

}  // namespace rlx::linalg
