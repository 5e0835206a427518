#include "linalg/matrix_traits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "linalg/csc_matrix.hpp"

#include <rlx/ir/counted.hpp>

namespace rlx::linalg {

namespace {

/// Levels of a breadth-first search from the farthest end of a first one (a pseudo-peripheral node, George and Liu
/// 1979). Counts the component of row 0 only; `reached` is its size.
std::int64_t mesh_depth(const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& row,
                        std::int64_t& reached) {
  const auto n = static_cast<std::int64_t>(start.size()) - 1;
  std::int64_t from = 0, depth = 0;
  std::vector<std::int64_t> queue(n), level(n);
  for (int sweep = 0; sweep < 2; ++sweep) {
    std::fill(level.begin(), level.end(), -1);
    queue[0] = from;
    level[from] = 0;
    reached = 1;
    for (std::int64_t head = 0; head < reached; ++head) {
      const std::int64_t j = queue[head];
      for (std::int64_t k = start[j]; k < start[j + 1]; ++k)
        if (const std::int64_t i = row[k]; level[i] < 0) {
          level[i] = level[j] + 1;
          queue[reached++] = i;
        }
    }
    from = queue[reached - 1];
    depth = level[from] + 1;
  }
  return depth;
}

std::string per_row(double mean) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3g entries a row", mean);
  return text;
}

}  // namespace

template <class T, class Index>
MatrixTraits matrix_traits(const std::string& op, const CsrView<T, Index>& view) {
  const CscMatrix<T> a = to_csc(op, view);
  const CscMatrix<T> t = transposed(a);  // column i of t is row i of a
  MatrixTraits m;
  m.rows = a.rows;
  m.cols = a.cols;
  m.nnz = a.nnz();
  m.mean_row_nnz = m.rows ? static_cast<double>(m.nnz) / static_cast<double>(m.rows) : 0;
  const bool square = a.rows == a.cols;
  m.structurally_symmetric = square && a.start == t.start && a.row == t.row;
  m.symmetric = m.structurally_symmetric && a.value == t.value;
  const auto all = [&](auto&& holds) { return std::equal(a.value.begin(), a.value.end(), t.value.begin(), holds); };
  m.hermitian = m.structurally_symmetric && all([](T x, T y) { return x == conj_of(y); });
  m.skew = m.structurally_symmetric && all([](T x, T y) { return x == -y; });
  m.positive_diagonal = m.diagonally_dominant = m.m_matrix_signs = square;
  m.least_row_nnz = m.rows ? m.cols : 0;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    const std::int64_t count = t.start[i + 1] - t.start[i];
    m.least_row_nnz = std::min(m.least_row_nnz, count);
    m.largest_row_nnz = std::max(m.largest_row_nnz, count);
    T diagonal{};
    double others = 0;
    for (std::int64_t k = t.start[i]; k < t.start[i + 1]; ++k) {
      const std::int64_t j = t.row[k];
      m.lower_bandwidth = std::max(m.lower_bandwidth, i - j);
      m.upper_bandwidth = std::max(m.upper_bandwidth, j - i);
      if (j == i) {
        diagonal = t.value[k];
        continue;
      }
      others += std::abs(t.value[k]);
      if (!(real_of(t.value[k]) <= 0 && conj_of(t.value[k]) == t.value[k])) m.m_matrix_signs = false;
    }
    if (diagonal == T{} && i < m.cols) ++m.missing_diagonals;
    if (!(real_of(diagonal) > 0 && conj_of(diagonal) == diagonal)) m.positive_diagonal = m.m_matrix_signs = false;
    const double rounding =
        4 * static_cast<double>(count) * 1.2e-16 * others;  // of assembling sums that cancel exactly
    if (std::abs(diagonal) + rounding < others) m.diagonally_dominant = false;
  }
  if (m.structurally_symmetric && m.rows > dimension_matters) {
    std::int64_t reached = 0;
    const std::int64_t depth = mesh_depth(a.start, a.row, reached);
    if (depth > 1) m.dimension = std::log(static_cast<double>(reached)) / std::log(static_cast<double>(depth));
  }
  return m;
}

MethodChoice choose_method(const MatrixTraits& m) {
  constexpr double solid = 2.2;  // a grid of 1000 x 1000 has 1.8, one of 100 x 100 x 100 has 2.4
  const std::string n = counted(m.rows, "row");
  if (m.rows != m.cols)
    return {SolveMethod::lu, "lu: none fits, the matrix is " + std::to_string(m.rows) + " x " + std::to_string(m.cols)};
  if (!m.hermitian) {
    if (m.skew) return {SolveMethod::lu, "lu: the matrix is skew-symmetric"};
    if (m.symmetric) return {SolveMethod::lu, "lu: the matrix is complex symmetric, not Hermitian"};
    return {SolveMethod::lu, m.structurally_symmetric ? "lu: the pattern is symmetric, the values are not"
                                                      : "lu: the matrix is not symmetric"};
  }
  const std::string kind = m.symmetric ? "symmetric" : "Hermitian";
  if (!m.positive_diagonal)
    return {SolveMethod::lu,
            "lu: the matrix is " + kind + ", but its diagonal is not positive, so it is not positive definite"};
  if (m.rows > dimension_matters && m.symmetric && m.diagonally_dominant && m.dimension > solid)
    return {SolveMethod::cg,
            "cg: " + n + " of a solid mesh (" + per_row(m.mean_row_nnz) + "), symmetric and diagonally dominant" +
                (m.m_matrix_signs ? " with the signs of an M-matrix" : "") + ": factors would fill in"};
  return {SolveMethod::cholesky, "cholesky: " + kind + " with a positive diagonal, " + n};
}

#define RLX_INSTANTIATE(T, I) template MatrixTraits matrix_traits(const std::string&, const CsrView<T, I>&);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
