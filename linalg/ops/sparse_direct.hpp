// The definition of a sparse direct method, which LU and Cholesky share: an operator that makes the factorization, a
// resource, and one that solves with it. A method is a struct of names:
//
//   struct Lu {
//     using Attrs = SparseLuAttrs;                                // of the factorization
//     static constexpr bool cholesky = false;
//     static constexpr std::string_view kind = "sparse_lu";       // of the resource
//     static constexpr std::string_view factor = "linalg.sparse_lu", update = "linalg.sparse_lu_update",
//                                       solve = "linalg.sparse_lu_solve";
//   };
#pragma once
#include "linalg/ops/common.hpp"

namespace rlx::linalg {

/// Holds a dense copy of operand `a` as the factorization. Raises what devices raise of a matrix that is none, not
/// finite or singular or, where `cholesky`, not Hermitian or not positive definite, under the name `op`.
HostValues factor_reference(const std::string& op, const ReferenceCall& c, std::size_t a, bool cholesky);

/// Positive definite, of powers of two, as every pivot is in any order: solutions of right sides of few bits are exact,
/// and so are measures of their errors, which are 0. Finite differences move single entries, which leaves the Hermitian
/// matrices, to which Cholesky is held.
SampleOperand dyadic_matrix(bool cholesky);

/// linalg.<method>(a) -> factorization and, where the matrix is operand 1, linalg.<method>_update(factorization, a) ->
/// factorization.
template <class Method, std::size_t matrix>
struct FactorRules {
  using A = typename Method::Attrs;
  static constexpr Operand all_operands[] = {
      {"factorization", sparse_factorable, OperandKind::resource, false, Method::kind},
      {"a", sparse_factorable, OperandKind::sparse}};
  static constexpr std::span operands = std::span(all_operands).subspan(1 - matrix);
  static constexpr Constraint<A> all_constraints[] = {
      {"C1", "a is a square csr matrix",
       [](const A&, const Signature& s) { return is_csr(s, matrix) && is_square(s, matrix); }},
      {"C2", "the factorization is of a matrix of that order and dtype", [](const A&, const Signature& s) {
         return s.equal(s.resource(0).shape.at(0), s.sparse(matrix).shape[0]) && one_dtype(s, {0, matrix});
       }}};
  static constexpr std::span constraints = std::span(all_constraints).first(1 + matrix);
  static Types infer(const A&, const Signature& s) {
    return {ResourceType{std::string(Method::kind), "", s.sparse(matrix).dtype, s.sparse(matrix).shape}};
  }
  static std::vector<Sample<A>> samples() {
    const SampleOperand exact = dyadic_matrix(Method::cholesky);
    const SparseType a{SparseFormat::csr, DType::f64, DType::i32, {4, 4}, 9};
    SparseType wide = a, single = a;
    wide.shape[1] = 5;
    single.dtype = DType::f32;
    if constexpr (matrix == 0) {
      return {sample<A>({exact}), sample<A>({wide}).breaking("C1"), sample<A>({f64({3, 3})}).breaking("kind"),
              sample<A>({single}).breaking("dtype")};
    } else {
      const Type f = ResourceType{std::string(Method::kind), "", DType::f64, {4, 4}},
                 larger = ResourceType{std::string(Method::kind), "", DType::f64, {5, 5}},
                 other = ResourceType{"preconditioner", "", DType::f64, {4, 4}};
      const Type of_exact = ResourceType{std::string(Method::kind), "", DType::f64, {2, 2}};
      return {sample<A>({SampleOperand(of_exact), exact}), sample<A>({SampleOperand(f), wide}).breaking("C1"),
              sample<A>({SampleOperand(larger), a}).breaking("C2"),
              sample<A>({SampleOperand(other), a}).breaking("kind")};
    }
  }
};

template <class Method, std::size_t matrix = 0>
constexpr auto factor_def(std::string_view doc) {
  using Rules = FactorRules<Method, matrix>;
  using A = typename Method::Attrs;
  return OpDef<A>{.name = matrix ? Method::update : Method::factor,
                  .doc = doc,
                  .operands = Rules::operands,
                  .constraints = Rules::constraints,
                  .infer = Rules::infer,
                  .meaning = Extern<A>{[](const A&, const ReferenceCall& c) {
                    return factor_reference(std::string(Method::factor), c, matrix, Method::cholesky);
                  }},
                  // The solve differentiates with respect to the matrix itself, which it takes as an operand, so
                  // nothing flows through here.
                  .vjp = Vjp<A>{[](const VjpCall<A>&) { return Values(1 + matrix); }},
                  .jvp = [](const JvpCall<A>&) { return Values(1); },
                  .batch = Never{"factor the matrices of a batch one by one"},
                  .shard = Never{"a distributed factorization is MUMPS' business"},
                  .cost = Never{"depends on the fill-in, which the pattern decides"},
                  .samples = Rules::samples};
}
template <class Method>
constexpr auto update_def(std::string_view doc) {
  return factor_def<Method, 1>(doc);
}

/// linalg.<method>_solve(factorization, a, b) -> x, backward error, relative residual: of each right side, so that the
/// measures have the shape of b without its dimension `axis`.
struct SolveRules {
  static const Constraint<SparseSolveAttrs> constraints[4];
  static Types infer(const SparseSolveAttrs&, const Signature& s);
  static HostValues reference(const std::string& op, const SparseSolveAttrs& a, const ReferenceCall& c);
  static Values vjp(const VjpCall<SparseSolveAttrs>& c);
  static Values jvp(const JvpCall<SparseSolveAttrs>& c);
  static Batched batch(const BatchCall<SparseSolveAttrs>& c);
  /// Of matrices whose solutions are exact: errors that are measured elsewhere differ from device to device.
  static std::vector<Sample<SparseSolveAttrs>> samples(std::string_view kind);
};

template <class Method>
inline constexpr Operand solve_operands[] = {
    {"factorization", sparse_factorable, OperandKind::resource, false, Method::kind},
    {"a", sparse_factorable, OperandKind::sparse},
    {"b", sparse_factorable}};

template <class Method>
constexpr OpDef<SparseSolveAttrs> solve_def(std::string_view doc) {
  return {.name = Method::solve,
          .doc = doc,
          .operands = solve_operands<Method>,
          .constraints = SolveRules::constraints,
          .infer = SolveRules::infer,
          .meaning = Extern<SparseSolveAttrs>{[](const SparseSolveAttrs& a, const ReferenceCall& c) {
            return SolveRules::reference(std::string(Method::solve), a, c);
          }},
          .vjp = Vjp<SparseSolveAttrs>{SolveRules::vjp},
          .jvp = SolveRules::jvp,
          .batch = SolveRules::batch,
          .shard = Never{"a distributed solve is MUMPS' business"},
          .cost = Never{"depends on the fill-in, which the pattern decides"},
          .samples = [] { return SolveRules::samples(Method::kind); }};
}

struct SparseLu {
  using Attrs = SparseLuAttrs;
  static constexpr bool cholesky = false;
  static constexpr std::string_view kind = "sparse_lu", factor = "linalg.sparse_lu", update = "linalg.sparse_lu_update",
                                    solve = "linalg.sparse_lu_solve";
};
struct SparseCholesky {
  using Attrs = NoAttributes;
  static constexpr bool cholesky = true;
  static constexpr std::string_view kind = "sparse_cholesky", factor = "linalg.sparse_cholesky",
                                    update = "linalg.sparse_cholesky_update", solve = "linalg.sparse_cholesky_solve";
};

}  // namespace rlx::linalg
