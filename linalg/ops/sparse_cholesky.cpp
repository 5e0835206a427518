#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand sparse_cholesky_operands[] = {{"a", sparse_factorable, OperandKind::sparse}};
constexpr Constraint<NoAttributes> sparse_cholesky_constraints[] = {
    {"C1", "a is a square csr matrix",
     [](const NoAttributes&, const Signature& s) { return is_csr(s, 0) && is_square(s, 0); }}};

extern const OpDef<NoAttributes> sparse_cholesky_op{
    .name = "linalg.sparse_cholesky",
    .doc =
        "Cholesky factorization of a sparse Hermitian positive definite matrix, whose lower triangle is read; a "
        "resource for "
        "linalg.sparse_cholesky_solve. Raises NumericalError where the matrix is not positive definite. Source: "
        "CHOLMOD (Y. "
        "Chen, T. Davis, W. Hager and S. Rajamanickam, ACM TOMS 35, 2008).",
    .operands = sparse_cholesky_operands,
    .constraints = sparse_cholesky_constraints,
    .infer = [](const NoAttributes&, const Signature& s) -> Types {
      return {ResourceType{"sparse_cholesky", "", s.sparse(0).dtype, s.sparse(0).shape}};
    },
    .meaning = Extern<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues {
      const Dense a = dense_of(c.in[0]);
      const std::int64_t n = c.sparse(0).type.shape[0].constant();
      dense_solve(a, n, Transpose::none, Dense(static_cast<std::size_t>(n)));  // Raises what a singular matrix raises.
      return {HostResource{std::get<ResourceType>(c.results[0]), std::make_shared<const Dense>(a)}};
    }},
    // The solve differentiates with respect to the matrix itself, which it takes as an operand, so nothing flows
    // through here.
    .vjp = Vjp<NoAttributes>{[](const VjpCall<NoAttributes>&) -> Values { return {Value{}}; }},
    .jvp = [](const JvpCall<NoAttributes>&) -> Values { return {Value{}}; },
    .batch = Never{"factor the matrices of a batch one by one"},
    .shard = Never{"a distributed factorization is MUMPS' business"},
    .cost = Never{"depends on the fill-in, which the pattern decides"},
    .samples = []() -> std::vector<Sample<NoAttributes>> {
      const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {5, 6}, 9};
      return {
          sample<NoAttributes>({a}).breaking("C1"), sample<NoAttributes>({f64({3, 3})}).breaking("kind"),
          sample<NoAttributes>({SparseType{SparseFormat::csr, DType::f32, DType::i32, {5, 5}, 9}}).breaking("dtype")};
    }};

}  // namespace rlx::linalg
