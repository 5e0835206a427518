// UMFPACK and KLU called directly, as a user of theirs would: defaults, 32-bit indices, compressed columns.
#pragma once
#include <rlx/linalg/csr_view.hpp>

#include <klu.h>
#include <umfpack.h>

#include <cstdint>
#include <vector>

namespace rlx::bench {

/// By rows; of the transpose, by columns.
struct Matrix {
  std::int32_t rows = 0;
  std::vector<std::int32_t> offsets, columns;
  std::vector<double> values;
  linalg::CsrView<double> view() const { return {rows, rows, offsets, columns, values}; }
};

/// As compressed columns, which is what the libraries take.
Matrix transposed(const Matrix& a);

/// Whether a library scales the matrix, as it does by itself, or is told that this was done.
enum class Scaled { by_library, before };

class Umfpack {
 public:
  explicit Umfpack(const Matrix& columns, Scaled scaled = Scaled::by_library);
  ~Umfpack() { clear(); }
  Umfpack(const Umfpack&) = delete;
  Umfpack& operator=(const Umfpack&) = delete;
  void analyse();
  void factor();
  void solve(const std::vector<double>& b, std::vector<double>& x);
  /// By LAPACK's xLACN2 on solves without refinement.
  double reciprocal_condition();

 private:
  void clear();
  const Matrix& a_;
  double control_[UMFPACK_CONTROL]{}, without_refinement_[UMFPACK_CONTROL]{};
  void *symbolic_ = nullptr, *numeric_ = nullptr;
};

class Klu {
 public:
  explicit Klu(const Matrix& columns, Scaled scaled = Scaled::by_library);
  ~Klu() { clear(); }
  Klu(const Klu&) = delete;
  Klu& operator=(const Klu&) = delete;
  void analyse();
  void factor();
  void refactor();  ///< With the pivots that are there.
  void solve(const std::vector<double>& b, std::vector<double>& x);
  void estimate_condition();
  void refine(const std::vector<double>& b, std::vector<double>& x);
  /// KLU has no dense kernels: above this its factors would take minutes. Asks for the analysis.
  bool affordable() const { return symbolic_ && symbolic_->est_flops < 2e9; }

 private:
  void clear();
  Matrix a_;  // KLU's prototypes are not const
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
};

}  // namespace rlx::bench
