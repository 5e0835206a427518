#include "linalg/ops/common.hpp"

namespace rlx::linalg {

constexpr Operand sparse_lu_solve_operands[] = {
    {"factorization", sparse_factorable, OperandKind::resource, false, "sparse_lu"},
    {"a", sparse_factorable, OperandKind::sparse},
    {"b", sparse_factorable}};

extern const OpDef<SparseSolveAttrs> sparse_lu_solve_op{
    .name = "linalg.sparse_lu_solve",
    .doc =
        "x of op(A) x = b with a factorization of A by linalg.sparse_lu, refined on A with residuals in twice the "
        "working "
        "precision (J. Demmel et al., ACM TOMS 32, 2006). Differentiates with respect to A and b.",
    .operands = sparse_lu_solve_operands,
    .constraints = solve_constraints,
    .infer = SolveRules::infer,
    .meaning = Extern<SparseSolveAttrs>{SolveRules::reference},
    .vjp = Vjp<SparseSolveAttrs>{SolveRules::vjp},
    .jvp = SolveRules::jvp,
    .batch = Never{"solve with the matrices of a batch one by one"},
    .shard = Never{"a distributed solve is MUMPS' business"},
    .cost = Never{"depends on the fill-in, which the pattern decides"},
    .samples = []() -> std::vector<Sample<SparseSolveAttrs>> { return solve_samples("sparse_lu"); }};

}  // namespace rlx::linalg
