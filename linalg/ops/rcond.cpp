#include "linalg/explained.hpp"
#include "linalg/ops/common.hpp"

namespace rlx::linalg {

// Either kind of factorization: the operand's kind is checked by the constraint.
constexpr Operand rcond_operands[] = {{"factorization", sparse_factorable, OperandKind::any}};
constexpr Constraint<RcondAttrs> rcond_constraints[] = {
    {"C1", "the operand is a factorization by linalg.sparse_lu or linalg.sparse_cholesky",
     [](const RcondAttrs&, const Signature& s) -> Answer {
       const auto* r = std::get_if<ResourceType>(&s.types[0]);
       return r && (r->kind == "sparse_lu" || r->kind == "sparse_cholesky");
     }}};

extern const OpDef<RcondAttrs> rcond_op{
    .name = "linalg.rcond",
    .doc =
        "Reciprocal condition number of the equilibrated matrix in the 1-norm, estimated from the factorization (W. "
        "Hager, "
        "1984; N. Higham, ACM TOMS 14, 1988).",
    .operands = rcond_operands,
    .constraints = rcond_constraints,
    .infer = [](const RcondAttrs&, const Signature&) -> Types { return {f64({})}; },
    // The reference does not equilibrate: it is exact for matrices that equilibration leaves alone.
    .meaning = Extern<RcondAttrs>{[](const RcondAttrs&, const ReferenceCall& c) -> HostValues {
      const auto* held = data_as<Dense>(c.resource(0).data);
      if (!held)
        throw ArgumentError("linalg.rcond: the factorization, " + to_string(Type(c.resource(0).type)) +
                            ", was not made by the host reference");
      const Dense& a = *held;
      const std::int64_t n = c.resource(0).type.shape[0].constant();
      Dense unit(a.size());
      for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * n + i)] = 1;
      const auto norm = [n](const Dense& m) {
        double largest = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t i = 0; i < n; ++i) sum += std::abs(m[static_cast<std::size_t>(i * n + j)]);
          largest = std::max(largest, sum);
        }
        return largest;
      };
      return {HostTensor::scalar(DType::f64, 1 / (norm(a) * norm(dense_solve(a, n, Transpose::none, unit))))};
    }},
    .vjp = Never{"an estimate is not differentiable"},
    .jvp = Never{"an estimate is not differentiable"},
    .batch = Never{"factor the matrices of a batch one by one"},
    .shard = Never{"a distributed factorization is MUMPS' business"},
    .cost = Never{"a few solves, whose cost the fill-in decides"},
    .samples = []() -> std::vector<Sample<RcondAttrs>> {
      const auto of = [](const char* kind, std::int64_t n) {
        return SampleOperand(Type(ResourceType{kind, "", DType::f64, {n, n}}));
      };
      // The norm of a matrix of one number is no estimate. That of the larger ones is of the equilibrated matrix, the
      // reference's is not.
      return {sample<RcondAttrs>({of("sparse_lu", 1)}).expects({{1}}),
              sample<RcondAttrs>({of("sparse_cholesky", 1)}).expects({{1}}),
              sample<RcondAttrs>({of("sparse_lu", 4)}).within(0.5),
              sample<RcondAttrs>({of("sparse_cholesky", 4)}).within(0.5), sample<RcondAttrs>({f64({})}).breaking("C1")};
    }};

}  // namespace rlx::linalg
