// Launches of the dense operators: LAPACK through dense_lapack.hpp.
#include "launch_dense.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/build.hpp>

#include "dense_lapack.hpp"
#include "launch.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace rlx::linalg {

namespace {

DType element(const LaunchCall& c) { return c.in[0].type.dtype; }
std::int64_t order(const LaunchCall& c) { return c.in[0].type.shape.back().constant(); }
/// Of the right side in operand `i`, beside the matrices of operand 0.
std::int64_t columns(const LaunchCall& c, std::size_t i) {
  const TensorType& b = c.in[i].type;
  return b.rank() == c.in[0].type.rank() ? b.shape.back().constant() : 1;
}

/// How many matrices there are, and what belongs to the one at `index`.
struct Batch {
  std::int64_t size = 1, index = 0;
  template <class T>
  std::span<T> of(std::span<T> all) const {
    const std::size_t each = all.size() / static_cast<std::size_t>(size);
    return all.subspan(static_cast<std::size_t>(index) * each, each);
  }
};
/// `one` for each matrix of operand 0, leading dimensions being those of a batch.
template <class F>
void each_matrix(const LaunchCall& c, F one) {
  Batch batch;
  const Shape& shape = c.in[0].type.shape;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) batch.size *= shape[d].constant();
  for (; batch.index < batch.size; ++batch.index) one(batch);
}

[[noreturn]] void refuse(const LaunchCall& c, const Batch& batch, std::int64_t info, const std::string& why) {
  const std::string which = batch.size == 1 ? "" : "matrix " + std::to_string(batch.index) + " of the batch: ";
  const std::string op(c.instance.op->name());
  throw NumericalError(op, info, op + ": " + which + why);
}
[[noreturn]] void refuse_zero(const LaunchCall& c, const Batch& batch, std::int64_t info, const char* what) {
  refuse(c, batch, info, std::string("the matrix is singular: ") + what + " " + std::to_string(info) + " is zero");
}

/// Without a floating-point exception, and without a branch.
template <class T>
unsigned is_not_finite(T x) {
  if constexpr (std::is_floating_point_v<T>) return !std::isfinite(x);
  else return is_not_finite(x.real()) | is_not_finite(x.imag());
}

enum class Part { all, lower, strictly_lower, upper, strictly_upper };

[[noreturn]] void refuse_row(const LaunchCall& c, const Batch& batch, std::int64_t row) {
  refuse(c, batch, row + 1,
         "an entry of the matrix is not finite: the first row that holds one (counted from 1) is " +
             std::to_string(row + 1));
}

/// Refuses a matrix [n, n] with an entry of that part which is not finite. No row is left before its end, so that the
/// comparisons are vectors.
template <class T>
void refuse_not_finite(const LaunchCall& c, const Batch& batch, std::int64_t n, std::span<const T> a, Part part) {
  for (std::int64_t i = 0; i < n; ++i) {
    const bool lower = part == Part::lower || part == Part::strictly_lower;
    const std::int64_t begin = part == Part::upper            ? i
                               : part == Part::strictly_upper ? i + 1
                                                              : 0,
                       end = !lower                ? n
                             : part == Part::lower ? i + 1
                                                   : i;
    unsigned bad = 0;
    for (std::int64_t j = begin; j < end; ++j) bad |= is_not_finite(a[static_cast<std::size_t>(i * n + j)]);
    if (bad) refuse_row(c, batch, i);
  }
}

/// And a diagonal with such an entry or with a zero, before a solve.
template <class T>
void refuse_diagonal(const LaunchCall& c, const Batch& batch, std::int64_t n, std::span<const T> a, const char* what) {
  const auto at = [&](std::int64_t i) { return a[static_cast<std::size_t>(i * n + i)]; };
  for (std::int64_t i = 0; i < n; ++i)
    if (is_not_finite(at(i))) refuse_row(c, batch, i);
  for (std::int64_t i = 0; i < n; ++i)
    if (at(i) == T(0)) refuse_zero(c, batch, i + 1, what);
}

/// What is left of the matrix, after a solve, where the solution is not finite, as an entry that is not would make it:
/// the whole matrix is looked at only then.
template <class T>
void explain(const LaunchCall& c, const Batch& batch, std::int64_t n, std::span<const T> a, Part part,
             std::span<const T> x) {
  unsigned bad = 0;
  for (const T& v : x) bad |= is_not_finite(v);
  if (bad) refuse_not_finite(c, batch, n, a, part);
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
    each_matrix(c, [&](const Batch& batch) {
      refuse_not_finite(c, batch, n, batch.of(input<T>(c, 0)), Part::all);
      // A zero pivot is part of the result.
      lu<T>(n, n, batch.of(input<T>(c, 0)), batch.of(output<T>(c, 0)), pivots);
      pivots_to_rows(pivots, rows);
      std::copy(rows.begin(), rows.end(), batch.of(output<std::int32_t>(c, 1)).begin());
    });
  });
}

void launch_lu_solve(const LaunchCall& c) {
  const Transpose mode = c.instance.attrs->as<TransposeAttrs>().mode;
  for_element(element(c), [&]<class T>() {
    each_matrix(c, [&](const Batch& batch) {
      const auto pivots = exchanges(batch.of(input<std::int32_t>(c, 1)));
      refuse_diagonal(c, batch, order(c), batch.of(input<T>(c, 0)), "entry of U's diagonal");
      lu_solve<T>(order(c), columns(c, 2), batch.of(input<T>(c, 0)), pivots, mode, batch.of(input<T>(c, 2)),
                  batch.of(output<T>(c, 0)));
      explain<T>(c, batch, order(c), batch.of(input<T>(c, 0)), Part::all, batch.of(output<T>(c, 0)));
    });
  });
}

void launch_cholesky(const LaunchCall& c) {
  for_element(element(c), [&]<class T>() {
    each_matrix(c, [&](const Batch& batch) {
      refuse_not_finite(c, batch, order(c), batch.of(input<T>(c, 0)), Part::lower);
      const std::int64_t info = cholesky<T>(order(c), batch.of(input<T>(c, 0)), batch.of(output<T>(c, 0)));
      if (info) refuse(c, batch, info, "the leading minor of order " + std::to_string(info) + " is not positive");
    });
  });
}

void launch_cholesky_solve(const LaunchCall& c) {
  const Transpose mode = c.instance.attrs->as<TransposeAttrs>().mode;
  for_element(element(c), [&]<class T>() {
    each_matrix(c, [&](const Batch& batch) {
      const std::int64_t n = order(c);
      const std::span<const T> factor = batch.of(input<T>(c, 0));
      refuse_diagonal(c, batch, n, factor, "diagonal entry");
      cholesky_solve<T>(n, columns(c, 1), factor, mode, batch.of(input<T>(c, 1)), batch.of(output<T>(c, 0)));
      explain<T>(c, batch, n, factor, Part::lower, batch.of(output<T>(c, 0)));
    });
  });
}

void launch_triangular_solve(const LaunchCall& c) {
  const auto& a = c.instance.attrs->as<TriangularSolveAttrs>();
  const TriangularSolve what{Side::left, a.lower ? Triangle::lower : Triangle::upper, a.mode, a.unit_diagonal};
  for_element(element(c), [&]<class T>() {
    each_matrix(c, [&](const Batch& batch) {
      if (!a.unit_diagonal) refuse_diagonal(c, batch, order(c), batch.of(input<T>(c, 0)), "diagonal entry");
      triangular_solve<T>(what, order(c), columns(c, 1), batch.of(input<T>(c, 0)), batch.of(input<T>(c, 1)),
                          batch.of(output<T>(c, 0)));
      const Part part = a.unit_diagonal ? (a.lower ? Part::strictly_lower : Part::strictly_upper)
                                        : (a.lower ? Part::lower : Part::upper);
      explain<T>(c, batch, order(c), batch.of(input<T>(c, 0)), part, batch.of(output<T>(c, 0)));
    });
  });
}

Values expand_solve(Builder&, const Instance& i, ValuesIn in) {
  return {lu_solve(lu(in[0]), in[1], i.attrs->as<TransposeAttrs>().mode)};
}
Values expand_solve_by_lu(Builder&, const Instance& i, ValuesIn in) {
  return {lu_solve({in[0], in[1]}, in[3], i.attrs->as<TransposeAttrs>().mode)};
}
Values expand_solve_positive_definite(Builder&, const Instance&, ValuesIn in) {
  return {cholesky_solve(cholesky(in[0]), in[1])};
}
Values expand_solve_by_cholesky(Builder&, const Instance&, ValuesIn in) { return {cholesky_solve(in[0], in[2])}; }

}  // namespace rlx::linalg
