#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand parts_operands[] = {{"a", numbers, OperandKind::sparse}};
constexpr Constraint<NoAttributes> parts_constraints[] = {
    {"C1", "a is csr",
     [](const NoAttributes&, const Signature& s) -> Answer { return s.sparse(0).format == SparseFormat::csr; }}};

static Types parts_infer(const NoAttributes&, const Signature& s) {
  const SparseType& a = s.sparse(0);
  return {tensor(a.index, {a.shape[0] + 1}), tensor(a.index, {a.entries}), tensor(a.dtype, {a.entries})};
}

static Value assembled(Builder& b, ValuesIn parts, Value values, const SparseType& like) {
  return b.emit1("sparse.assemble", {parts[0], parts[1], values}, AssembleAttrs{like.shape[1]});
}

static Values parts_vjp(const VjpCall<NoAttributes>& c) {
  if (!c.cotangent[2]) return {Value{}};
  return {assembled(c.b, c.out, c.cotangent[2], std::get<SparseType>(c.in[0].type()))};
}

static Values parts_jvp(const JvpCall<NoAttributes>& c) {
  if (!c.tangent[0]) return Values(3);
  return {Value{}, Value{}, c.b.emit("sparse.parts", {c.tangent[0]})[2]};
}

extern const OpDef<NoAttributes> sparse_parts_op{
    .name = "sparse.parts",
    .doc = "The arrays of a csr matrix: row offsets [rows + 1], column indices [entries], values [entries].",
    .operands = parts_operands,
    .constraints = parts_constraints,
    .infer = parts_infer,
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues {
      const HostSparse& a = c.sparse(0);
      return {a.offsets, a.indices, a.values};
    }},
    .vjp = Vjp<NoAttributes>{parts_vjp},
    .jvp = parts_jvp,
    .batch = Never{"a batch of sparse matrices has no type yet: loop over them"},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost = [](const NoAttributes&, const Signature&) { return Cost{0, 0}; },
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 5}, 7};
      SparseType coo = a;
      coo.format = SparseFormat::coo;
      SampleOperand full(SparseType{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 4});
      full.literal = {5, 6, 7, 8};
      return {sample<NoAttributes>({full}).expects({{0, 2, 4}, {0, 1, 0, 1}, {5, 6, 7, 8}}).exact(),
              sample<NoAttributes>({a}), sample<NoAttributes>({coo}).breaking("C1"),
              sample<NoAttributes>({f64({3})}).breaking("kind")};
    }};

}  // namespace rlx::ops
