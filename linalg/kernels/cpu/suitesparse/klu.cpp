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

/// The functions of one index type: klu_*, klu_z_* and klu_l_*, klu_zl_*.
template <class Index>
struct Klu;
#define RLX_KLU(index, types, real, complex, btf)                                                                     \
  template <>                                                                                                         \
  struct Klu<index> {                                                                                                 \
    using Common = types##common;                                                                                     \
    using Symbolic = types##symbolic;                                                                                 \
    using Numeric = types##numeric;                                                                                   \
    static constexpr auto defaults = types##defaults;                                                                 \
    static constexpr auto analyze = types##analyze;                                                                   \
    static constexpr auto free_symbolic = types##free_symbolic;                                                       \
    static constexpr auto match = btf##maxtrans;                                                                      \
    template <class T>                                                                                                \
    static constexpr auto factor = std::is_same_v<T, double> ? real##factor : complex##factor;                        \
    template <class T>                                                                                                \
    static constexpr auto refactor = std::is_same_v<T, double> ? real##refactor : complex##refactor;                  \
    template <class T>                                                                                                \
    static constexpr auto free_numeric = std::is_same_v<T, double> ? real##free_numeric : complex##free_numeric;      \
    template <class T>                                                                                                \
    static constexpr auto solve = std::is_same_v<T, double> ? real##solve : complex##solve;                           \
    static int solve_transposed(Symbolic* s, Numeric* n, index ld, index count, double* x, bool, Common* c) {         \
      return static_cast<int>(real##tsolve(s, n, ld, count, x, c));                                                   \
    }                                                                                                                 \
    static int solve_transposed(Symbolic* s, Numeric* n, index ld, index count, c128* x, bool conjugate, Common* c) { \
      return static_cast<int>(complex##tsolve(s, n, ld, count, as_doubles(x), conjugate, c));                         \
    }                                                                                                                 \
  };
RLX_KLU(std::int32_t, klu_, klu_, klu_z_, btf_)
RLX_KLU(std::int64_t, klu_l_, klu_l_, klu_zl_, btf_l_)
#undef RLX_KLU

template <class Index>
auto settings() {
  typename Klu<Index>::Common common;
  Klu<Index>::defaults(&common);
  common.scale = -1;  // the caller has equilibrated, and its matrix is sound: neither is to be looked after
  common.maxwork = matching_work;
  return common;
}

template <class T, class Index>
struct FreeNumeric {
  void operator()(typename Klu<Index>::Numeric* numeric) const {
    auto common = settings<Index>();
    Klu<Index>::template free_numeric<T>(&numeric, &common);
  }
};
template <class T, class Index>
using Numeric = std::unique_ptr<typename Klu<Index>::Numeric, FreeNumeric<T, Index>>;

template <class Index>
struct KluAnalysis final : CircuitAnalysis {
  explicit KluAnalysis(typename Klu<Index>::Symbolic* s) : symbolic(s) {
    blocks = s->nblocks;
    largest_block = s->maxblock;
    // Known whatever the pattern, since AMD orders the blocks.
    factor_nnz = s->lnz + s->unz + static_cast<double>(s->nzoff);
    flops = s->est_flops;
    regular_structure = s->structural_rank == s->n;
  }
  ~KluAnalysis() override {
    auto common = settings<Index>();
    Klu<Index>::free_symbolic(&symbolic, &common);
  }
  KluAnalysis(const KluAnalysis&) = delete;
  KluAnalysis& operator=(const KluAnalysis&) = delete;
  template <class T>
  const Retired<Numeric<T, Index>>& retired() const {
    if constexpr (std::is_same_v<T, double>) return real;
    else return complex;
  }
  typename Klu<Index>::Symbolic* symbolic;
  Retired<Numeric<double, Index>> real;
  Retired<Numeric<c128, Index>> complex;
};

template <class T, class Index>
class KluFactor final : public ProviderFactor<T> {
 public:
  KluFactor(std::shared_ptr<const KluAnalysis<Index>> analysis, Numeric<T, Index> numeric, bool old_pivots)
      : analysis_(std::move(analysis)), numeric_(std::move(numeric)), old_pivots_(old_pivots) {}
  ~KluFactor() override { analysis_->template retired<T>().put(std::move(numeric_)); }
  KluFactor(const KluFactor&) = delete;
  KluFactor& operator=(const KluFactor&) = delete;

  void solve(Transpose mode, const T* b, T* x, std::int64_t count) const override {
    // KLU keeps the workspace of its solves in the factor (n entries for each of up to 4 right sides, Xwork), so two
    // threads would share it: each call solves with a copy of the struct that holds a workspace of its own.
    auto numeric = *numeric_;
    const auto work = std::make_unique_for_overwrite<T[]>(numeric.n * std::min<std::int64_t>(count, 4));
    numeric.Work = numeric.Xwork = work.get();
    auto common = settings<Index>();
    std::copy_n(b, numeric.n * count, x);
    auto* symbolic = analysis_->symbolic;
    const auto columns = static_cast<Index>(count);
    const bool done =
        mode == Transpose::none
            ? Klu<Index>::template solve<T>(symbolic, &numeric, numeric.n, columns, as_doubles(x), &common)
            : Klu<Index>::solve_transposed(symbolic, &numeric, numeric.n, columns, x,
                                           mode == Transpose::conjugate_transpose, &common);
    if (!done) throw std::bad_alloc();
  }
  std::string_view provider() const override { return "klu"; }
  std::int64_t factor_nnz() const override {
    return static_cast<std::int64_t>(numeric_->lnz) + numeric_->unz + numeric_->nzoff;
  }
  std::shared_ptr<const Analysis> analysis() const override { return analysis_; }
  bool pivots_are_old() const override { return old_pivots_; }

 private:
  std::shared_ptr<const KluAnalysis<Index>> analysis_;
  Numeric<T, Index> numeric_;
  bool old_pivots_;
};

/// Memory that the factorization will take, by the analysis: an entry is stored with its row. The peak was 1.24 to 1.8
/// times that on the test matrices that take above 0.5 MB, and more where pivots leave the diagonal, up to 5 times.
template <class T, class Index>
double expected_bytes(const KluAnalysis<Index>& analysis) {
  constexpr double largest_peak = 1.8;
  return largest_peak * analysis.factor_nnz * static_cast<double>(sizeof(T) + sizeof(Index));
}

}  // namespace

template <class Index>
std::shared_ptr<const CircuitAnalysis> klu_analysis(Index n, const Index* start, const Index* row) {
  auto common = settings<Index>();
  auto* symbolic = Klu<Index>::analyze(n, mutable_ptr(start), mutable_ptr(row), &common);
  if (!symbolic) return nullptr;
  return std::make_shared<const KluAnalysis<Index>>(symbolic);
}

template <class T, class Index>
std::unique_ptr<ProviderFactor<T>> make_klu(const CscMatrix<T, Index>& a, const FactorRequest& request,
                                            FactorOutcome& outcome) {
  using K = Klu<Index>;
  const auto analysis = std::static_pointer_cast<const KluAnalysis<Index>>(
      request.analysis ? request.analysis : klu_analysis(static_cast<Index>(a.cols), a.start.data(), a.row.data()));
  if (!analysis) {
    outcome = {.status = FactorStatus::failed, .code = KLU_INVALID};
    return nullptr;
  }
  const auto start = mutable_ptr(a.start.data()), row = mutable_ptr(a.row.data());
  double* const value = as_doubles(a.value.data());
  auto common = settings<Index>();
  // Storage that is there already takes the factors with its own pivots, or goes.
  if (Numeric<T, Index> numeric = analysis->template retired<T>().take(); numeric && request.old_pivots) {
    if (K::template refactor<T>(start, row, value, analysis->symbolic, numeric.get(), &common) &&
        common.status == KLU_OK)
      return std::make_unique<KluFactor<T, Index>>(analysis, std::move(numeric), true);
  }
  if (is_too_large(expected_bytes<T, Index>(*analysis), request, outcome)) return nullptr;
  if (request.pivoting == Pivoting::strict) common.tol = 1;
  Numeric<T, Index> numeric(K::template factor<T>(start, row, value, analysis->symbolic, &common));
  if (numeric && common.status == KLU_OK)
    return std::make_unique<KluFactor<T, Index>>(analysis, std::move(numeric), false);
  outcome.code = common.status;
  outcome.status = common.status == KLU_SINGULAR        ? FactorStatus::singular
                   : common.status == KLU_OUT_OF_MEMORY ? FactorStatus::out_of_memory
                   : common.status == KLU_TOO_LARGE && sizeof(Index) < sizeof(std::int64_t)
                       ? FactorStatus::index_overflow
                       : FactorStatus::failed;
  if (common.status == KLU_SINGULAR && common.singular_col < a.cols) {
    outcome.col = common.singular_col;
    outcome.step = common.numerical_rank;
  }
  return nullptr;
}

template <class Index>
Matching btf_match(Index n, const Index* start, const Index* row) {
  std::vector<Index> column_of(n), work(5 * static_cast<std::size_t>(n));
  double spent = 0;
  Matching result;
  result.size = Klu<Index>::match(n, n, mutable_ptr(start), mutable_ptr(row), matching_work, &spent, column_of.data(),
                                  work.data());
  result.complete = spent >= 0;
  std::vector<bool> matched(n);
  for (Index i = 0; i < n; ++i) {
    if (column_of[i] >= 0) matched[column_of[i]] = true;
    else if (result.free_row < 0) result.free_row = i;
  }
  if (const auto free = std::find(matched.begin(), matched.end(), false); free != matched.end())
    result.free_col = free - matched.begin();
  return result;
}

#define RLX_INSTANTIATE(I)                                                                                     \
  template std::unique_ptr<ProviderFactor<double>> make_klu(const CscMatrix<double, I>&, const FactorRequest&, \
                                                            FactorOutcome&);                                   \
  template std::unique_ptr<ProviderFactor<c128>> make_klu(const CscMatrix<c128, I>&, const FactorRequest&,     \
                                                          FactorOutcome&);                                     \
  template Matching btf_match(I, const I*, const I*);                                                          \
  template std::shared_ptr<const CircuitAnalysis> klu_analysis(I, const I*, const I*);
RLX_INSTANTIATE(std::int32_t)
RLX_INSTANTIATE(std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg::suitesparse
