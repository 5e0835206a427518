// Launches of the dense operators: LAPACK through dense_lapack.hpp.
#include "launch_dense.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/linalg/attributes.hpp>

#include "dense_lapack.hpp"
#include "launch.hpp"

#include <algorithm>
#include <vector>

namespace rlx::linalg {

namespace {

DType element(const LaunchCall& c) { return c.in[0].type.dtype; }
std::int64_t order(const LaunchCall& c) { return c.in[0].type.shape[0].constant(); }
std::int64_t columns(const BufferView& b) { return b.type.rank() == 2 ? b.type.shape[1].constant() : 1; }

void refuse_zero(const LaunchCall& c, std::int64_t info, const char* what) {
  if (info == 0) return;
  const std::string op(c.instance.op->name());
  throw NumericalError(op, info, op + ": the matrix is singular: " + what + " " + std::to_string(info) + " is zero");
}

// The operator's `rows` say where each row of L U came from; LAPACK's pivots are exchanges. The exchanges that lead
// from the identity to `rows`, one position after the other.
std::vector<std::int32_t> exchanges(std::span<const std::int32_t> rows) {
  const auto n = static_cast<std::int32_t>(rows.size());
  std::vector<std::int32_t> at(rows.size()), position(rows.size()), pivots(rows.size());
  for (std::int32_t i = 0; i < n; ++i) at[static_cast<std::size_t>(i)] = position[static_cast<std::size_t>(i)] = i;
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t row = rows[static_cast<std::size_t>(i)];
    if (row < 0 || row >= n || position[static_cast<std::size_t>(row)] < i)
      throw ArgumentError("linalg.lu_solve: rows is no permutation of 0 to " + std::to_string(n - 1));
    const std::int32_t from = position[static_cast<std::size_t>(row)];
    pivots[static_cast<std::size_t>(i)] = from;
    const std::int32_t displaced = at[static_cast<std::size_t>(i)];
    at[static_cast<std::size_t>(from)] = displaced;
    position[static_cast<std::size_t>(displaced)] = from;
    at[static_cast<std::size_t>(i)] = row;
    position[static_cast<std::size_t>(row)] = i;
  }
  return pivots;
}

}  // namespace

void launch_lu(const LaunchCall& c) {
  for_element(element(c), [&]<class T>() {
    const std::int64_t n = order(c);
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
    lu<T>(n, n, input<T>(c, 0), output<T>(c, 0), pivots);  // A zero pivot is part of the result.
    pivots_to_rows(pivots, rows);
    std::copy(rows.begin(), rows.end(), output<std::int32_t>(c, 1).begin());
  });
}

void launch_lu_solve(const LaunchCall& c) {
  for_element(element(c), [&]<class T>() {
    const auto pivots = exchanges(input<std::int32_t>(c, 1));
    refuse_zero(c,
                lu_solve<T>(order(c), columns(c.in[2]), input<T>(c, 0), pivots,
                            c.instance.attrs->as<TransposeAttrs>().mode, input<T>(c, 2), output<T>(c, 0)),
                "entry of U's diagonal");
  });
}

void launch_cholesky(const LaunchCall& c) {
  for_element(element(c), [&]<class T>() {
    const std::int64_t info = cholesky<T>(order(c), input<T>(c, 0), output<T>(c, 0));
    if (info)
      throw NumericalError("linalg.cholesky", info,
                           "linalg.cholesky: the leading minor of order " + std::to_string(info) + " is not positive");
  });
}

void launch_cholesky_solve(const LaunchCall& c) {
  for_element(element(c), [&]<class T>() {
    cholesky_solve<T>(order(c), columns(c.in[1]), input<T>(c, 0), c.instance.attrs->as<TransposeAttrs>().mode,
                      input<T>(c, 1), output<T>(c, 0));
  });
}

void launch_triangular_solve(const LaunchCall& c) {
  const auto& a = c.instance.attrs->as<TriangularSolveAttrs>();
  const TriangularSolve what{Side::left, a.lower ? Triangle::lower : Triangle::upper, a.mode, a.unit_diagonal};
  for_element(element(c), [&]<class T>() {
    refuse_zero(c,
                triangular_solve<T>(what, order(c), columns(c.in[1]), input<T>(c, 0), input<T>(c, 1), output<T>(c, 0)),
                "diagonal entry");
  });
}

}  // namespace rlx::linalg
