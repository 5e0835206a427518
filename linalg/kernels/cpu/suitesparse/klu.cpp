// KLU (T. Davis, E. Palamadai Natarajan, ACM TOMS 37, 2010, Algorithm 907): LU of circuit matrices by blocks of their
// block triangular form. LGPL. BTF's maximum matching (I. Duff, ACM TOMS 7, 1981, Algorithm 575, in Davis's form) comes
// with it.
#include <btf.h>
#include <klu.h>

#include <algorithm>
#include <new>

#include "providers.hpp"

namespace rlx::linalg::suitesparse {

namespace {

using c128 = std::complex<double>;
constexpr double matching_work = 10;  // times the entries; KLU's documentation advises 10, 0 would have no limit

klu_l_common settings() {
  klu_l_common common;
  klu_l_defaults(&common);
  common.scale = 0;  // the caller has equilibrated
  common.maxwork = matching_work;
  return common;
}

template <class T>
struct FreeNumeric {
  void operator()(klu_l_numeric* numeric) const {
    klu_l_common common = settings();
    if constexpr (std::is_same_v<T, double>) klu_l_free_numeric(&numeric, &common);
    else klu_zl_free_numeric(&numeric, &common);
  }
};
template <class T>
using Numeric = std::unique_ptr<klu_l_numeric, FreeNumeric<T>>;

struct KluAnalysis final : CircuitAnalysis {
  explicit KluAnalysis(klu_l_symbolic* s) : symbolic(s) {
    blocks = s->nblocks;
    largest_block = s->maxblock;
    if (s->lnz >= 0 && s->unz >= 0) factor_nnz = s->lnz + s->unz + static_cast<double>(s->nzoff);
    flops = s->est_flops;
  }
  ~KluAnalysis() override {
    klu_l_common common = settings();
    klu_l_free_symbolic(&symbolic, &common);
  }
  KluAnalysis(const KluAnalysis&) = delete;
  KluAnalysis& operator=(const KluAnalysis&) = delete;
  template <class T>
  const Retired<Numeric<T>>& retired() const {
    if constexpr (std::is_same_v<T, double>) return real;
    else return complex;
  }
  klu_l_symbolic* symbolic;
  Retired<Numeric<double>> real;
  Retired<Numeric<c128>> complex;
};

template <class T>
class KluFactor final : public ProviderFactor<T> {
 public:
  KluFactor(std::shared_ptr<const KluAnalysis> analysis, Numeric<T> numeric, bool old_pivots)
      : analysis_(std::move(analysis)), numeric_(std::move(numeric)), old_pivots_(old_pivots) {}
  ~KluFactor() override { analysis_->template retired<T>().put(std::move(numeric_)); }
  KluFactor(const KluFactor&) = delete;
  KluFactor& operator=(const KluFactor&) = delete;

  void solve(Transpose mode, const T* b, T* x, std::int64_t count) const override {
    // KLU keeps the workspace of its solves in the factor (4 n entries, Xwork), so two threads would share it: each
    // call solves with a copy of the struct that holds a workspace of its own.
    std::vector<T> work(4 * numeric_->n);
    klu_l_numeric numeric = *numeric_;
    numeric.Work = numeric.Xwork = work.data();
    klu_l_common common = settings();
    std::copy_n(b, numeric.n * count, x);
    klu_l_symbolic* symbolic = analysis_->symbolic;
    SuiteSparse_long done = 0;
    if constexpr (std::is_same_v<T, double>) {
      done = mode == Transpose::none ? klu_l_solve(symbolic, &numeric, numeric.n, count, x, &common)
                                     : klu_l_tsolve(symbolic, &numeric, numeric.n, count, x, &common);
    } else {
      const bool conjugate = mode == Transpose::conjugate_transpose;
      done = mode == Transpose::none
                 ? klu_zl_solve(symbolic, &numeric, numeric.n, count, as_doubles(x), &common)
                 : klu_zl_tsolve(symbolic, &numeric, numeric.n, count, as_doubles(x), conjugate, &common);
    }
    if (!done) throw std::bad_alloc();
  }
  std::string_view provider() const override { return "klu"; }
  std::int64_t factor_nnz() const override { return numeric_->lnz + numeric_->unz + numeric_->nzoff; }
  std::shared_ptr<const Analysis> analysis() const override { return analysis_; }
  bool pivots_are_old() const override { return old_pivots_; }

 private:
  std::shared_ptr<const KluAnalysis> analysis_;
  Numeric<T> numeric_;
  bool old_pivots_;
};

}  // namespace

std::shared_ptr<const CircuitAnalysis> klu_analysis(std::int64_t n, const std::int64_t* start,
                                                    const std::int64_t* row) {
  klu_l_common common = settings();
  klu_l_symbolic* symbolic = klu_l_analyze(n, mutable_ptr(start), mutable_ptr(row), &common);
  if (!symbolic) return nullptr;
  return std::make_shared<const KluAnalysis>(symbolic);
}

template <class T>
std::unique_ptr<ProviderFactor<T>> make_klu(const CscMatrix<T>& a, const FactorRequest& request,
                                            FactorOutcome& outcome) {
  const auto analysis = std::static_pointer_cast<const KluAnalysis>(
      request.analysis ? request.analysis : klu_analysis(a.cols, a.start.data(), a.row.data()));
  if (!analysis) {
    outcome = {.status = FactorStatus::failed, .code = KLU_INVALID};
    return nullptr;
  }
  const auto start = mutable_ptr(a.start.data()), row = mutable_ptr(a.row.data());
  double* const value = as_doubles(a.value.data());
  klu_l_common common = settings();
  // Storage that is there already takes the factors with its own pivots, or goes.
  if (Numeric<T> numeric = analysis->template retired<T>().take(); numeric && request.old_pivots) {
    const auto refactor = std::is_same_v<T, double> ? klu_l_refactor : klu_zl_refactor;
    if (refactor(start, row, value, analysis->symbolic, numeric.get(), &common) && common.status == KLU_OK)
      return std::make_unique<KluFactor<T>>(analysis, std::move(numeric), true);
  }
  // KLU stores an entry with its row, both in 64 bits; what it expects of unsymmetric patterns it does not say.
  if (is_too_large(analysis->factor_nnz * static_cast<double>(sizeof(T) + sizeof(std::int64_t)), request, outcome))
    return nullptr;
  if (request.pivoting == Pivoting::strict) common.tol = 1;
  const auto factor = std::is_same_v<T, double> ? klu_l_factor : klu_zl_factor;
  Numeric<T> numeric(factor(start, row, value, analysis->symbolic, &common));
  if (numeric && common.status == KLU_OK) return std::make_unique<KluFactor<T>>(analysis, std::move(numeric), false);
  outcome.code = common.status;
  outcome.status = common.status == KLU_SINGULAR        ? FactorStatus::singular
                   : common.status == KLU_OUT_OF_MEMORY ? FactorStatus::out_of_memory
                                                        : FactorStatus::failed;
  if (common.status == KLU_SINGULAR && common.singular_col < a.cols) {
    outcome.row = common.singular_col;
    outcome.step = common.numerical_rank;
  }
  return nullptr;
}

Matching btf_match(std::int64_t n, const std::int64_t* start, const std::int64_t* row) {
  std::vector<SuiteSparse_long> column_of(n), work(5 * n);
  double spent = 0;
  Matching result;
  result.size =
      btf_l_maxtrans(n, n, mutable_ptr(start), mutable_ptr(row), matching_work, &spent, column_of.data(), work.data());
  result.complete = spent >= 0;
  std::vector<bool> matched(n);
  for (std::int64_t i = 0; i < n; ++i) {
    if (column_of[i] >= 0) matched[column_of[i]] = true;
    else if (result.free_row < 0) result.free_row = i;
  }
  if (const auto free = std::find(matched.begin(), matched.end(), false); free != matched.end())
    result.free_col = free - matched.begin();
  return result;
}

template std::unique_ptr<ProviderFactor<double>> make_klu(const CscMatrix<double>&, const FactorRequest&,
                                                          FactorOutcome&);
template std::unique_ptr<ProviderFactor<c128>> make_klu(const CscMatrix<c128>&, const FactorRequest&, FactorOutcome&);

}  // namespace rlx::linalg::suitesparse
