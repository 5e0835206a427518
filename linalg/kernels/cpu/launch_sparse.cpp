// Launches of the sparse direct operators: SuiteSparse through sparse_factor.hpp.
#include "launch_sparse.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/linalg/attributes.hpp>

#include "launch.hpp"
#include "linalg/csc_matrix.hpp"
#include "linalg/explained.hpp"
#include "linalg/hermitian.hpp"
#include "refine.hpp"
#include "sparse_factor.hpp"

#include <algorithm>
#include <vector>

namespace rlx::linalg {

namespace {

const SparseType& matrix_of(const LaunchCall& c, std::size_t operand) {
  return std::get<SparseType>(c.instance.signature.types[operand]);
}

/// The factorization that is operand 0. Another provider's is refused: its data are of a type that is not known here.
template <class T>
const SparseFactor<T>& factor_of(const LaunchCall& c) {
  const ResourceValue& r = c.resources[0];
  if (const auto* f = data_as<SparseFactor<T>>(r.data)) return *f;
  throw ArgumentError(std::string(c.instance.op->name()) + ": the factorization, " + to_string(Type(r.type)) +
                      ", was not made by the kernels of this device");
}

/// The csr matrix starts at buffer `first` and is operand `operand`; make(view, options) factors it.
template <class Make>
void factor(const LaunchCall& c, std::size_t first, std::size_t operand, Make make, FactorOptions options = {}) {
  options.available_bytes = [](double wanted) {
    return wanted < static_cast<double>(worth_asking) ? wanted : static_cast<double>(available_memory());
  };
  for_csr(c, first, matrix_of(c, operand), [&]<class T, class Index>(const CsrView<T, Index>& a) {
    const SparseFactor<T>* previous = c.resources.empty() ? nullptr : &factor_of<T>(c);
    std::shared_ptr<const SparseFactor<T>> f = make(a, options, previous);
    ResourceType type = std::get<ResourceType>(c.instance.results[0]);
    type.provider = f->provider();
    c.made->push_back({std::move(type), explained(f, std::string(f->reason()))});
  });
}

FactorOptions asked(const LaunchCall& c) { return {.lu = c.instance.attrs->as<SparseLuAttrs>().library}; }

constexpr auto by_lu = [](const auto& a, const FactorOptions& o, const auto* previous) {
  return sparse_lu(a, o, previous);
};
constexpr auto by_cholesky = [](const auto& a, const FactorOptions& o, const auto* previous) {
  check_hermitian("linalg.sparse_cholesky", a);  // The library reads one triangle, a solve refines on both.
  return sparse_cholesky(a, o, previous);
};

/// solve_refined where b and x are [n, k], so that each right side lies across them: a few at a time are copied.
template <class T, class Index>
void solve_across(const SparseFactor<T>& f, const CsrView<T, Index>& a, Transpose mode, std::span<const T> b,
                  std::span<T> x, std::span<Refinement> out, const RefineOptions& options) {
  const std::size_t n = static_cast<std::size_t>(f.order()), columns = out.size();
  std::vector<T> right(n * std::min(columns, columns_at_once)), solution(right.size());
  for (std::size_t first = 0; first < columns; first += columns_at_once) {
    const std::size_t count = std::min(columns_at_once, columns - first);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < count; ++k) right[k * n + i] = b[i * columns + first + k];
    solve_refined(f, a, mode, std::span<const T>(right).first(count * n), std::span(solution).first(count * n),
                  out.subspan(first, count), options);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < count; ++k) x[i * columns + first + k] = solution[k * n + i];
  }
}

}  // namespace

void launch_sparse_lu(const LaunchCall& c) { factor(c, 0, 0, by_lu, asked(c)); }
void launch_sparse_lu_update(const LaunchCall& c) { factor(c, 0, 1, by_lu, asked(c)); }
void launch_klu(const LaunchCall& c) { factor(c, 0, 0, by_lu, {.lu = LuLibrary::klu}); }
void launch_klu_update(const LaunchCall& c) { factor(c, 0, 1, by_lu, {.lu = LuLibrary::klu}); }
void launch_sparse_cholesky(const LaunchCall& c) { factor(c, 0, 0, by_cholesky); }
void launch_sparse_cholesky_update(const LaunchCall& c) { factor(c, 0, 1, by_cholesky); }

void launch_sparse_solve(const LaunchCall& c) {
  const auto& attrs = c.instance.attrs->as<SparseSolveAttrs>();
  const std::span<double> backward = output<double>(c, 1), relative = output<double>(c, 2);
  for_csr(c, 0, matrix_of(c, 1), [&]<class T, class Index>(const CsrView<T, Index>& a) {
    const SparseFactor<T>& f = factor_of<T>(c);
    check_csr(std::string(c.instance.op->name()), a);  // It need not be what was factored.
    const std::span<const T> b = input<T>(c, 3);
    const std::span<T> x = output<T>(c, 0);
    const RefineOptions options{.max_iterations = attrs.refine};
    const auto tell = [&](std::size_t column, const Refinement& r) {
      backward[column] = r.backward_error;
      relative[column] = r.relative_residual;
    };
    const std::size_t columns = backward.size();
    if (columns == 1) {
      tell(0, solve_refined(f, a, attrs.mode, b, x, options));
      return;
    }
    std::vector<Refinement> found(columns);
    if (attrs.axis == 1) solve_refined(f, a, attrs.mode, b, x, found, options);
    else solve_across(f, a, attrs.mode, b, x, found, options);
    for (std::size_t k = 0; k < columns; ++k) tell(k, found[k]);
  });
}

void launch_rcond(const LaunchCall& c) {
  const auto answer = [&]<class T>(const SparseFactor<T>& f) {
    const double at_least = f.rcond_at_least();
    return at_least >= c.instance.attrs->as<RcondAttrs>().exact_below ? at_least : f.rcond();
  };
  output<double>(c, 0)[0] = c.resources[0].type.dtype == DType::c128 ? answer(factor_of<std::complex<double>>(c))
                                                                     : answer(factor_of<double>(c));
}

}  // namespace rlx::linalg
