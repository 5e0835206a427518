#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand assemble_operands[] = {{"offsets", index_types}, {"indices", index_types}, {"values", numbers}};
constexpr Constraint<AssembleAttrs> assemble_constraints[] = {
    {"C1", "offsets, indices and values have rank 1",
     [](const AssembleAttrs&, const Signature& s) -> Answer {
       return s.rank(0) == 1 && s.rank(1) == 1 && s.rank(2) == 1;
     }},
    {"C2", "offsets and indices have one dtype",
     [](const AssembleAttrs&, const Signature& s) -> Answer { return s.dtype(0) == s.dtype(1); }},
    {"C3", "there is one index for each value",
     [](const AssembleAttrs&, const Signature& s) { return s.same_shape(s.shape(1), s.shape(2)); }},
    {"C4", "there is at least one offset",
     [](const AssembleAttrs&, const Signature& s) { return s.less_equal(1, s.tensor(0).dim(0)); }}};

static Types assemble_infer(const AssembleAttrs& a, const Signature& s) {
  return {
      SparseType{SparseFormat::csr, s.dtype(2), s.dtype(0), {s.tensor(0).dim(0) - 1, a.columns}, s.tensor(1).dim(0)}};
}

static Values assemble_vjp(const VjpCall<AssembleAttrs>& c) {
  Values out(3);
  if (c.cotangent[0] && c.wanted[2]) out[2] = c.b.emit("sparse.parts", {c.cotangent[0]})[2];
  return out;
}

static Values assemble_jvp(const JvpCall<AssembleAttrs>& c) {
  if (!c.tangent[2]) return {Value{}};
  return {c.b.emit1("sparse.assemble", {c.in[0], c.in[1], c.tangent[2]}, c.attrs)};
}

extern const OpDef<AssembleAttrs> sparse_assemble_op{
    .name = "sparse.assemble",
    .doc = "A csr matrix from its arrays; offsets must ascend from 0 and columns within a row, which is not checked.",
    .operands = assemble_operands,
    .constraints = assemble_constraints,
    .infer = assemble_infer,
    .meaning = Primitive<AssembleAttrs>{[](const AssembleAttrs&, const ReferenceCall& c) -> HostValues {
      return {HostSparse{std::get<SparseType>(c.results[0]), c.tensor(0), c.tensor(1), c.tensor(2)}};
    }},
    .vjp = Vjp<AssembleAttrs>{assemble_vjp},
    .jvp = assemble_jvp,
    .batch = Never{"a batch of sparse matrices has no type yet: loop over them"},
    .shard = Never{"sparse values are sharded by rows, which needs the partition of their entries"},
    .cost = [](const AssembleAttrs&, const Signature&) { return Cost{0, 0}; },
    .samples = []() -> std::vector<Sample<AssembleAttrs>> {
      const SampleOperand offsets{i32({3}), {0, 1, 3}}, indices{i32({3}), {1, 0, 2}};
      const AssembleAttrs wide{3};
      return {sample<AssembleAttrs>({offsets, indices, {f64({3}), {5, -1, 2}}}, wide).expects({{5, -1, 2}}).exact(),
              sample<AssembleAttrs>({i32({3, 1}), i32({3}), f64({3})}, wide).breaking("C1"),
              sample<AssembleAttrs>({i64({3}), i32({3}), f64({3})}, wide).breaking("C2"),
              sample<AssembleAttrs>({i32({3}), i32({2}), f64({3})}, wide).breaking("C3"),
              sample<AssembleAttrs>({i32({0}), i32({3}), f64({3})}, wide).breaking("C4"),
              sample<AssembleAttrs>({f32({3}), i32({3}), f64({3})}, wide).breaking("dtype")};
    }};

}  // namespace rlx::ops
