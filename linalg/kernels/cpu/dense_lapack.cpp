#include "dense_lapack.hpp"

// lapack.h before cblas.h, whose OpenBLAS form fixes the complex types to C's.
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapack.h>

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <rlx/ir/error.hpp>
#include <string>
#include <vector>

#include "fenv_guard.hpp"

namespace rlx::linalg {

namespace {

using c64 = std::complex<float>;
using c128 = std::complex<double>;

// One name for the four types of each routine.
void getrf(int m, int n, float* a, int* p, int* info) { LAPACK_sgetrf(&m, &n, a, &m, p, info); }
void getrf(int m, int n, double* a, int* p, int* info) { LAPACK_dgetrf(&m, &n, a, &m, p, info); }
void getrf(int m, int n, c64* a, int* p, int* info) { LAPACK_cgetrf(&m, &n, a, &m, p, info); }
void getrf(int m, int n, c128* a, int* p, int* info) { LAPACK_zgetrf(&m, &n, a, &m, p, info); }
void potrf_upper(int n, float* a, int* info) { LAPACK_spotrf("U", &n, a, &n, info); }
void potrf_upper(int n, double* a, int* info) { LAPACK_dpotrf("U", &n, a, &n, info); }
void potrf_upper(int n, c64* a, int* info) { LAPACK_cpotrf("U", &n, a, &n, info); }
void potrf_upper(int n, c128* a, int* info) { LAPACK_zpotrf("U", &n, a, &n, info); }

struct Flags {
  CBLAS_SIDE side;
  CBLAS_UPLO uplo;
  CBLAS_TRANSPOSE trans;
  CBLAS_DIAG diag;
};
// A single right side goes by xTRSV, which reads A once without packing it.
#define RLX_TRIANGULAR(T, trsm_, trsv_, one)                                                           \
  void trsm(const Flags& f, int m, int n, const T* a, int lda, T* b) {                                 \
    const T alpha(1);                                                                                  \
    if (f.side == CblasLeft && n == 1) trsv_(CblasRowMajor, f.uplo, f.trans, f.diag, m, a, lda, b, 1); \
    else trsm_(CblasRowMajor, f.side, f.uplo, f.trans, f.diag, m, n, one alpha, a, lda, b, n);         \
  }
RLX_TRIANGULAR(float, cblas_strsm, cblas_strsv, )
RLX_TRIANGULAR(double, cblas_dtrsm, cblas_dtrsv, )
RLX_TRIANGULAR(c64, cblas_ctrsm, cblas_ctrsv, &)
RLX_TRIANGULAR(c128, cblas_ztrsm, cblas_ztrsv, &)
#undef RLX_TRIANGULAR

template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return std::conj(x);
}

CBLAS_TRANSPOSE blas(Transpose mode) {
  return mode == Transpose::none ? CblasNoTrans : mode == Transpose::transpose ? CblasTrans : CblasConjTrans;
}

void need(bool fits, const char* routine, const char* what) {
  if (!fits) throw ArgumentError(std::string(routine) + ": " + what);
}
void need_matrix(std::int64_t m, std::int64_t n, std::size_t size, const char* routine, const char* what) {
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  need(m >= 0 && n >= 0 && m <= limit && n <= limit, routine, "an extent is negative or above LAPACK's 2^31 - 1");
  need(static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(n) == size, routine, what);
}

constexpr std::int64_t tile = 32;  // 32 x 32 x 16 bytes: two tiles of the widest type fit a 32 KiB cache

/// out (n x m) = the transpose of in (m x n), both row-major and apart.
template <class T>
void transpose_into(std::int64_t m, std::int64_t n, const T* in, T* out) {
  for (std::int64_t i0 = 0; i0 < m; i0 += tile)
    for (std::int64_t j0 = 0; j0 < n; j0 += tile)
      for (std::int64_t i = i0; i < std::min(i0 + tile, m); ++i)
        for (std::int64_t j = j0; j < std::min(j0 + tile, n); ++j) out[j * m + i] = in[i * n + j];
}

template <class T>
void transpose_square(std::int64_t n, T* a) {
  for (std::int64_t i0 = 0; i0 < n; i0 += tile)
    for (std::int64_t j0 = i0; j0 < n; j0 += tile)
      for (std::int64_t i = i0; i < std::min(i0 + tile, n); ++i)
        for (std::int64_t j = std::max(j0, i + 1); j < std::min(j0 + tile, n); ++j)
          std::swap(a[i * n + j], a[j * n + i]);
}

template <class T>
std::int64_t first_zero_diagonal(std::int64_t n, const T* a) {
  for (std::int64_t i = 0; i < n; ++i)
    if (a[i * n + i] == T(0)) return i + 1;
  return 0;
}

template <class T>
void copy_unless_same(std::span<const T> from, std::span<T> to) {
  if (from.data() != to.data()) std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

template <class T>
std::int64_t lu(std::int64_t m, std::int64_t n, std::span<const T> a, std::span<T> factors,
                std::span<std::int32_t> pivots) {
  need_matrix(m, n, a.size(), "lu", "the matrix does not have m n elements");
  need(factors.size() == a.size(), "lu", "the factors do not have m n elements");
  need(static_cast<std::int64_t>(pivots.size()) == std::min(m, n), "lu", "there must be min(m, n) pivots");
  if (a.empty()) return 0;
  const FenvGuard guard;
  const bool in_place = a.data() == factors.data();
  std::vector<T> scratch(m == n ? 0 : a.size());
  T* columns = m == n ? factors.data() : scratch.data();
  if (m == n && in_place) transpose_square(n, columns);
  else transpose_into(m, n, a.data(), columns);
  int info = 0;
  getrf(static_cast<int>(m), static_cast<int>(n), columns, pivots.data(), &info);
  for (std::int32_t& p : pivots) --p;
  if (m == n) transpose_square(n, columns);
  else transpose_into(n, m, columns, factors.data());
  return info;
}

template <class T>
std::int64_t lu_solve(std::int64_t n, std::int64_t count, std::span<const T> factors,
                      std::span<const std::int32_t> pivots, Transpose mode, std::span<const T> b, std::span<T> x) {
  need_matrix(n, n, factors.size(), "lu_solve", "the factors do not have n n elements");
  need_matrix(n, count, b.size(), "lu_solve", "the right side does not have n count elements");
  need(x.size() == b.size(), "lu_solve", "the solution does not have n count elements");
  need(static_cast<std::int64_t>(pivots.size()) == n, "lu_solve", "there must be n pivots");
  for (const std::int32_t p : pivots) need(0 <= p && p < n, "lu_solve", "a pivot lies outside the matrix");
  if (const std::int64_t info = first_zero_diagonal(n, factors.data())) return info;
  copy_unless_same(b, x);
  if (x.empty()) return 0;
  const FenvGuard guard;
  const auto exchange = [&](std::int64_t i) {
    if (pivots[i] != i) std::swap_ranges(&x[i * count], &x[i * count] + count, &x[pivots[i] * count]);
  };
  const int order = static_cast<int>(n), columns = static_cast<int>(count);
  const Flags l{CblasLeft, CblasLower, blas(mode), CblasUnit}, u{CblasLeft, CblasUpper, blas(mode), CblasNonUnit};
  if (mode == Transpose::none) {  // L U X = P B
    for (std::int64_t i = 0; i < n; ++i) exchange(i);
    trsm(l, order, columns, factors.data(), order, x.data());
    trsm(u, order, columns, factors.data(), order, x.data());
  } else {  // U^T L^T P X = B
    trsm(u, order, columns, factors.data(), order, x.data());
    trsm(l, order, columns, factors.data(), order, x.data());
    for (std::int64_t i = n; i-- > 0;) exchange(i);
  }
  return 0;
}

void pivots_to_rows(std::span<const std::int32_t> pivots, std::span<std::int64_t> rows) {
  need(pivots.size() <= rows.size(), "pivots_to_rows", "there are more pivots than rows");
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    need(pivots[i] >= 0 && static_cast<std::size_t>(pivots[i]) < rows.size(), "pivots_to_rows",
         "a pivot lies outside the rows");
    std::swap(rows[i], rows[pivots[i]]);
  }
}

template <class T>
std::int64_t cholesky(std::int64_t n, std::span<const T> a, std::span<T> factor) {
  need_matrix(n, n, a.size(), "cholesky", "the matrix does not have n n elements");
  need(factor.size() == a.size(), "cholesky", "the factor does not have n n elements");
  if (a.empty()) return 0;
  const FenvGuard guard;
  copy_unless_same(a, factor);
  // LAPACK sees conj(A) with its upper triangle and finds conj(A) = U^H U, whose U is L^T: row-major, that is L.
  int info = 0;
  potrf_upper(static_cast<int>(n), factor.data(), &info);
  for (std::int64_t i = 0; i < n; ++i) std::fill(&factor[i * n] + i + 1, &factor[i * n] + n, T(0));
  return info;
}

template <class T>
void cholesky_solve(std::int64_t n, std::int64_t count, std::span<const T> factor, Transpose mode, std::span<const T> b,
                    std::span<T> x) {
  need_matrix(n, n, factor.size(), "cholesky_solve", "the factor does not have n n elements");
  need_matrix(n, count, b.size(), "cholesky_solve", "the right side does not have n count elements");
  need(x.size() == b.size(), "cholesky_solve", "the solution does not have n count elements");
  copy_unless_same(b, x);
  if (x.empty()) return;
  const FenvGuard guard;
  const bool conjugated = mode == Transpose::transpose && !std::is_floating_point_v<T>;  // A^T = conj(A)
  if (conjugated) std::transform(x.begin(), x.end(), x.begin(), conjugate<T>);
  const int order = static_cast<int>(n), columns = static_cast<int>(count);
  trsm({CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit}, order, columns, factor.data(), order, x.data());
  trsm({CblasLeft, CblasLower, CblasConjTrans, CblasNonUnit}, order, columns, factor.data(), order, x.data());
  if (conjugated) std::transform(x.begin(), x.end(), x.begin(), conjugate<T>);
}

template <class T>
std::int64_t triangular_solve(const TriangularSolve& what, std::int64_t m, std::int64_t n, std::span<const T> a,
                              std::span<const T> b, std::span<T> x) {
  const std::int64_t order = what.side == Side::left ? m : n;
  need_matrix(order, order, a.size(), "triangular_solve", "the triangular matrix does not fit its side of B");
  need_matrix(m, n, b.size(), "triangular_solve", "the right side does not have m n elements");
  need(x.size() == b.size(), "triangular_solve", "the solution does not have m n elements");
  if (!what.unit_diagonal)
    if (const std::int64_t info = first_zero_diagonal(order, a.data())) return info;
  copy_unless_same(b, x);
  if (x.empty()) return 0;
  const FenvGuard guard;
  trsm({what.side == Side::left ? CblasLeft : CblasRight, what.triangle == Triangle::lower ? CblasLower : CblasUpper,
        blas(what.mode), what.unit_diagonal ? CblasUnit : CblasNonUnit},
       static_cast<int>(m), static_cast<int>(n), a.data(), static_cast<int>(order), x.data());
  return 0;
}

#define RLX_INSTANTIATE(T)                                                                                         \
  template std::int64_t lu(std::int64_t, std::int64_t, std::span<const T>, std::span<T>, std::span<std::int32_t>); \
  template std::int64_t lu_solve(std::int64_t, std::int64_t, std::span<const T>, std::span<const std::int32_t>,    \
                                 Transpose, std::span<const T>, std::span<T>);                                     \
  template std::int64_t cholesky(std::int64_t, std::span<const T>, std::span<T>);                                  \
  template void cholesky_solve(std::int64_t, std::int64_t, std::span<const T>, Transpose, std::span<const T>,      \
                               std::span<T>);                                                                      \
  template std::int64_t triangular_solve(const TriangularSolve&, std::int64_t, std::int64_t, std::span<const T>,   \
                                         std::span<const T>, std::span<T>);
RLX_INSTANTIATE(float)
RLX_INSTANTIATE(double)
RLX_INSTANTIATE(c64)
RLX_INSTANTIATE(c128)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
