// The binary interface between librlx and librlx_suitesparse: what a library of sparse factorizations provides.
// Both sides are built by one compiler from one tree, so C++ types cross it. The plug-in reports by value and throws
// nothing but std::bad_alloc; so it needs no symbol of librlx.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "csc_matrix.hpp"

namespace rlx::linalg {

/// Raised whenever a type or a signature of this header, csc_matrix.hpp or csr_view.hpp changes.
inline constexpr std::uint32_t suitesparse_abi_version = 2;

/// too_large: the analysis expects more memory than there is, so nothing was begun.
enum class FactorStatus { ok, singular, not_positive_definite, too_large, out_of_memory, failed };

struct FactorOutcome {
  FactorStatus status = FactorStatus::ok;
  std::int64_t code = 0;   ///< the library's own status
  std::int64_t row = -1;   ///< singular: column of the zero pivot; not positive definite: row of it; from 0, -1 unknown
  std::int64_t step = -1;  ///< the same in the order of elimination
  std::int64_t minor = -1;  ///< not positive definite: order of the first failing leading minor in the given order
  double wanted_bytes = 0;  ///< too_large
};

/// What a library learnt of a pattern: orderings, sizes of the factors, and the storage of a factor that is gone. It
/// serves every matrix of that pattern; the factors of one library that share it are made without a new analysis.
class Analysis {
 public:
  virtual ~Analysis() = default;
};

/// A factorization of one matrix, immutable: any number of threads may solve with it at once.
template <class T>
class ProviderFactor {
 public:
  virtual ~ProviderFactor() = default;
  /// `count` right sides and solutions, one after the other; b and x do not overlap.
  virtual void solve(Transpose mode, const T* b, T* x, std::int64_t count) const = 0;
  virtual std::string_view provider() const = 0;
  virtual std::int64_t factor_nnz() const = 0;
  virtual std::shared_ptr<const Analysis> analysis() const = 0;
  /// Whether the pivots are those of an earlier matrix of the pattern, which may not suit this one.
  virtual bool pivots_are_old() const { return false; }
};

/// KLU's block triangular form and ordering with what it expects of the factors: cheap, and decides between KLU and
/// UMFPACK.
class CircuitAnalysis : public Analysis {
 public:
  std::int64_t blocks = 0, largest_block = 0;
  double factor_nnz = -1, flops = -1;  ///< of L and U; -1 where unknown
};

/// Size of a largest set of entries no two of which share a row or column (the structural rank).
struct Matching {
  std::int64_t size = 0;
  bool complete = true;                       ///< false: the search was given up, and `size` is a lower bound only
  std::int64_t free_row = -1, free_col = -1;  ///< the first ones without a partner, -1 where there are none
};

/// Sparse LU takes a pivot that keeps the factors sparse if it is not too small beside the largest of its column.
/// `loose` is the library's own limit (0.1, for diagonal entries 0.001); `strict` takes the largest, at the price of
/// more fill.
enum class Pivoting { loose, strict };

struct FactorRequest {
  Pivoting pivoting = Pivoting::loose;
  std::shared_ptr<const Analysis> analysis{};  ///< Of the same library and pattern; null: none is at hand.
  bool old_pivots = false;                     ///< Those of an earlier matrix will do.
  double available_bytes = std::numeric_limits<double>::infinity();
};

template <class T>
using MakeFactor = std::unique_ptr<ProviderFactor<T>> (*)(const CscMatrix<T>&, const FactorRequest&, FactorOutcome&);

template <class T>
struct ProviderTable {
  MakeFactor<T> umfpack, klu, cholmod;  ///< cholmod takes the upper triangle
};

struct SuitesparseTable {
  std::uint32_t abi_version;
  const char* versions;  ///< for `rlx doctor`: "UMFPACK 5.7.9, KLU 1.3.8, CHOLMOD 3.0.14"
  ProviderTable<double> f64;
  ProviderTable<std::complex<double>> c128;
  Matching (*match)(std::int64_t n, const std::int64_t* start, const std::int64_t* row);
  /// Null where KLU refuses the pattern.
  std::shared_ptr<const CircuitAnalysis> (*analyze_circuit)(std::int64_t n, const std::int64_t* start,
                                                            const std::int64_t* row);
};

template <class T>
const ProviderTable<T>& table_of(const SuitesparseTable& table) {
  if constexpr (std::is_same_v<T, double>) return table.f64;
  else return table.c128;
}

}  // namespace rlx::linalg

/// What the plug-in exports.
extern "C" using rlx_suitesparse_entry_fn = const rlx::linalg::SuitesparseTable * ();
