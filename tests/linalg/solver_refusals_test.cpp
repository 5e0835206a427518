// Solver: what it refuses and warns of, refusals that leave it whole, and how far cg came.
#include <rlx/linalg/linalg.hpp>

#include <rlx/ir/error.hpp>

#include <cmath>
#include <cstdlib>

#include "solver_cases.hpp"

namespace rlx::linalg::testing {
namespace {

TEST(Solver, RefusesAndSurvives) {
  const auto good = grid(6);
  Solver solver(good.view());
  auto singular = good;
  std::fill(singular.values.begin(), singular.values.end(), 0.0);
  expect_throw<NumericalError>([&] { solver.update(singular.view()); }, "singular");
  const auto b = wave(good.rows);
  std::vector<double> x(b.size()), shorter(b.size() - 1);
  EXPECT_LE(solver.solve(b, x).backward_error, 1e-15);  // with the matrix from before
  expect_throw<ArgumentError>([&] { solver.solve(b, shorter); }, "35");
  expect_throw<ArgumentError>(
      [&] { solver.solve(std::vector<std::complex<double>>(36), std::span<std::complex<double>>()); }, "c128");
  auto infinite = b;
  infinite[5] = INFINITY;
  expect_throw<ArgumentError>([&] { solver.solve(infinite, x); }, "not finite at 5");
  const auto wide = from_dense<double>(2, 3, {1, 0, 0, 0, 1, 0});
  expect_throw<ArgumentError>([&] { Solver{wide.view()}; }, "square");
  const OwnedCsr<double> empty{};
  expect_throw<ArgumentError>([&] { Solver{empty.view()}; }, "empty");
  expect_throw<ArgumentError>([&] { Solver(good.view(), {.device = "nonesuch"}); }, "nonesuch");
  expect_throw<ArgumentError>([&] { Solver(good.view(), {.compile = {.donated = {0}}}); }, "compile.donated");
}

TEST(Solver, OptionsThatMakeNoSenseAreArgumentErrors) {
  const auto a = grid(6);
  using enum SolveMethod;
  for (const SolveMethod m : {automatic, lu, cholesky, cg}) {
    const auto refuses = [&](const SolverOptions& o, std::string_view part) {
      expect_throw<ArgumentError>([&] { Solver(a.view(), o); }, part);
    };
    refuses({.method = m, .refine = -1}, "solver: options.refine is -1");
    refuses({.method = m, .tolerance = std::nan("")}, "solver: options.tolerance is nan");
    refuses({.method = m, .tolerance = INFINITY}, "solver: options.tolerance is inf");
    refuses({.method = m, .tolerance = -1e-3}, "solver: options.tolerance is -0.001");
    refuses({.method = m, .max_iterations = -1}, "solver: options.max_iterations is -1");
  }
  expect_throw<ArgumentError>([&] { Solver(a.view(), {.method = static_cast<SolveMethod>(9)}); }, "method is 9");
  expect_throw<ArgumentError>([&] { Solver(a.view(), {.library = static_cast<LuLibrary>(9)}); }, "library is 9");
  EXPECT_NO_THROW(Solver(a.view(), {.refine = 0, .tolerance = 0}));
}

TEST(Solver, CgReportsHowFarItCame) {
  const auto a = grid(30);
  const Solver solver(a.view(), {.method = SolveMethod::cg, .max_iterations = 4});
  const auto b = wave(a.rows);
  std::vector<double> x(b.size());
  try {
    solver.solve(b, x);
    ADD_FAILURE() << "4 iterations are too few";
  } catch (const NumericalError& e) {
    EXPECT_EQ(e.iterations(), 4);
    EXPECT_GT(e.residual(), 1e-12);
    EXPECT_NE(x[0], 0);  // the iterate is there
  }
}

// diag(1, 3) x = b: two steps at most, the solution is b / {1, 3}, to a few roundings.
TEST(Solver, CgSolvesForRightSidesOfAnySize) {
  const auto a = from_dense<double>(2, 2, {1, 0, 0, 3});
  const Solver solver(a.view(), {.method = SolveMethod::cg});
  for (const double size : {1e-305, 1e-200, 1e-150, 1.0, 1e150, 1e200, 1e307}) {
    std::vector<double> x(2);
    const SolveInfo info = solver.solve(std::vector{size, size}, x);
    const double rounding = 4 * size * 0x1p-53;
    EXPECT_NEAR(x[0], size, rounding) << size;
    EXPECT_NEAR(x[1], size / 3, rounding) << size;
    EXPECT_GT(info.iterations, 0) << size;
  }
}

// The solution, 1e-400, is 0 in f64: a residual as large as b is no convergence.
TEST(Solver, CgRefusesASolutionThatUnderflows) {
  const auto a = from_dense<double>(2, 2, {1e200, 0, 0, 3e200});
  std::vector<double> x(2);
  expect_throw<NumericalError>(
      [&] { Solver(a.view(), {.method = SolveMethod::cg}).solve(std::vector{1e-200, 1e-200}, x); },
      "but 1 is measured, with the backward error 1");
}

TEST(Solver, CgRefusesWhatIsNotPositiveDefinite) {
  const auto message = [](const OwnedCsr<double>& a, const std::vector<double>& b) -> std::string {
    std::vector<double> x(b.size());
    try {
      Solver(a.view(), {.method = SolveMethod::cg}).solve(b, x);
      return "nothing was thrown";
    } catch (const NumericalError& e) { return std::to_string(e.iterations()) + " " + e.what(); }
  };
  const auto says = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  // Eigenvalues 3 and -1. From (1, 0) two steps would reach the solution, the second along (4, -2) with curvature -12.
  const auto saddle = from_dense<double>(2, 2, {1, 2, 2, 1});
  const std::string second = message(saddle, {1, 0});
  says(second, "1 linalg.cg stopped in iteration 2");
  says(second, "is -12");
  says(message(saddle, {1, -1}), "0 linalg.cg stopped in iteration 1");
  // Along (1, 1) nothing betrays the matrix: the eigenvector is the solution.
  says(message(saddle, {1, 1}), "nothing was thrown");
  says(message(from_dense<double>(2, 2, {1, 2, 2, -1}), {1, 0}), "the diagonal of the matrix is not positive");
  const auto indefinite = grid(10, -3.9);
  says(message(indefinite, wave(indefinite.rows)), "not positive definite");
}

TEST(Solver, FindsBeforehandThatFactorsDoNotFit) {
  const auto a = grid(240);  // Beyond what is worth asking the system for.
  const auto limited = [&](const char* limit, const SolverOptions& options) {
    ::setenv("RLX_MEMORY_LIMIT", limit, 1);
    try {
      Solver solver(a.view(), options);
      ::unsetenv("RLX_MEMORY_LIMIT");
      return std::uint64_t{0};
    } catch (const MemoryError& e) {
      ::unsetenv("RLX_MEMORY_LIMIT");
      // The limit less what the process holds.
      EXPECT_LT(e.available_bytes(), std::uint64_t{1} << 20) << e.what();
      EXPECT_NE(std::string_view(e.what()).find("factors"), std::string_view::npos) << e.what();
      return e.wanted_bytes();
    }
  };
  for (const SolverOptions& options : {SolverOptions{.method = SolveMethod::cholesky},
                                       SolverOptions{.method = SolveMethod::lu, .library = LuLibrary::umfpack},
                                       SolverOptions{.method = SolveMethod::lu, .library = LuLibrary::klu}}) {
    // n log2 n entries in each factor at the least (A. George, SIAM J. Numer. Anal. 10, 1973), 8 bytes each.
    EXPECT_GT(limited("1M", options), 57600u * 15 * 8) << name(options.method);
    EXPECT_EQ(limited("1G", options), 0u) << name(options.method);
  }
}

TEST(Solver, WarnsOfIllConditionedMatrices) {
  const auto a = from_dense<double>(2, 2, {1, 1, 1, 1 + 1e-12});
  const Solver solver(a.view(), {.method = SolveMethod::lu});
  ASSERT_EQ(solver.warnings().size(), 1u);
  EXPECT_NE(solver.warnings()[0].find("ill-conditioned"), std::string::npos);
}

}  // namespace
}  // namespace rlx::linalg::testing
