#include <algorithm>
#include <limits>
#include <utility>

#include "choose_lu.hpp"
#include "equilibrated_factor.hpp"
#include "linalg/digits.hpp"
#include "norms.hpp"
#include "refusals.hpp"
#include "suitesparse_loader.hpp"

namespace rlx::linalg {

namespace {

const std::string op = "linalg.sparse_lu";

/// Null where the factors have more entries than Index counts.
template <class Index, class T, class Given>
std::unique_ptr<SparseFactor<T>> factored(const CsrView<T, Given>& view, const FactorOptions& options,
                                          const SparseFactor<T>* before) {
  using Factor = EquilibratedFactor<T, Index>;
  const SuitesparseTable& table = require_suitesparse(op);
  CscMatrix<T, Index> m = to_csc_transposed<Index>(op, view);
  if (m.cols == 0) return empty_factor<T>("lu");
  const auto* previous = before && before->method() == "lu" ? dynamic_cast<const Factor*>(before) : nullptr;
  const auto known = previous ? previous->analysis_for(m) : nullptr;
  LuChoice choice =
      known ? LuChoice{previous->provider() == "klu",
                       std::string(previous->provider()) + ": the analysis of a matrix of this pattern", known, true}
            : choose_lu(table, m, options.lu);
  if (!choice.regular_structure) check_structure(op, table, m);
  Scaling scaling = equilibrate(m, known ? &previous->scaling() : nullptr);
  apply_scaling(scaling, m);
  const double norm = norm_infinity(m);  // the 1-norm of the transpose, which is the matrix that was given
  FactorRequest request{
      .analysis = choice.analysis, .old_pivots = known != nullptr, .available_bytes = options.available_bytes};
  const auto make = table.indexed_by<Index>().template lu<T>(choice.klu);

  // Loose pivots, and those of an earlier matrix, let the factors differ from the matrix by a thousand roundings or
  // more. That hides a singular matrix behind a condition of 1e-15 and spoils a nearly singular one, so those few are
  // factored again whose condition is no farther from singular than the factors may be from the matrix. One solve
  // measures that distance, which two more digits make safe.
  constexpr double least = 1e-13, safe = 100, poor = 1e-10;
  double error = 0;  // of the solve that probes the condition
  const auto is_doubtful = [&](const Factor& f) {
    const double enough = std::max(least, safe * error);
    return !(error <= poor && (f.rcond_at_least() >= enough || f.rcond() >= enough));
  };
  std::unique_ptr<Factor> factor;
  const auto attempt = [&] {
    factor.reset();
    FactorOutcome outcome;
    auto provided = make(m, request, outcome);
    if (!provided && outcome.status == FactorStatus::index_overflow) return false;
    if (!provided) refuse(op, choice.klu ? "klu" : "umfpack", outcome);
    factor = std::make_unique<Factor>(std::move(provided), Held::transpose, scaling, norm, "lu", choice.reason);
    auto [x, b] = factor->probe();
    error = backward_error(m, norm, x, std::move(b));
    return true;
  };
  if (!attempt()) return nullptr;
  if (factor->provided().pivots_are_old() && is_doubtful(*factor)) {
    request.old_pivots = false;
    if (!attempt()) return nullptr;
  }
  if (is_doubtful(*factor)) {
    choice.reason += "; strict pivoting, as the reciprocal condition is " + digits(factor->rcond()) +
                     " and the backward error of a solve " + digits(error);
    request.pivoting = Pivoting::strict;
    request.old_pivots = false;
    if (!attempt()) return nullptr;
  }
  factor->keep_pattern(std::move(m));
  check_condition<T>(op, *factor, options);
  return factor;
}

}  // namespace

template <class T, class Index>
std::unique_ptr<SparseFactor<T>> sparse_lu(const CsrView<T, Index>& view, const FactorOptions& options,
                                           const SparseFactor<T>* previous) {
  check_square(op, view.rows, view.cols);
  const FenvGuard guard;
  constexpr auto narrow = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (!options.wide_indices && view.row_offsets.size() < narrow && view.columns.size() < narrow &&
      !dynamic_cast<const EquilibratedFactor<T, std::int64_t>*>(previous))
    if (auto factor = factored<std::int32_t>(view, options, previous)) return factor;
  return factored<std::int64_t>(view, options, previous);
}

#define RLX_INSTANTIATE(T, I)                                                                     \
  template std::unique_ptr<SparseFactor<T>> sparse_lu(const CsrView<T, I>&, const FactorOptions&, \
                                                      const SparseFactor<T>*);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
