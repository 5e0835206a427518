// UMFPACK (T. Davis, ACM TOMS 30, 2004, Algorithm 832): multifrontal LU of unsymmetric matrices. GPL.
#include <umfpack.h>

#include <algorithm>
#include <array>
#include <new>

#include "providers.hpp"

namespace rlx::linalg::suitesparse {

namespace {

using c128 = std::complex<double>;

/// The functions of one element and index type: umfpack_di_*, dl, zi, zl. Real and complex calls differ by the
/// imaginary parts, which are null here: complex entries are pairs.
template <class T, class Index>
struct Calls;

#define RLX_UMFPACK_REAL(index, f)                                                                                   \
  template <>                                                                                                        \
  struct Calls<double, index> {                                                                                      \
    using Matrix = CscMatrix<double, index>;                                                                         \
    static int symbolic(const Matrix& a, void** s, const double* control, double* info) {                            \
      return f##symbolic(a.rows, a.cols, a.start.data(), a.row.data(), a.value.data(), s, control, info);            \
    }                                                                                                                \
    static int numeric(const Matrix& a, void* s, void** n, const double* control, double* info) {                    \
      return f##numeric(a.start.data(), a.row.data(), a.value.data(), s, n, control, info);                          \
    }                                                                                                                \
    static int solve(int system, double* x, const double* b, void* n, const double* control, index* wi, double* w) { \
      return f##wsolve(system, nullptr, nullptr, nullptr, x, b, n, control, nullptr, wi, w);                         \
    }                                                                                                                \
    static int pivots(index* cols, double* diagonal, void* n) {                                                      \
      index reciprocal = 0;                                                                                          \
      return f##get_numeric(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, cols, diagonal,           \
                            &reciprocal, nullptr, n);                                                                \
    }                                                                                                                \
    static constexpr auto defaults = f##defaults;                                                                    \
    static constexpr auto free_symbolic = f##free_symbolic;                                                          \
    static constexpr auto free_numeric = f##free_numeric;                                                            \
  };
#define RLX_UMFPACK_COMPLEX(index, f)                                                                                 \
  template <>                                                                                                         \
  struct Calls<c128, index> {                                                                                         \
    using Matrix = CscMatrix<c128, index>;                                                                            \
    static int symbolic(const Matrix& a, void** s, const double* control, double* info) {                             \
      return f##symbolic(a.rows, a.cols, a.start.data(), a.row.data(), as_doubles(a.value.data()), nullptr, s,        \
                         control, info);                                                                              \
    }                                                                                                                 \
    static int numeric(const Matrix& a, void* s, void** n, const double* control, double* info) {                     \
      return f##numeric(a.start.data(), a.row.data(), as_doubles(a.value.data()), nullptr, s, n, control, info);      \
    }                                                                                                                 \
    static int solve(int system, c128* x, const c128* b, void* n, const double* control, index* wi, double* w) {      \
      return f##wsolve(system, nullptr, nullptr, nullptr, nullptr, as_doubles(x), nullptr, as_doubles(b), nullptr, n, \
                       control, nullptr, wi, w);                                                                      \
    }                                                                                                                 \
    static int pivots(index* cols, c128* diagonal, void* n) {                                                         \
      index reciprocal = 0;                                                                                           \
      return f##get_numeric(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, cols,    \
                            as_doubles(diagonal), nullptr, &reciprocal, nullptr, n);                                  \
    }                                                                                                                 \
    static constexpr auto defaults = f##defaults;                                                                     \
    static constexpr auto free_symbolic = f##free_symbolic;                                                           \
    static constexpr auto free_numeric = f##free_numeric;                                                             \
  };
RLX_UMFPACK_REAL(std::int32_t, umfpack_di_)
RLX_UMFPACK_REAL(std::int64_t, umfpack_dl_)
RLX_UMFPACK_COMPLEX(std::int32_t, umfpack_zi_)
RLX_UMFPACK_COMPLEX(std::int64_t, umfpack_zl_)
#undef RLX_UMFPACK_REAL
#undef RLX_UMFPACK_COMPLEX

/// UMFPACK's analysis depends on the values only in its choice of strategy, which the pattern decides nearly always: it
/// serves other values, as UMFPACK's user guide says.
template <class T, class Index>
struct UmfpackAnalysis final : Analysis {
  UmfpackAnalysis(void* s, double bytes) : symbolic(s), expected_bytes(bytes) {}
  ~UmfpackAnalysis() override { Calls<T, Index>::free_symbolic(&symbolic); }
  UmfpackAnalysis(const UmfpackAnalysis&) = delete;
  UmfpackAnalysis& operator=(const UmfpackAnalysis&) = delete;
  mutable void* symbolic;  // read only by factorizations, though their prototype says otherwise
  double expected_bytes;
};

template <class T, class Index>
class UmfpackFactor final : public ProviderFactor<T> {
 public:
  using Control = std::array<double, UMFPACK_CONTROL>;

  UmfpackFactor(std::shared_ptr<const UmfpackAnalysis<T, Index>> analysis, void* numeric, const Control& control,
                std::int64_t n, std::int64_t nnz)
      : analysis_(std::move(analysis)), numeric_(numeric), control_(control), n_(n), nnz_(nnz) {}
  ~UmfpackFactor() override { Calls<T, Index>::free_numeric(&numeric_); }
  UmfpackFactor(const UmfpackFactor&) = delete;
  UmfpackFactor& operator=(const UmfpackFactor&) = delete;

  void solve(Transpose mode, const T* b, T* x, std::int64_t count) const override {
    // At is the conjugate transpose, Aat the plain one. Each call has its own workspace.
    const int system = mode == Transpose::none ? UMFPACK_A : mode == Transpose::transpose ? UMFPACK_Aat : UMFPACK_At;
    const auto indices = std::make_unique_for_overwrite<Index[]>(n_);
    const auto work = std::make_unique_for_overwrite<double[]>(n_ * workspace);
    for (std::int64_t c = 0; c < count; ++c)
      if (Calls<T, Index>::solve(system, x + c * n_, b + c * n_, numeric_, control_.data(), indices.get(), work.get()) <
          0)
        throw std::bad_alloc();
  }
  std::string_view provider() const override { return "umfpack"; }
  std::int64_t factor_nnz() const override { return nnz_; }
  std::shared_ptr<const Analysis> analysis() const override { return analysis_; }

 private:
  static constexpr std::int64_t workspace = sizeof(T) == sizeof(double) ? 1 : 4;  // doubles a row, without refinement
  std::shared_ptr<const UmfpackAnalysis<T, Index>> analysis_;
  mutable void* numeric_;  // read only by solves, though their prototype says otherwise
  Control control_;
  std::int64_t n_, nnz_;
};

/// Memory that the factorization will take, by the analysis. Symmetric pivoting keeps to the ordering, which tells the
/// entries of the factors; the peak was 1.22 to 1.85 times their bytes on the test matrices that take above 10 MB, and
/// 3.3 times on a circuit, where small fronts weigh more than the factors. Else there is UMFPACK's bound for the worst
/// choice of pivots, 1.2 to 2.5 times the peak on those matrices.
template <class T>
double expected_bytes(const std::array<double, UMFPACK_INFO>& info) {
  constexpr double largest_peak = 1.85, least_overestimate = 1.2;
  if (info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC)
    return largest_peak * static_cast<double>(sizeof(T)) * info[UMFPACK_SYMMETRIC_LUNZ];
  return info[UMFPACK_PEAK_MEMORY_ESTIMATE] * info[UMFPACK_SIZE_OF_UNIT] / least_overestimate;
}

template <class T, class Index>
void name_zero_pivot(void* numeric, std::int64_t n, FactorOutcome& outcome) {
  std::vector<Index> cols(n);
  std::vector<T> diagonal(n);
  if (Calls<T, Index>::pivots(cols.data(), diagonal.data(), numeric) < 0) return;
  const auto zero = std::find(diagonal.begin(), diagonal.end(), T(0));
  if (zero == diagonal.end()) return;
  outcome.step = zero - diagonal.begin();
  outcome.col = cols[outcome.step];
}

}  // namespace

template <class T, class Index>
std::unique_ptr<ProviderFactor<T>> make_umfpack(const CscMatrix<T, Index>& a, const FactorRequest& request,
                                                FactorOutcome& outcome) {
  typename UmfpackFactor<T, Index>::Control control;
  std::array<double, UMFPACK_INFO> info;
  Calls<T, Index>::defaults(control.data());
  control[UMFPACK_PRL] = 0;
  control[UMFPACK_SCALE] = UMFPACK_SCALE_NONE;  // the caller has equilibrated rows and columns
  control[UMFPACK_IRSTEP] = 0;                  // the caller refines, with residuals in twice the precision
  if (request.pivoting == Pivoting::strict) control[UMFPACK_PIVOT_TOLERANCE] = control[UMFPACK_SYM_PIVOT_TOLERANCE] = 1;
  const auto failed = [&](int status) {
    outcome.code = status;
    outcome.status = status == UMFPACK_ERROR_out_of_memory ? FactorStatus::out_of_memory : FactorStatus::failed;
    return nullptr;
  };
  auto analysis = std::static_pointer_cast<const UmfpackAnalysis<T, Index>>(request.analysis);
  if (!analysis) {
    void* symbolic = nullptr;
    if (const int status = Calls<T, Index>::symbolic(a, &symbolic, control.data(), info.data()); status < 0)
      return failed(status);
    analysis = std::make_shared<const UmfpackAnalysis<T, Index>>(symbolic, expected_bytes<T>(info));
  }
  // UMFPACK addresses its memory by the index type, in units of a number, and says only that there is not enough.
  constexpr bool narrow = sizeof(Index) < sizeof(std::int64_t);
  if (narrow && analysis->expected_bytes > static_cast<double>(sizeof(T)) * std::numeric_limits<Index>::max()) {
    outcome.status = FactorStatus::index_overflow;
    return nullptr;
  }
  if (is_too_large(analysis->expected_bytes, request, outcome)) return nullptr;
  void* numeric = nullptr;
  const int status = Calls<T, Index>::numeric(a, analysis->symbolic, &numeric, control.data(), info.data());
  if (status == UMFPACK_ERROR_out_of_memory && narrow) {
    outcome.status = FactorStatus::index_overflow;
    return nullptr;
  }
  if (status < 0) return failed(status);
  if (status == UMFPACK_WARNING_singular_matrix) {
    outcome = {.status = FactorStatus::singular, .code = status};
    name_zero_pivot<T, Index>(numeric, a.cols, outcome);
    Calls<T, Index>::free_numeric(&numeric);
    return nullptr;
  }
  const auto nnz = static_cast<std::int64_t>(info[UMFPACK_LNZ] + info[UMFPACK_UNZ]);
  return std::make_unique<UmfpackFactor<T, Index>>(std::move(analysis), numeric, control, a.cols, nnz);
}

#define RLX_INSTANTIATE(T, I)                                                                            \
  template std::unique_ptr<ProviderFactor<T>> make_umfpack(const CscMatrix<T, I>&, const FactorRequest&, \
                                                           FactorOutcome&);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(c128, std::int32_t)
RLX_INSTANTIATE(c128, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg::suitesparse
