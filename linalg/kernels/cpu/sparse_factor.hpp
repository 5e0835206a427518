// Sparse direct factorizations of square matrices: equilibrated, checked for singularity, immutable, for f64 and c128.
// What the operators linalg.sparse_lu and linalg.sparse_cholesky hold as their resource.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

struct FactorOptions {
  LuLibrary lu = LuLibrary::automatic;
  /// Below this reciprocal condition (1-norm, of the equilibrated matrix) the matrix counts as singular; 0 accepts all.
  double smallest_rcond = std::numeric_limits<double>::epsilon();
  /// 64-bit indices from the start; else only where 32 bits do not count the entries of the matrix or of its factors.
  bool wide_indices = false;
  /// Memory that the factors may take, asked with what the library's analysis expects: more is a MemoryError before
  /// the work begins. Null: all. A function, since asking costs a twentieth of a small factorization.
  double (*available_bytes)(double wanted) = nullptr;
};

/// A factorization of one matrix. Immutable: any number of threads may solve with it at once, each call has its
/// workspace.
template <class T>
class SparseFactor {
 public:
  virtual ~SparseFactor() = default;
  /// x solves A x = b, A^T x = b or A^H x = b; `count` right sides and solutions of length order(), one after the
  /// other. x and b may be the same memory. ArgumentError where a length does not fit. No refinement: see refine.hpp.
  virtual void solve(Transpose mode, std::span<const T> b, std::span<T> x, std::int64_t count = 1) const = 0;
  virtual std::int64_t order() const noexcept = 0;
  /// An estimate of 1 / (|B|_1 |B^-1|_1) of the equilibrated matrix B, seldom above three times the true value. A few
  /// solves on the first call.
  virtual double rcond() const = 0;
  /// A bound of that from below, which is known at once: of use where it lies above what is asked for. See Probe.
  virtual double rcond_at_least() const noexcept = 0;
  virtual std::string_view method() const noexcept = 0;    ///< "lu" or "cholesky"
  virtual std::string_view provider() const noexcept = 0;  ///< "umfpack", "klu" or "cholmod"
  virtual std::string_view reason() const noexcept = 0;    ///< why this provider
  virtual std::int64_t factor_nnz() const noexcept = 0;    ///< stored entries of the factors
};

/// P R A C Q = L U with diagonal R and C. Throws ArgumentError (not a square CSR matrix), DeviceError (no plug-in, no
/// memory) and NumericalError: structurally singular (info: the first row without a partner, counted from 1), a zero
/// pivot (info: its column) or a reciprocal condition below options.smallest_rcond (info: 0), MemoryError. Where the
/// matrix has the pattern of the one behind `previous`, the analysis of that one serves, and KLU keeps its pivots as
/// long as a solve with them is good.
template <class T, class Index>
std::unique_ptr<SparseFactor<T>> sparse_lu(const CsrView<T, Index>& a, const FactorOptions& options = {},
                                           const SparseFactor<T>* previous = nullptr);

/// P D A D P^T = L L^H of the Hermitian matrix whose lower triangle is that of `a`; the upper one is not looked at.
/// Not positive definite: NumericalError, whose info is LAPACK's, the order of the first leading minor of A that is not
/// positive, where finding it costs little; else the row (from 1) at which the permuted factorization stopped. The
/// message gives row and step of the permuted one and says which info is.
template <class T, class Index>
std::unique_ptr<SparseFactor<T>> sparse_cholesky(const CsrView<T, Index>& a, const FactorOptions& options = {},
                                                 const SparseFactor<T>* previous = nullptr);

}  // namespace rlx::linalg
