// Attribute structs of the linear-algebra operators.
#pragma once
#include <rlx/ir/attributes.hpp>
#include <rlx/linalg/csr_view.hpp>

namespace rlx::linalg {

/// spmv, lu_solve, cholesky_solve: which matrix is applied.
struct TransposeAttrs {
  Transpose mode = Transpose::none;
  bool operator==(const TransposeAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"mode", &TransposeAttrs::mode, "none (A), transpose (A^T) or conjugate_transpose (A^H)"}};
};

struct TriangularSolveAttrs {
  bool lower = true, unit_diagonal = false;
  Transpose mode = Transpose::none;
  bool operator==(const TriangularSolveAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"lower", &TriangularSolveAttrs::lower, "the lower triangle is the matrix, else the upper one"},
                 Field{"unit_diagonal", &TriangularSolveAttrs::unit_diagonal, "the diagonal counts as ones"},
                 Field{"mode", &TriangularSolveAttrs::mode, "none, transpose or conjugate_transpose"}};
};

/// Which library factors; automatic chooses by the pattern and says why.
enum class LuLibrary { automatic, umfpack, klu };
inline std::span<const std::string_view> enum_names(LuLibrary) {
  static constexpr std::string_view names[] = {"automatic", "umfpack", "klu"};
  return names;
}
struct SparseLuAttrs {
  LuLibrary library = LuLibrary::automatic;
  bool operator==(const SparseLuAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"library", &SparseLuAttrs::library, "automatic, umfpack or klu"}};
};

struct SparseSolveAttrs {
  Transpose mode = Transpose::none;
  int refine = 10;  ///< Most steps of iterative refinement; 0: none.
  int axis = 0;     ///< 0: b is [n] or [n, k]; 1: [k, n], each right side in one piece, as the libraries want it.
  bool operator==(const SparseSolveAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"mode", &SparseSolveAttrs::mode, "none, transpose or conjugate_transpose"},
                 Field{"refine", &SparseSolveAttrs::refine, "most steps of iterative refinement, 0: none"},
                 Field{"axis", &SparseSolveAttrs::axis, "dimension of b and x along which a right side runs"}};
};

struct RcondAttrs {
  double exact_below = 1;  ///< At and above it a bound from below will do, which costs less than the estimate.
  bool operator==(const RcondAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"exact_below", &RcondAttrs::exact_below,
                       "where the answer is at least this, it may be a bound from below instead of an estimate"}};
};

struct CgAttrs {
  double tolerance = 1e-10;  ///< On |b - A x|_2 / |b|_2, by the recurrence.
  int max_iterations = 1000;
  bool operator==(const CgAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"tolerance", &CgAttrs::tolerance, "relative residual, 2-norm, at which it stops"},
                 Field{"max_iterations", &CgAttrs::max_iterations, "bound of the iteration count"}};
};

}  // namespace rlx::linalg
