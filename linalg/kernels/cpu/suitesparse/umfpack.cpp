// UMFPACK (T. Davis, ACM TOMS 30, 2004, Algorithm 832): multifrontal LU of unsymmetric matrices. GPL.
#include <umfpack.h>

#include <algorithm>
#include <array>
#include <new>

#include "providers.hpp"

namespace rlx::linalg::suitesparse {

namespace {

using c128 = std::complex<double>;

// Real and complex calls differ by the imaginary parts, which are null here: complex entries are pairs.
template <class T>
struct Calls;

template <>
struct Calls<double> {
  static int symbolic(const CscMatrix<double>& a, void** s, const double* control, double* info) {
    return umfpack_dl_symbolic(a.rows, a.cols, a.start.data(), a.row.data(), a.value.data(), s, control, info);
  }
  static int numeric(const CscMatrix<double>& a, void* s, void** n, const double* control, double* info) {
    return umfpack_dl_numeric(a.start.data(), a.row.data(), a.value.data(), s, n, control, info);
  }
  static int solve(int system, double* x, const double* b, void* n, const double* control) {
    return umfpack_dl_solve(system, nullptr, nullptr, nullptr, x, b, n, control, nullptr);
  }
  static int pivots(std::int64_t* cols, double* diagonal, void* n) {
    SuiteSparse_long reciprocal = 0;
    return umfpack_dl_get_numeric(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, cols, diagonal,
                                  &reciprocal, nullptr, n);
  }
  static void defaults(double* control) { umfpack_dl_defaults(control); }
  static void free_symbolic(void** s) { umfpack_dl_free_symbolic(s); }
  static void free_numeric(void** n) { umfpack_dl_free_numeric(n); }
};

template <>
struct Calls<c128> {
  static int symbolic(const CscMatrix<c128>& a, void** s, const double* control, double* info) {
    return umfpack_zl_symbolic(a.rows, a.cols, a.start.data(), a.row.data(), as_doubles(a.value.data()), nullptr, s,
                               control, info);
  }
  static int numeric(const CscMatrix<c128>& a, void* s, void** n, const double* control, double* info) {
    return umfpack_zl_numeric(a.start.data(), a.row.data(), as_doubles(a.value.data()), nullptr, s, n, control, info);
  }
  static int solve(int system, c128* x, const c128* b, void* n, const double* control) {
    return umfpack_zl_solve(system, nullptr, nullptr, nullptr, nullptr, as_doubles(x), nullptr, as_doubles(b), nullptr,
                            n, control, nullptr);
  }
  static int pivots(std::int64_t* cols, c128* diagonal, void* n) {
    SuiteSparse_long reciprocal = 0;
    return umfpack_zl_get_numeric(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, cols,
                                  as_doubles(diagonal), nullptr, &reciprocal, nullptr, n);
  }
  static void defaults(double* control) { umfpack_zl_defaults(control); }
  static void free_symbolic(void** s) { umfpack_zl_free_symbolic(s); }
  static void free_numeric(void** n) { umfpack_zl_free_numeric(n); }
};

/// UMFPACK's analysis depends on the values only in its choice of strategy, which the pattern decides nearly always: it
/// serves other values, as UMFPACK's user guide says.
template <class T>
struct UmfpackAnalysis final : Analysis {
  UmfpackAnalysis(void* s, double bytes) : symbolic(s), expected_bytes(bytes) {}
  ~UmfpackAnalysis() override { Calls<T>::free_symbolic(&symbolic); }
  UmfpackAnalysis(const UmfpackAnalysis&) = delete;
  UmfpackAnalysis& operator=(const UmfpackAnalysis&) = delete;
  mutable void* symbolic;  // read only by factorizations, though their prototype says otherwise
  double expected_bytes;
};

template <class T>
class UmfpackFactor final : public ProviderFactor<T> {
 public:
  using Control = std::array<double, UMFPACK_CONTROL>;

  UmfpackFactor(std::shared_ptr<const UmfpackAnalysis<T>> analysis, void* numeric, const Control& control,
                std::int64_t n, std::int64_t nnz)
      : analysis_(std::move(analysis)), numeric_(numeric), control_(control), n_(n), nnz_(nnz) {}
  ~UmfpackFactor() override { Calls<T>::free_numeric(&numeric_); }
  UmfpackFactor(const UmfpackFactor&) = delete;
  UmfpackFactor& operator=(const UmfpackFactor&) = delete;

  void solve(Transpose mode, const T* b, T* x, std::int64_t count) const override {
    // At is the conjugate transpose, Aat the plain one. Each call allocates its own workspace.
    const int system = mode == Transpose::none ? UMFPACK_A : mode == Transpose::transpose ? UMFPACK_Aat : UMFPACK_At;
    for (std::int64_t c = 0; c < count; ++c)
      if (Calls<T>::solve(system, x + c * n_, b + c * n_, numeric_, control_.data()) < 0) throw std::bad_alloc();
  }
  std::string_view provider() const override { return "umfpack"; }
  std::int64_t factor_nnz() const override { return nnz_; }
  std::shared_ptr<const Analysis> analysis() const override { return analysis_; }

 private:
  std::shared_ptr<const UmfpackAnalysis<T>> analysis_;
  mutable void* numeric_;  // read only by solves, though their prototype says otherwise
  Control control_;
  std::int64_t n_, nnz_;
};

/// Memory that the factorization will take at the least, by the analysis. Symmetric pivoting keeps to the ordering,
/// which tells the entries of the factors; the peak was 1.34 to 1.85 times their bytes on the test matrices above 10
/// MB. Else there is UMFPACK's bound for the worst choice of pivots, 1.2 to 2.4 times the peak on those matrices.
template <class T>
double expected_bytes(const std::array<double, UMFPACK_INFO>& info) {
  constexpr double peak = 1.3, overestimate = 2.5;
  if (info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC)
    return peak * static_cast<double>(sizeof(T)) * info[UMFPACK_SYMMETRIC_LUNZ];
  return info[UMFPACK_PEAK_MEMORY_ESTIMATE] * info[UMFPACK_SIZE_OF_UNIT] / overestimate;
}

template <class T>
void name_zero_pivot(void* numeric, std::int64_t n, FactorOutcome& outcome) {
  std::vector<std::int64_t> cols(n);
  std::vector<T> diagonal(n);
  if (Calls<T>::pivots(cols.data(), diagonal.data(), numeric) < 0) return;
  const auto zero = std::find(diagonal.begin(), diagonal.end(), T(0));
  if (zero == diagonal.end()) return;
  outcome.step = zero - diagonal.begin();
  outcome.row = cols[outcome.step];
}

}  // namespace

template <class T>
std::unique_ptr<ProviderFactor<T>> make_umfpack(const CscMatrix<T>& a, const FactorRequest& request,
                                                FactorOutcome& outcome) {
  typename UmfpackFactor<T>::Control control;
  std::array<double, UMFPACK_INFO> info;
  Calls<T>::defaults(control.data());
  control[UMFPACK_PRL] = 0;
  control[UMFPACK_SCALE] = UMFPACK_SCALE_NONE;  // the caller has equilibrated rows and columns
  control[UMFPACK_IRSTEP] = 0;                  // the caller refines, with residuals in twice the precision
  if (request.pivoting == Pivoting::strict) control[UMFPACK_PIVOT_TOLERANCE] = control[UMFPACK_SYM_PIVOT_TOLERANCE] = 1;
  const auto failed = [&](int status) {
    outcome.code = status;
    outcome.status = status == UMFPACK_ERROR_out_of_memory ? FactorStatus::out_of_memory : FactorStatus::failed;
    return nullptr;
  };
  auto analysis = std::static_pointer_cast<const UmfpackAnalysis<T>>(request.analysis);
  if (!analysis) {
    void* symbolic = nullptr;
    if (const int status = Calls<T>::symbolic(a, &symbolic, control.data(), info.data()); status < 0)
      return failed(status);
    analysis = std::make_shared<const UmfpackAnalysis<T>>(symbolic, expected_bytes<T>(info));
  }
  if (is_too_large(analysis->expected_bytes, request, outcome)) return nullptr;
  void* numeric = nullptr;
  const int status = Calls<T>::numeric(a, analysis->symbolic, &numeric, control.data(), info.data());
  if (status < 0) return failed(status);
  if (status == UMFPACK_WARNING_singular_matrix) {
    outcome = {.status = FactorStatus::singular, .code = status};
    name_zero_pivot<T>(numeric, a.cols, outcome);
    Calls<T>::free_numeric(&numeric);
    return nullptr;
  }
  const auto nnz = static_cast<std::int64_t>(info[UMFPACK_LNZ] + info[UMFPACK_UNZ]);
  return std::make_unique<UmfpackFactor<T>>(std::move(analysis), numeric, control, a.cols, nnz);
}

template std::unique_ptr<ProviderFactor<double>> make_umfpack(const CscMatrix<double>&, const FactorRequest&,
                                                              FactorOutcome&);
template std::unique_ptr<ProviderFactor<c128>> make_umfpack(const CscMatrix<c128>&, const FactorRequest&,
                                                            FactorOutcome&);

}  // namespace rlx::linalg::suitesparse
