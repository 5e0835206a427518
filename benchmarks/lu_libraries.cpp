#include "benchmarks/lu_libraries.hpp"

#include <algorithm>
#include <cmath>

extern "C" void dlacn2_(const int* n, double* v, double* x, int* isgn, double* est, int* kase, int* isave);

namespace rlx::bench {

static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

Matrix transposed(const Matrix& a) {
  Matrix t{a.rows, std::vector<std::int32_t>(a.offsets.size()), std::vector<std::int32_t>(a.columns.size()),
           std::vector<double>(a.values.size())};
  for (const std::int32_t j : a.columns) ++t.offsets[at(j + 1)];
  for (std::int32_t j = 0; j < a.rows; ++j) t.offsets[at(j + 1)] += t.offsets[at(j)];
  std::vector<std::int32_t> next = t.offsets;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.offsets[at(i)]; k < a.offsets[at(i + 1)]; ++k) {
      const std::int32_t to = next[at(a.columns[at(k)])]++;
      t.columns[at(to)] = i;
      t.values[at(to)] = a.values[at(k)];
    }
  return t;
}

Umfpack::Umfpack(const Matrix& columns, Scaled scaled) : a_(columns) {
  umfpack_di_defaults(control_);
  if (scaled == Scaled::before) control_[UMFPACK_SCALE] = UMFPACK_SCALE_NONE;
  umfpack_di_defaults(without_refinement_);
  without_refinement_[UMFPACK_IRSTEP] = 0;
}
void Umfpack::clear() {
  umfpack_di_free_symbolic(&symbolic_);
  umfpack_di_free_numeric(&numeric_);
}
void Umfpack::analyse() {
  clear();
  umfpack_di_symbolic(a_.rows, a_.rows, a_.offsets.data(), a_.columns.data(), a_.values.data(), &symbolic_, control_,
                      nullptr);
}
void Umfpack::factor() {
  umfpack_di_free_numeric(&numeric_);
  umfpack_di_numeric(a_.offsets.data(), a_.columns.data(), a_.values.data(), symbolic_, &numeric_, control_, nullptr);
}
void Umfpack::solve(const std::vector<double>& b, std::vector<double>& x) {
  umfpack_di_solve(UMFPACK_A, a_.offsets.data(), a_.columns.data(), a_.values.data(), x.data(), b.data(), numeric_,
                   control_, nullptr);
}
double Umfpack::reciprocal_condition() {
  double norm = 0, inverse = 0;
  for (std::int32_t j = 0; j < a_.rows; ++j) {
    double sum = 0;
    for (std::int32_t k = a_.offsets[at(j)]; k < a_.offsets[at(j + 1)]; ++k) sum += std::abs(a_.values[at(k)]);
    norm = std::max(norm, sum);
  }
  std::vector<double> v(at(a_.rows)), x(at(a_.rows)), b;
  std::vector<int> signs(at(a_.rows));
  int what = 0, state[3];
  for (;;) {
    dlacn2_(&a_.rows, v.data(), x.data(), signs.data(), &inverse, &what, state);
    if (what == 0) return 1 / (norm * inverse);
    b = x;
    umfpack_di_solve(what == 1 ? UMFPACK_A : UMFPACK_Aat, a_.offsets.data(), a_.columns.data(), a_.values.data(),
                     x.data(), b.data(), numeric_, without_refinement_, nullptr);
  }
}

Klu::Klu(const Matrix& columns, Scaled scaled) : a_(columns) {
  klu_defaults(&common_);
  if (scaled == Scaled::before) common_.scale = -1;
}
void Klu::clear() {
  klu_free_numeric(&numeric_, &common_);
  klu_free_symbolic(&symbolic_, &common_);
}
void Klu::analyse() {
  clear();
  symbolic_ = klu_analyze(a_.rows, a_.offsets.data(), a_.columns.data(), &common_);
}
void Klu::factor() {
  klu_free_numeric(&numeric_, &common_);
  numeric_ = klu_factor(a_.offsets.data(), a_.columns.data(), a_.values.data(), symbolic_, &common_);
}
void Klu::refactor() {
  klu_refactor(a_.offsets.data(), a_.columns.data(), a_.values.data(), symbolic_, numeric_, &common_);
}
void Klu::solve(const std::vector<double>& b, std::vector<double>& x) {
  x = b;
  klu_solve(symbolic_, numeric_, a_.rows, 1, x.data(), &common_);
}
void Klu::estimate_condition() { klu_condest(a_.offsets.data(), a_.values.data(), symbolic_, numeric_, &common_); }
void Klu::refine(const std::vector<double>& b, std::vector<double>& x) {
  std::vector<double> r = b;
  for (std::int32_t j = 0; j < a_.rows; ++j)
    for (std::int32_t k = a_.offsets[at(j)]; k < a_.offsets[at(j + 1)]; ++k)
      r[at(a_.columns[at(k)])] -= a_.values[at(k)] * x[at(j)];
  klu_solve(symbolic_, numeric_, a_.rows, 1, r.data(), &common_);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += r[i];
}

}  // namespace rlx::bench
