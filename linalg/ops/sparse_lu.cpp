#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand sparse_lu_operands[] = {{"a", sparse_factorable, OperandKind::sparse}};
constexpr Constraint<SparseLuAttrs> sparse_lu_constraints[] = {
    {"C1", "a is a square csr matrix",
     [](const SparseLuAttrs&, const Signature& s) { return is_csr(s, 0) && is_square(s, 0); }}};

extern const OpDef<SparseLuAttrs> sparse_lu_op{
    .name = "linalg.sparse_lu",
    .doc =
        "LU factorization of a sparse matrix, equilibrated and pivoted; a resource for linalg.sparse_lu_solve. Raises "
        "NumericalError for a singular matrix. Sources: UMFPACK (T. Davis, ACM TOMS 30, 2004), KLU (T. Davis and E. "
        "Palamadai Natarajan, ACM TOMS 37, 2010).",
    .operands = sparse_lu_operands,
    .constraints = sparse_lu_constraints,
    .infer = [](const SparseLuAttrs&, const Signature& s) -> Types {
      return {ResourceType{"sparse_lu", "", s.sparse(0).dtype, s.sparse(0).shape}};
    },
    .meaning = Extern<SparseLuAttrs>{[](const SparseLuAttrs&, const ReferenceCall& c) -> HostValues {
      const Dense a = dense_of(c.in[0]);
      const std::int64_t n = c.sparse(0).type.shape[0].constant();
      dense_solve(a, n, Transpose::none, Dense(static_cast<std::size_t>(n)));  // Raises what a singular matrix raises.
      return {HostResource{std::get<ResourceType>(c.results[0]), std::make_shared<const Dense>(a)}};
    }},
    // The solve differentiates with respect to the matrix itself, which it takes as an operand, so nothing flows
    // through here.
    .vjp = Vjp<SparseLuAttrs>{[](const VjpCall<SparseLuAttrs>&) -> Values { return {Value{}}; }},
    .jvp = [](const JvpCall<SparseLuAttrs>&) -> Values { return {Value{}}; },
    .batch = Never{"factor the matrices of a batch one by one"},
    .shard = Never{"a distributed factorization is MUMPS' business"},
    .cost = Never{"depends on the fill-in, which the pattern decides"},
    .samples = []() -> std::vector<Sample<SparseLuAttrs>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {5, 6}, 9};
      return {
          sample<SparseLuAttrs>({a}).breaking("C1"), sample<SparseLuAttrs>({f64({3, 3})}).breaking("kind"),
          sample<SparseLuAttrs>({SparseType{SparseFormat::csr, DType::f32, DType::i32, {5, 5}, 9}}).breaking("dtype")};
    }};

}  // namespace rlx::linalg
