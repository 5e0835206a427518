// The binary interface between librlx and librlx_suitesparse: what a library of sparse factorizations provides.
// Both sides are built by one compiler from one tree, so C++ types cross it. The plug-in reports by value and throws
// nothing but std::bad_alloc; so it needs no symbol of librlx.
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "linalg/csc_matrix.hpp"

namespace rlx::linalg {

/// Raised whenever a type or a signature of this header, csc_matrix.hpp or csr_view.hpp changes.
inline constexpr std::uint32_t suitesparse_abi_version = 4;

/// too_large: the analysis expects more memory than there is, so nothing was begun. index_overflow: the factors are,
/// or may be, larger than the index type addresses; the wider one is to be taken.
enum class FactorStatus { ok, singular, not_positive_definite, too_large, index_overflow, out_of_memory, failed };

struct FactorOutcome {
  FactorStatus status = FactorStatus::ok;
  std::int64_t code = 0;   ///< the library's own status
  std::int64_t col = -1;   ///< singular: column of the zero pivot; not positive definite: that of the failing one; from
                           ///< 0, -1 unknown
  std::int64_t step = -1;  ///< the same in the order of elimination
  std::int64_t minor = -1;  ///< not positive definite: order of the first failing leading minor in the given order
  double wanted_bytes = 0, available_bytes = 0;  ///< too_large
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
  double factor_nnz = -1, flops = -1;  ///< of L and U
  bool regular_structure = false;      ///< a permutation puts entries on the whole diagonal; false: not known to
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
  std::shared_ptr<const Analysis> analysis{};  ///< Of the same library, index type and pattern; null: none is at hand.
  bool old_pivots = false;                     ///< Those of an earlier matrix will do.
  double (*available_bytes)(double wanted) = nullptr;  ///< See FactorOptions.
};

template <class T, class Index>
using MakeFactor = std::unique_ptr<ProviderFactor<T>> (*)(const CscMatrix<T, Index>&, const FactorRequest&,
                                                          FactorOutcome&);

/// What has an index type: half the width saves a tenth of the time of a factorization and a quarter of that of a
/// solve.
template <class Index>
struct IndexTable {
  MakeFactor<double, Index> umfpack, klu;
  MakeFactor<std::complex<double>, Index> umfpack_complex, klu_complex;
  Matching (*match)(Index n, const Index* start, const Index* row);
  /// Null where KLU refuses the pattern.
  std::shared_ptr<const CircuitAnalysis> (*analyze_circuit)(Index n, const Index* start, const Index* row);

  template <class T>
  MakeFactor<T, Index> lu(bool by_klu) const {
    if constexpr (std::is_same_v<T, double>) return by_klu ? klu : umfpack;
    else return by_klu ? klu_complex : umfpack_complex;
  }
};

struct SuitesparseTable {
  std::uint32_t abi_version;
  const char* versions;  ///< for `rlx doctor`: "UMFPACK 5.7.9, KLU 1.3.8, CHOLMOD 3.0.14"
  IndexTable<std::int32_t> narrow;
  IndexTable<std::int64_t> wide;
  MakeFactor<double, std::int64_t> cholmod;  ///< takes the upper triangle
  MakeFactor<std::complex<double>, std::int64_t> cholmod_complex;

  template <class Index>
  const IndexTable<Index>& indexed_by() const {
    if constexpr (sizeof(Index) == 4) return narrow;
    else return wide;
  }
};

}  // namespace rlx::linalg

/// What the plug-in exports.
extern "C" using rlx_suitesparse_entry_fn = const rlx::linalg::SuitesparseTable * ();
