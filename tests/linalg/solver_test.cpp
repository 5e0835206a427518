// Solver: the choice of method and its reason, updates, and many threads at once.
#include <rlx/linalg/linalg.hpp>

#include "linalg/solver_programs.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/runtime/backends.hpp>

#include <cmath>
#include <thread>
#include <type_traits>

#include "solver_cases.hpp"

namespace rlx::linalg::testing {
namespace {

using c128 = std::complex<double>;

// Told by the compiler, not by the linker.
static_assert(std::is_constructible_v<Solver, const CsrView<double, std::int32_t>&> &&
              !std::is_constructible_v<Solver, const CsrView<float, std::int32_t>&> &&
              !std::is_constructible_v<Solver, const CsrView<double, std::int16_t>&>);

TEST(Solver, ChoosesExplainsAndMeasures) {
  const auto a = grid(20);
  Solver solver(a.view());
  EXPECT_EQ(solver.method(), SolveMethod::cholesky);
  EXPECT_EQ(solver.reason().rfind("cholesky", 0), 0u) << solver.reason();
  EXPECT_EQ(solver.provider(), "cholmod");
  EXPECT_GT(solver.rcond(), 1e-4);
  const auto b = wave(solver.rows());
  std::vector<double> x(b.size());
  const SolveInfo info = solver.solve(b, x);
  EXPECT_LE(info.backward_error, 1e-15);
  EXPECT_LE(info.relative_residual, 1e-13);
  EXPECT_TRUE(info.warnings.empty());
  EXPECT_EQ(info.method, "cholesky");
  const DispatchReport report = solver.report();
  EXPECT_EQ(report.unresolved(), 0u);
  EXPECT_GE(report.rows.size(), 3u);
}

TEST(Solver, MethodsAgree) {
  const auto a = grid(12);
  const auto b = wave(a.rows);
  std::vector<std::vector<double>> solutions;
  for (const SolveMethod m : {SolveMethod::lu, SolveMethod::cholesky, SolveMethod::cg}) {
    const Solver solver(a.view(), {.method = m});
    std::vector<double> x = b;  // b and x may be the same memory
    const SolveInfo info = solver.solve(x, x);
    EXPECT_EQ(info.iterations > 0, m == SolveMethod::cg);
    EXPECT_EQ(std::isnan(solver.rcond()), m == SolveMethod::cg);
    solutions.push_back(x);
  }
  EXPECT_LE(relative_difference(solutions[1], solutions[0]), 1e-13);
  EXPECT_LE(relative_difference(solutions[2], solutions[0]), 1e-9);
}

TEST(Solver, UpdatesWithNewValuesAndNewPatterns) {
  auto a = grid(10);
  Solver solver(a.view());
  const auto b = wave(a.rows);
  std::vector<double> x(b.size()), y(b.size());
  solver.solve(b, x);
  // The solver has a copy: values changed without update change nothing.
  for (double& v : a.values) v *= 2;
  solver.solve(b, y);
  EXPECT_EQ(x, y);
  solver.update(a.view());
  solver.solve(b, y);
  for (double& v : y) v *= 2;
  EXPECT_LE(relative_difference(y, x), 1e-14);
  const auto dense = from_dense<double>(2, 2, {1, 2, 3, 4});
  expect_throw<ArgumentError>([&] { solver.update(dense.view()); }, "new matrix");
  auto fewer = from_dense<double>(a.rows, a.rows, [&] {
    std::vector<double> d(static_cast<std::size_t>(a.rows * a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i) d[static_cast<std::size_t>(i * a.rows + i)] = 2;
    return d;
  }());
  solver.update(fewer.view());
  EXPECT_EQ(solver.entries(), a.rows);
  solver.solve(b, y);
  EXPECT_DOUBLE_EQ(y[3], b[3] / 2);
}

TEST(Solver, FallsToLuOnlyWhenItChoseItself) {
  const auto indefinite = grid(10, -3.9);  // symmetric, its diagonal positive, its smallest eigenvalues not
  Solver solver(indefinite.view());
  EXPECT_EQ(solver.method(), SolveMethod::lu);
  EXPECT_NE(solver.reason().find("cholesky was tried"), std::string::npos) << solver.reason();
  EXPECT_NE(solver.reason().find("not positive definite"), std::string::npos) << solver.reason();
  const auto b = wave(indefinite.rows);
  std::vector<double> x(b.size());
  EXPECT_LE(solver.solve(b, x).backward_error, 1e-14);
  solver.update(indefinite.view());
  EXPECT_EQ(solver.method(), SolveMethod::lu);
  expect_throw<NumericalError>([&] { Solver(indefinite.view(), {.method = SolveMethod::cholesky}); },
                               "not positive definite");
  const auto unsymmetric = from_dense<double>(2, 2, {2, 1, 0, 2});
  expect_throw<NumericalError>([&] { Solver(unsymmetric.view(), {.method = SolveMethod::cholesky}); }, "not symmetric");
  expect_throw<NumericalError>([&] { Solver(unsymmetric.view(), {.method = SolveMethod::cg}); }, "not symmetric");
}

// A device that compiles what cg is made of, and has no library.
TEST(Solver, ChoosesCgWhereTheDeviceHasNoCholesky) {
  const SolverOptions null{.device = "null"};
  const Solver solver(grid(20).view(), null);
  EXPECT_EQ(solver.method(), SolveMethod::cg);
  EXPECT_EQ(solver.reason(),
            "cg: symmetric with a positive diagonal, but without a sparse Cholesky here (no record of null for "
            "linalg.sparse_cholesky_solve)");
  std::vector<double> x(400), ones(400, 1);
  expect_throw<ArgumentError>([&] { solver.solve(ones, x); }, "the device null runs nothing");
  // Of a method that was asked for, and of a matrix that cg is not for, the refusal is the error.
  expect_throw<CompileError>([&] { Solver(grid(20).view(), {.method = SolveMethod::cholesky, .device = "null"}); },
                             "no record of null");
  auto convection = grid(20);
  convection.values[1] = -2;
  expect_throw<CompileError>([&] { Solver(convection.view(), null); }, "linalg.sparse_lu_solve");
}

TEST(Solver, UpdateKeepsTheAnalysisOfThePattern) {
  for (const LuLibrary library : {LuLibrary::umfpack, LuLibrary::klu}) {
    auto a = grid(15);
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] *= 1 + 0.1 * std::sin(static_cast<double>(k));
    Solver solver(a.view(), {.method = SolveMethod::lu, .library = library});
    const auto b = wave(a.rows);
    std::vector<double> x(b.size()), expected(b.size());
    constexpr std::string_view reused = "the analysis of a matrix of this pattern";
    EXPECT_EQ(solver.reason().find(reused), std::string::npos) << solver.reason();
    // The first update has no free storage, later ones have; the last ones do not suit pivots on the diagonal.
    for (const double diagonal : {2.0, 3.0, 4.0, 1e-3, 1e-6}) {
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int32_t k = a.offsets[static_cast<std::size_t>(i)]; k < a.offsets[static_cast<std::size_t>(i + 1)];
             ++k)
          if (a.columns[static_cast<std::size_t>(k)] == i)
            a.values[static_cast<std::size_t>(k)] = diagonal * (1 + 0.1 * std::cos(static_cast<double>(i)));
      solver.update(a.view());
      EXPECT_NE(solver.reason().find(reused), std::string::npos) << solver.reason();
      EXPECT_LE(solver.solve(b, x).backward_error, 1e-15)
          << enum_names(library)[static_cast<std::size_t>(library)] << " " << diagonal;
      Solver(a.view(), {.method = SolveMethod::lu, .library = library}).solve(b, expected);
      EXPECT_LE(relative_difference(x, expected), 1e-14 / solver.rcond())
          << enum_names(library)[static_cast<std::size_t>(library)] << " " << diagonal;
    }
    // An entry that is zero leaves the pattern.
    a.values[1] = 0;
    solver.update(a.view());
    EXPECT_EQ(solver.reason().find(reused), std::string::npos) << solver.reason();
    EXPECT_LE(solver.solve(b, x).backward_error, 1e-15);
  }
  auto a = grid(15);
  Solver solver(a.view());
  ASSERT_EQ(solver.method(), SolveMethod::cholesky);
  const auto b = wave(a.rows);
  std::vector<double> x(b.size()), first(b.size());
  solver.solve(b, first);
  for (const double scale : {4.0, 16.0, 0.25, 1.0}) {
    auto scaled = a;
    for (double& v : scaled.values) v *= scale;
    solver.update(scaled.view());
    solver.solve(b, x);
    for (double& v : x) v *= scale;
    EXPECT_EQ(x, first);  // scaled by the square of a power of two, so equilibration makes them one matrix
  }
}

TEST(Solver, ComplexMatricesAndUnsortedEntries) {
  // Entries out of order and one given twice: 2+1i = (1) + (1+1i).
  const std::vector<std::int64_t> offsets{0, 3, 5}, columns{1, 0, 0, 1, 0};
  const std::vector<c128> values{{0, 1}, {1, 0}, {1, 1}, {3, 0}, {1, 0}};
  const CsrView a{2, 2, offsets, columns, values};
  static_assert(std::is_same_v<decltype(a), const CsrView<c128, std::int64_t>>);
  const Solver solver(a);
  EXPECT_EQ(solver.entries(), 4);
  EXPECT_EQ(solver.dtype(), DType::c128);
  std::vector<c128> x(2);
  const std::vector<c128> b{c128(2, 1) + c128(0, 1), c128(4, 0)};  // A (1, 1)
  EXPECT_LE(solver.solve(b, x).backward_error, 1e-15);
  EXPECT_LE(std::abs(x[0] - 1.0) + std::abs(x[1] - 1.0), 1e-14);
}

TEST(Solver, SameBitsWhateverTheThreadsOfBlasIsKluAlone) {
  const auto a = grid(40);
  const CompileOptions same_bits{.reproducible = true};
  EXPECT_EQ(Solver(a.view(), {.method = SolveMethod::lu, .compile = same_bits}).provider(), "klu");
  for (const SolverOptions& o : {SolverOptions{.method = SolveMethod::cholesky, .compile = same_bits},
                                 {.method = SolveMethod::lu, .library = LuLibrary::umfpack, .compile = same_bits}})
    EXPECT_THROW(
        {
          try {
            Solver(a.view(), o);
          } catch (const CompileError& e) {
            EXPECT_NE(std::string(e.what()).find("not deterministic"), std::string::npos) << e.what();
            throw;
          }
        },
        CompileError);
  const Solver chosen(a.view(), {.compile = same_bits});  // A matrix for which it would be cholesky.
  EXPECT_EQ(chosen.method(), SolveMethod::lu);
  EXPECT_NE(chosen.reason().find("without a sparse Cholesky here"), std::string::npos) << chosen.reason();
}

TEST(Solver, ProgramsServeEverySolverOfTheirSignature) {
  const auto a = grid(7), b = grid(7, 1), other = grid(8);
  const auto device = runtime::open_device("cpu");
  const auto of = [&](const OwnedCsr<double>& m, SolveMethod method, const SolverOptions& o) {
    return SolverPrograms::of(method, to_host(m.view()).type, o, device);
  };
  const auto programs = of(a, SolveMethod::lu, {});
  EXPECT_EQ(of(b, SolveMethod::lu, {}), programs);
  EXPECT_NE(of(other, SolveMethod::lu, {}), programs);
  EXPECT_NE(of(a, SolveMethod::cholesky, {}), programs);
  EXPECT_NE(of(a, SolveMethod::lu, {.library = LuLibrary::klu}), programs);
  EXPECT_NE(of(a, SolveMethod::lu, {.refine = 1}), programs);
  EXPECT_NE(of(a, SolveMethod::lu, {.compile = {.checked = true}}), programs);
  EXPECT_NE(of(a, SolveMethod::lu, {.compile = {.per_operator = {{"linalg.rcond", Preference::native}}}}), programs);
}

TEST(Solver, ManyThreadsSolveAtOnce) {
  const auto a = grid(25);
  const Solver solver(a.view());
  std::vector<std::thread> threads;
  std::vector<double> worst(4);
  for (std::size_t t = 0; t < worst.size(); ++t)
    threads.emplace_back([&, t] {
      std::vector<double> b(static_cast<std::size_t>(a.rows), static_cast<double>(t + 1)), x(b.size());
      for (int i = 0; i < 5; ++i) worst[t] = std::max(worst[t], solver.solve(b, x).backward_error);
    });
  for (auto& t : threads) t.join();
  for (double w : worst) EXPECT_LE(w, 1e-15);
}

TEST(Solver, ReferenceDeviceSolvesSmallSystems) {
  const auto a = grid(5);
  const Solver solver(a.view(), {.device = "reference"});
  const auto b = wave(a.rows);
  std::vector<double> x(b.size());
  EXPECT_LE(solver.solve(b, x).backward_error, 1e-14);
  EXPECT_EQ(solver.provider(), "host_reference");
}

}  // namespace
}  // namespace rlx::linalg::testing
