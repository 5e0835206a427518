// Solver with several right sides at once: column-major, each as it is alone.
#include <rlx/linalg/linalg.hpp>

#include "linalg/solver_programs.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <span>

#include "solver_cases.hpp"

namespace rlx::linalg::testing {
namespace {

TEST(Solver, SolvesManyRightSidesAtOnce) {
  const auto a = grid(9);
  const std::size_t n = 81, columns = 2 * SolverPrograms::most_columns + 5;
  std::vector<double> b = wave(static_cast<std::int64_t>(n * columns));
  for (const SolverOptions& o :
       {SolverOptions{.method = SolveMethod::lu, .library = LuLibrary::umfpack},
        SolverOptions{.method = SolveMethod::lu, .library = LuLibrary::klu},
        SolverOptions{.method = SolveMethod::cholesky}, SolverOptions{.method = SolveMethod::cg}}) {
    const Solver solver(a.view(), o);
    std::vector<double> x(b.size()), same = b, alone(n);
    const SolveInfo info = solver.solve(b, x, static_cast<std::int64_t>(columns));
    EXPECT_LE(info.backward_error, o.method == SolveMethod::cg ? 1e-12 : 1e-15);
    EXPECT_TRUE(info.warnings.empty());
    solver.solve(same, same, static_cast<std::int64_t>(columns));
    EXPECT_EQ(same, x);
    SolveInfo worst;
    for (std::size_t c = 0; c < columns; ++c) {
      const SolveInfo one = solver.solve(std::span(b).subspan(c * n, n), alone);
      const auto from = x.begin() + static_cast<std::ptrdiff_t>(c * n);
      // Both are right nearly to the last digit; the condition is 40.
      EXPECT_LE(relative_difference(std::vector(from, from + 81), alone), 40 * 2 * unit_roundoff)
          << name(o.method) << " " << c;
      worst.backward_error = std::max(worst.backward_error, one.backward_error);
      worst.relative_residual = std::max(worst.relative_residual, one.relative_residual);
      worst.iterations = std::max(worst.iterations, one.iterations);
    }
    // Neither measure is more than rounding, so that those of the same solutions by another order of sums may differ.
    EXPECT_NEAR(info.backward_error, worst.backward_error, 3e-16);
    EXPECT_EQ(info.iterations, worst.iterations);
    EXPECT_EQ(solver.solve({}, std::span<double>(), 0).backward_error, 0);
  }
  const Solver reference(a.view(), {.device = "reference"});
  std::vector<double> x(3 * n), y(3 * n);
  reference.solve(std::span(b).first(3 * n), x, 3);
  Solver(a.view()).solve(std::span(b).first(3 * n), y, 3);
  EXPECT_LE(relative_difference(x, y), 40 * 2 * unit_roundoff);
}

TEST(Solver, RefusesTheOneOfManyThatIsWrong) {
  const auto a = grid(6);
  const Solver solver(a.view()), few(a.view(), {.method = SolveMethod::cg, .max_iterations = 3});
  auto b = wave(36 * 4);
  std::vector<double> x(b.size());
  expect_throw<ArgumentError>([&] { solver.solve(b, x); }, "b has 144 elements and x 144, the matrix 36 rows");
  expect_throw<ArgumentError>([&] { solver.solve(b, x, 3); }, "36 rows for 3 right sides");
  expect_throw<ArgumentError>([&] { solver.solve(b, std::span(x).first(36), 4); }, "and x 36");
  expect_throw<ArgumentError>([&] { solver.solve(b, x, -4); }, "-4 right sides");
  // No iteration is needed for the first.
  std::fill(b.begin(), b.begin() + 36, 0.0);
  x[0] = 1;
  expect_throw<NumericalError>([&] { few.solve(b, x, 4); }, "right side 1 (from 0) did not converge");
  EXPECT_EQ(x[0], 0);
  EXPECT_NE(x[36], 0);
  b[80] = INFINITY;
  expect_throw<ArgumentError>([&] { solver.solve(b, x, 4); }, "not finite at 80");
  // The product of entries near the largest number overflows.
  const auto tiny = from_dense<double>(2, 2, {1e-300, 0, 1e-300, 1e-300});
  std::vector<double> large{1, 1, 1e300, 1};
  expect_throw<NumericalError>([&] { Solver(tiny.view(), {.method = SolveMethod::lu}).solve(large, large, 2); },
                               "right side 1 (from 0): the solution is not finite");
}

}  // namespace
}  // namespace rlx::linalg::testing
