// Which library makes a sparse LU: KLU or UMFPACK, by what KLU's analysis of the pattern expects.
#pragma once
#include <memory>
#include <rlx/linalg/attributes.hpp>
#include <string>

#include "provider.hpp"

namespace rlx::linalg {

struct LuChoice {
  bool klu;                                    ///< else UMFPACK
  std::string reason;                          ///< says the library
  std::shared_ptr<const Analysis> analysis{};  ///< what KLU can go on from; else null
  bool regular_structure = false;              ///< as the analysis says: CircuitAnalysis::regular_structure
};

/// KLU works by columns and has no dense kernels: it wins where the factors stay so sparse that there is nothing for
/// BLAS to do. What its analysis expects decides, by times of analysis, factorization and solve of both libraries on
/// the 37 real test matrices (UMFPACK 5.7.9, KLU 1.3.8, one thread of an Intel Xeon with AVX-512, the order of figures
/// the same on a Zen 3): KLU takes 0.15 to 0.7 of UMFPACK's time below 45 flops an entry of the factors, 0.86 to 1.08
/// between 55 and 83, 1.3 to 4.3 above 110. Blocks that dissolve the matrix add some: 0.86 and 0.94 at 76. The one
/// exception is commanche_dual, 1.8 at 19, whose pivots leave the diagonal.
template <class T, class Index>
LuChoice choose_lu(const SuitesparseTable& table, const CscMatrix<T, Index>& a, LuLibrary asked);

}  // namespace rlx::linalg
