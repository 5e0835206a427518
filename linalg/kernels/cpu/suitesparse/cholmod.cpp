// CHOLMOD (Y. Chen, T. Davis, W. Hager, S. Rajamanickam, ACM TOMS 35, 2008, Algorithm 887): supernodal and simplicial
// Cholesky. Its supernodal module is GPL.
#include <cholmod.h>

#include <algorithm>
#include <new>

#include "providers.hpp"

namespace rlx::linalg::suitesparse {

namespace {

using c128 = std::complex<double>;

/// A started cholmod_common: settings, statistics and workspace, of which every thread needs its own.
struct Common {
  Common() {
    cholmod_l_start(&settings);
    settings.print = 0;
    settings.final_ll = 1;  // L L^H: the default of the simplicial path, L D L^H, lets indefinite matrices pass
    settings.quick_return_if_not_posdef = 1;
    settings.error_handler = nullptr;
  }
  ~Common() { cholmod_l_finish(&settings); }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
  cholmod_common settings;
};

template <class T>
constexpr int xtype = std::is_same_v<T, double> ? CHOLMOD_REAL : CHOLMOD_COMPLEX;

template <class T>
cholmod_sparse view_of(const CscMatrix<T>& upper) {
  cholmod_sparse view{};
  view.nrow = view.ncol = static_cast<std::size_t>(upper.cols);
  view.nzmax = upper.row.size();
  view.p = mutable_ptr(upper.start.data());
  view.i = mutable_ptr(upper.row.data());
  view.x = as_doubles(upper.value.data());
  view.stype = 1;
  view.itype = CHOLMOD_LONG;
  view.xtype = xtype<T>;
  view.dtype = CHOLMOD_DOUBLE;
  view.sorted = view.packed = 1;
  return view;
}

struct FreeFactor {
  void operator()(cholmod_factor* l) const {
    Common common;
    cholmod_l_free_factor(&l, &common.settings);
  }
};
using Factor = std::unique_ptr<cholmod_factor, FreeFactor>;

struct CholmodAnalysis final : Analysis {
  Factor symbolic;
  double flops = 0, nnz = 0;
  Retired<Factor> retired;
};

/// What the factor will take: supernodes are stored as dense blocks, and the largest update is held besides; the
/// entries of a simplicial factor come with their rows.
template <class T>
double expected_bytes(const CholmodAnalysis& analysis) {
  const cholmod_factor& l = *analysis.symbolic;
  constexpr double value = sizeof(T), index = sizeof(std::int64_t);
  if (l.is_super)
    return value * (static_cast<double>(l.xsize) + static_cast<double>(l.maxcsize)) +
           index * static_cast<double>(l.ssize);
  return (value + index) * analysis.nnz;
}

template <class T>
class CholmodFactor final : public ProviderFactor<T> {
 public:
  CholmodFactor(std::shared_ptr<const CholmodAnalysis> analysis, Factor l)
      : analysis_(std::move(analysis)), l_(std::move(l)) {}
  ~CholmodFactor() override { analysis_->retired.put(std::move(l_)); }
  CholmodFactor(const CholmodFactor&) = delete;
  CholmodFactor& operator=(const CholmodFactor&) = delete;

  void solve(Transpose mode, const T* b, T* x, std::int64_t count) const override {
    Common common;
    const std::int64_t size = static_cast<std::int64_t>(l_->n) * count;
    cholmod_dense right{};
    right.nrow = right.d = l_->n;
    right.ncol = static_cast<std::size_t>(count);
    right.nzmax = static_cast<std::size_t>(size);
    right.xtype = xtype<T>;
    right.dtype = CHOLMOD_DOUBLE;
    right.x = as_doubles(b);
    // A^H = A, and A^T x = b is A conj(x) = conj(b).
    const bool conjugate = mode == Transpose::transpose && xtype<T> == CHOLMOD_COMPLEX;
    if (conjugate) {
      std::transform(b, b + size, x, [](T v) { return conj_of(v); });
      right.x = as_doubles(x);
    }
    cholmod_dense* solution = cholmod_l_solve(CHOLMOD_A, l_.get(), &right, &common.settings);
    if (!solution) throw std::bad_alloc();
    const T* found = static_cast<const T*>(solution->x);
    if (conjugate) std::transform(found, found + size, x, [](T v) { return conj_of(v); });
    else std::copy_n(found, size, x);
    cholmod_l_free_dense(&solution, &common.settings);
  }
  std::string_view provider() const override { return "cholmod"; }
  std::int64_t factor_nnz() const override { return static_cast<std::int64_t>(analysis_->nnz); }
  std::shared_ptr<const Analysis> analysis() const override { return analysis_; }

 private:
  std::shared_ptr<const CholmodAnalysis> analysis_;
  Factor l_;  // read only by solves, though their prototype says otherwise
};

/// The order of the first leading minor that is not positive, without permutation; -1 where that would cost too much.
std::int64_t natural_minor(cholmod_sparse& a, double permuted_flops) {
  constexpr double affordable = 1e9;  // about half a second
  Common natural;
  natural.settings.nmethods = 1;
  natural.settings.method[0].ordering = CHOLMOD_NATURAL;
  natural.settings.postorder = 0;
  cholmod_factor* l = cholmod_l_analyze(&a, &natural.settings);
  std::int64_t minor = -1;
  if (l && natural.settings.fl <= std::max(affordable, 4 * permuted_flops)) {
    cholmod_l_factorize(&a, l, &natural.settings);
    if (l->minor < l->n) minor = static_cast<std::int64_t>(l->minor) + 1;
  }
  if (l) cholmod_l_free_factor(&l, &natural.settings);
  return minor;
}

}  // namespace

template <class T>
std::unique_ptr<ProviderFactor<T>> make_cholmod(const CscMatrix<T>& upper, const FactorRequest& request,
                                                FactorOutcome& outcome) {
  Common common;
  cholmod_sparse a = view_of(upper);
  const auto failed = [&] {
    outcome.code = common.settings.status;
    outcome.status =
        common.settings.status == CHOLMOD_OUT_OF_MEMORY ? FactorStatus::out_of_memory : FactorStatus::failed;
    return nullptr;
  };
  auto analysis = std::static_pointer_cast<const CholmodAnalysis>(request.analysis);
  if (!analysis) {
    const auto made = std::make_shared<CholmodAnalysis>();
    made->symbolic.reset(cholmod_l_analyze(&a, &common.settings));
    if (!made->symbolic) return failed();
    made->flops = common.settings.fl;
    made->nnz = common.settings.lnz;
    analysis = made;
  }
  Factor l = analysis->retired.take();
  if (!l) {
    if (is_too_large(expected_bytes<T>(*analysis), request, outcome)) return nullptr;
    l.reset(cholmod_l_copy_factor(analysis->symbolic.get(), &common.settings));
    if (!l) return failed();
  }
  cholmod_l_factorize(&a, l.get(), &common.settings);
  if (common.settings.status < 0) return failed();
  if (l->minor >= l->n) return std::make_unique<CholmodFactor<T>>(std::move(analysis), std::move(l));
  outcome = {.status = FactorStatus::not_positive_definite, .code = common.settings.status};
  outcome.step = static_cast<std::int64_t>(l->minor);
  outcome.col = static_cast<const std::int64_t*>(l->Perm)[l->minor];
  outcome.minor = natural_minor(a, analysis->flops);
  return nullptr;
}

template std::unique_ptr<ProviderFactor<double>> make_cholmod(const CscMatrix<double>&, const FactorRequest&,
                                                              FactorOutcome&);
template std::unique_ptr<ProviderFactor<c128>> make_cholmod(const CscMatrix<c128>&, const FactorRequest&,
                                                            FactorOutcome&);

}  // namespace rlx::linalg::suitesparse
