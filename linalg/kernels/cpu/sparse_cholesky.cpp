#include <algorithm>
#include <utility>

#include "equilibrated_factor.hpp"
#include "refusals.hpp"
#include "suitesparse_loader.hpp"

namespace rlx::linalg {

/// The 1-norm of a Hermitian matrix given by its upper triangle.
template <class T>
static double hermitian_norm_1(const CscMatrix<T>& upper) {
  std::vector<double> sums(upper.cols);
  for (std::int64_t j = 0; j < upper.cols; ++j)
    for (std::int64_t k = upper.start[j]; k < upper.start[j + 1]; ++k) {
      sums[j] += std::abs(upper.value[k]);
      if (upper.row[k] != j) sums[upper.row[k]] += std::abs(upper.value[k]);
    }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

template <class T, class Index>
std::unique_ptr<SparseFactor<T>> sparse_cholesky(const CsrView<T, Index>& view, const FactorOptions& options,
                                                 const SparseFactor<T>* before) {
  static const std::string op = "linalg.sparse_cholesky";
  using Factor = EquilibratedFactor<T, std::int64_t>;
  check_square(op, view.rows, view.cols);
  const SuitesparseTable& table = require_suitesparse(op);
  const FenvGuard guard;
  CscMatrix<T> upper = hermitian_upper(op, view);
  if (upper.cols == 0) return empty_factor<T>("cholesky");
  const auto* previous = before && before->method() == "cholesky" ? dynamic_cast<const Factor*>(before) : nullptr;
  Scaling scaling;
  scaling.row = scaling.col = equilibrate_hermitian(upper);
  apply_scaling(scaling, upper);
  FactorOutcome outcome;
  const FactorRequest request{.analysis = previous ? previous->analysis_for(upper) : nullptr,
                              .available_bytes = options.available_bytes};
  std::unique_ptr<ProviderFactor<T>> provided;
  if constexpr (std::is_same_v<T, double>) provided = table.cholmod(upper, request, outcome);
  else provided = table.cholmod_complex(upper, request, outcome);
  if (!provided) refuse(op, "cholmod", outcome);
  auto factor = std::make_unique<Factor>(std::move(provided), Held::matrix, std::move(scaling), hermitian_norm_1(upper),
                                         "cholesky", "cholmod: the one sparse Cholesky at hand");
  factor->probe();
  factor->keep_pattern(std::move(upper));
  check_condition<T>(op, *factor, options);
  return factor;
}

#define RLX_INSTANTIATE(T, I)                                                                           \
  template std::unique_ptr<SparseFactor<T>> sparse_cholesky(const CsrView<T, I>&, const FactorOptions&, \
                                                            const SparseFactor<T>*);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
