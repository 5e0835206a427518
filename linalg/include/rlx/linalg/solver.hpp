// Solves A x = b again and again with one sparse matrix: chooses the method and says why, factors once, refines every
// solution and measures it. Everything runs as programs of the IR on the device that was asked for; report() shows
// which.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/ir/host_value.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/csr_view.hpp>
#include <rlx/linalg/method.hpp>

#include <complex>
#include <concepts>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::linalg {

/// CsrView A{n, n, offsets, columns, values} of any contiguous containers.
template <class O, class C, class V>
CsrView(std::int64_t, std::int64_t, const O&, const C&, const V&)
    -> CsrView<std::ranges::range_value_t<V>, std::ranges::range_value_t<O>>;

struct SolverOptions {
  /// automatic: by the matrix, and by whether the device has a sparse Cholesky.
  SolveMethod method = SolveMethod::automatic;
  std::string device{};                      ///< Empty: default_device().
  LuLibrary library = LuLibrary::automatic;  ///< Of lu.
  int refine = 10;                           ///< Most steps of iterative refinement of lu and cholesky.
  double tolerance = 1e-12;                  ///< cg: relative residual in the 2-norm, by its recurrence.
  std::int64_t max_iterations = 0;           ///< cg; 0: ten times the number of rows, at least 1000.
  CompileOptions compile{};                  ///< Without `donated`: what is given away is no solver's to choose.
};

/// How a solution came about and how good it is, in max norms; of several, the worst of each number.
struct SolveInfo {
  std::string method, provider;  ///< "lu", "umfpack"
  double backward_error = 0;     ///< |b - A x| / (|A| |x| + |b|)
  double relative_residual = 0;  ///< |b - A x| / |b|; 0 where both are 0
  std::int64_t iterations = 0;   ///< Of cg; 0 for the direct methods.
  std::vector<std::string> warnings;
};

/// What the sparse solvers of this library compute with; f32 is to be widened by the caller, who knows what it is
/// worth.
template <class T, class Index>
concept Solvable = (std::same_as<T, double> || std::same_as<T, std::complex<double>>) &&
                   (std::same_as<Index, std::int32_t> || std::same_as<Index, std::int64_t>);

/// A csr value with its own copy of the arrays: columns sorted within their rows and repeats summed, as SparseType
/// asks. Throws ArgumentError where the view is no matrix.
template <class T, class Index>
  requires Solvable<T, Index>
HostSparse to_host(const CsrView<T, Index>& a);

class RLX_API Solver {
 public:
  /// Copies the matrix and factors it. Throws ArgumentError (not square, empty, arrays that do not fit, an option that
  /// makes no sense), NumericalError (singular, not positive definite, an entry that is not finite), DeviceError,
  /// CompileError or MemoryError.
  explicit Solver(HostSparse a, SolverOptions options = {});
  template <class T, class Index>
    requires Solvable<T, Index>
  explicit Solver(const CsrView<T, Index>& a, SolverOptions options = {}) : Solver(to_host(a), std::move(options)) {}
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// Another matrix of the same order and dtype: factored anew by the compiled programs, which serve as long as the
  /// number of entries stays, and without a new analysis as long as the entries stay where they are. An automatic
  /// choice is made again, but for one thing: once Cholesky refused, it is LU. What throws leaves the solver as it was.
  void update(HostSparse a);
  template <class T, class Index>
    requires Solvable<T, Index>
  void update(const CsrView<T, Index>& a) {
    update(to_host(a));
  }

  /// `columns` right sides and solutions, one after the other (LAPACK's column-major, without gaps): x and b have
  /// rows() times that many elements and may be the same memory. Several cost less together than one by one, and each
  /// is refined until it is good; by rounding it may differ from what it is alone. Any number of threads may solve at
  /// once. Throws ArgumentError (a length, the dtype, a b that is not finite) and NumericalError, which names the first
  /// of several that fails, those before it being solved; where that is for want of convergence it says how far cg
  /// came, and x holds the last iterate.
  SolveInfo solve(std::span<const double> b, std::span<double> x, std::int64_t columns = 1) const;
  SolveInfo solve(std::span<const std::complex<double>> b, std::span<std::complex<double>> x,
                  std::int64_t columns = 1) const;

  SolveMethod method() const;                        ///< Never automatic.
  const std::string& reason() const;                 ///< Why this method; begins with its name.
  const std::string& provider() const;               ///< "umfpack", "klu", "cholmod"; "rlx" for cg.
  const std::vector<std::string>& warnings() const;  ///< About the matrix.
  /// An estimate of the reciprocal condition of the equilibrated matrix in the 1-norm; NaN: unknown, as with cg. Takes
  /// a few solves: what refusals and warnings need, that the condition is far from their limits, is known for less.
  double rcond() const;
  std::int64_t rows() const;
  std::int64_t entries() const;
  DType dtype() const;  ///< f64 or c128
  /// One row a node of the programs "factor" and "solve" (cg: "solve" alone).
  DispatchReport report() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlx::linalg
