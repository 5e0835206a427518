// Sparse LU and Cholesky against every matrix of shared/: backward and forward errors, refusals, and the contract of
// the API.
#include "linalg/kernels/cpu/sparse_factor.hpp"

#include <cfenv>
#include <cstdio>
#include <rlx/ir/error.hpp>
#include <rlx/linalg/solver.hpp>
#include <set>
#include <thread>

#include "equilibrated_difference.hpp"
#include "linalg/kernels/cpu/refine.hpp"
#include "linalg/kernels/cpu/suitesparse_loader.hpp"
#include "linalg/matrix_traits.hpp"

namespace rlx::linalg::testing {
namespace {

using c128 = std::complex<double>;

template <class T>
void check_solutions(const std::string& name, const OwnedCsr<T>& a, const SparseFactor<T>& factor) {
  const formats::SafeTensors stored = load_solutions(name);
  for (const std::string right : {"ones", "random"}) {
    const auto b = numbers<T>(stored.tensors.at(right + ".b")), expected = numbers<T>(stored.tensors.at(right + ".x"));
    std::vector<T> x(b.size());
    factor.solve(Transpose::none, b, std::span<T>(x));
    const double before =
        measure(a.view(), Transpose::none, std::span<const T>(b), std::span<const T>(x)).backward_error;
    const Refinement state = solve_refined(factor, a.view(), Transpose::none, std::span<const T>(b), std::span<T>(x));
    const double forward = equilibrated_difference(a, factor.method() == "cholesky", x, expected);
    const double bound = 10 * static_cast<double>(a.rows) * unit_roundoff / factor.rcond();
    std::vector<T> best(b.size());
    const Refinement further =
        solve_refined(factor, a.view(), Transpose::none, std::span<const T>(b), std::span<T>(best), {.forward = true});
    // name | right side | method | rcond | backward error: unrefined, refined, componentwise | steps | forward error |
    // its bound | the same of forward mode
    std::printf("| %s | %s | %s/%s | %.1e | %.1e | %.1e | %.1e | %d | %.1e | %.1e | %.1e, %d |%s\n", name.c_str(),
                right.c_str(), std::string(factor.method()).c_str(), std::string(factor.provider()).c_str(),
                factor.rcond(), before, state.backward_error, state.componentwise_error, state.iterations, forward,
                bound, relative_difference(best, expected), further.iterations, bound > 0.1 ? " backward only" : "");
    EXPECT_LE(factor.rcond_at_least(), factor.rcond()) << name;
    EXPECT_LE(state.backward_error, 1e-14) << name << " " << right << " by " << factor.provider();
    EXPECT_LE(further.backward_error, 1e-14) << name << " " << right << " by " << factor.provider();
    if (bound <= 0.1) { EXPECT_LE(forward, bound) << name << " " << right << " by " << factor.provider(); }
  }
}

/// Null where the matrix does not look positive definite or proves not to be.
template <class T>
std::unique_ptr<SparseFactor<T>> cholesky_of(const OwnedCsr<T>& a) {
  if (choose_method(matrix_traits("test", a.view())).method == SolveMethod::lu) return nullptr;
  try {
    return sparse_cholesky(a.view());
  } catch (const NumericalError&) { return nullptr; }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

class RegularMatrix : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RegularMatrix);
INSTANTIATE_TEST_SUITE_P(Shared, RegularMatrix,
                         ::testing::ValuesIn(names_in("reference/linalg/sparse", ".safetensors")), test_name);

TEST_P(RegularMatrix, IsSolved) {
  const std::string& name = GetParam();
  std::visit(
      [&]<class T>(const OwnedCsr<T>& a) {
        std::string chosen;
        for (const LuLibrary provider : {LuLibrary::automatic, LuLibrary::umfpack, LuLibrary::klu}) {
          if (chosen == (provider == LuLibrary::klu ? "klu" : "umfpack")) continue;
          if (provider == LuLibrary::klu && a.rows > 10000) continue;  // cage10: half a minute without dense kernels
          try {
            const auto factor = sparse_lu(a.view(), {.lu = provider});
            if (provider == LuLibrary::automatic) {
              std::printf("%s: %s\n", name.c_str(), std::string(factor->reason()).c_str());
              chosen = factor->provider();
            }
            check_solutions(name, a, *factor);
          } catch (const NumericalError& error) {
            EXPECT_EQ(name, "hilbert_12") << error.what();  // condition 1.7e16: either answer is right
          }
        }
        if (const auto factor = cholesky_of(a)) check_solutions(name, a, *factor);
      },
      load_matrix(name));
}

TEST_P(RegularMatrix, IsSolvedTransposed) {
  std::visit(
      [&]<class T>(const OwnedCsr<T>& a) {
        std::vector<T> b(a.rows), x(a.rows);
        for (std::int64_t i = 0; i < a.rows; ++i) b[i] = T(std::sin(1.0 + static_cast<double>(i)));
        for (const Transpose mode : {Transpose::transpose, Transpose::conjugate_transpose})
          for (const bool automatic : {true, false}) try {
              if (!automatic && a.rows > 10000) continue;
              auto factor = automatic ? cholesky_of(a) : sparse_lu(a.view(), {.lu = LuLibrary::klu});
              if (!factor) factor = sparse_lu(a.view());
              const Refinement state = solve_refined(*factor, a.view(), mode, std::span<const T>(b), std::span<T>(x));
              EXPECT_LE(state.backward_error, 1e-14) << factor->provider();
            } catch (const NumericalError& error) { EXPECT_EQ(GetParam(), "hilbert_12") << error.what(); }
      },
      load_matrix(GetParam()));
}

class SingularMatrix : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Shared, SingularMatrix,
                         ::testing::Values("q2q1_9x9", "neumann_20", "USAir97", "m_05_05_crk", "tiny_structural",
                                           "tiny_empty_row", "tiny_1x1_zero"),
                         test_name);

TEST_P(SingularMatrix, IsRefused) {
  if (!fs::exists(places::shared() / "data/matrices")) GTEST_SKIP() << "no folder " << places::shared();
  static const std::set<std::string> numerically = {"q2q1_9x9", "neumann_20"};
  std::visit(
      [&]<class T>(const OwnedCsr<T>& a) {
        for (const LuLibrary provider : {LuLibrary::automatic, LuLibrary::umfpack, LuLibrary::klu}) {
          try {
            const auto factor = sparse_lu(a.view(), {.lu = provider});
            ADD_FAILURE() << GetParam() << " was factored by " << factor->provider() << ", rcond " << factor->rcond();
          } catch (const NumericalError& error) {
            std::printf("%s: %s [info %ld]\n", GetParam().c_str(), error.what(), static_cast<long>(error.info()));
            const bool structural = std::string(error.what()).find("structurally singular") != std::string::npos;
            EXPECT_NE(structural, numerically.contains(GetParam())) << error.what();
            if (structural) { EXPECT_GE(error.info(), 1); }
          }
        }
        EXPECT_THROW(Solver(a.view()), NumericalError);
      },
      load_matrix(GetParam()));
}

TEST(SparseLu, NamesTheEmptyRow) {
  const auto a = from_dense<double>(3, 3, {1, 2, 3, 0, 0, 0, 4, 5, 6});
  try {
    sparse_lu(a.view());
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_EQ(error.op(), "linalg.sparse_lu");
    EXPECT_EQ(error.info(), 2);
    EXPECT_NE(std::string(error.what()).find("structural rank 2 of 3; row 2 has no entry"), std::string::npos)
        << error.what();
  }
}

TEST(SparseLu, NamesTheZeroPivot) {
  for (const LuLibrary provider : {LuLibrary::umfpack, LuLibrary::klu}) {
    const auto a = from_dense<double>(3, 3, {1, 1, 0, 1, 1, 0, 0, 0, 1});
    try {
      sparse_lu(a.view(), {.lu = provider});
      FAIL();
    } catch (const NumericalError& error) {
      EXPECT_GE(error.info(), 1) << error.what();
      EXPECT_LE(error.info(), 2) << error.what();
    }
  }
}

TEST(SparseLu, ChoosesTheFasterLibrary) {
  if (names_in("data/matrices", ".mtx").empty()) GTEST_SKIP() << "no folder " << places::shared();
  for (const auto& [name, provider] : {std::pair{"circuit_2000", "klu"},
                                       {"oscil_dcop_15", "klu"},
                                       {"big", "klu"},
                                       {"gemat12", "klu"},
                                       {"bfw782a", "klu"},
                                       {"sherman5", "klu"},
                                       {"poisson3d_12_stretch", "umfpack"},
                                       {"wathen_small", "umfpack"},
                                       {"cage10", "umfpack"}}) {
    const auto a = std::get<OwnedCsr<double>>(load_matrix(name));
    const auto factor = sparse_lu(a.view());
    EXPECT_EQ(factor->provider(), provider) << name << ": " << factor->reason();
  }
}

TEST(SparseCholesky, RefusesWithTheIndex) {
  // Leading minors 4, 12 - 1, then negative: order 3 is the first.
  const auto a = from_dense<double>(4, 4, {4, 1, 0, 0, 1, 3, 2, 0, 0, 2, 1, 0, 0, 0, 0, 5});
  try {
    sparse_cholesky(a.view());
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_EQ(error.op(), "linalg.sparse_cholesky");
    EXPECT_EQ(error.info(), 3) << error.what();
  }
  if (names_in("data/matrices", ".mtx").empty()) GTEST_SKIP() << "no folder " << places::shared();
  for (const std::string name :
       {"calore1", "hofstadter_20", "commanche_dual", "sherman1", "stokes_16", "q2q1_9x9", "tiny_1x1"})
    std::visit(
        [&]<class T>(const OwnedCsr<T>& m) {
          try {
            sparse_cholesky(m.view());
            ADD_FAILURE() << name;
          } catch (const NumericalError& error) {
            std::printf("%s: %s [info %ld]\n", name.c_str(), error.what(), static_cast<long>(error.info()));
            EXPECT_GE(error.info(), 1);
          }
        },
        load_matrix(name));
}

TEST(SparseCholesky, ReadsTheLowerTriangleOnly) {
  const auto full = from_dense<c128>(2, 2, {4, {1, 1}, {1, -1}, 3}), lower = from_dense<c128>(2, 2, {4, 0, {1, -1}, 3});
  const std::vector<c128> b = {{1, 2}, {3, -1}};
  std::vector<c128> x(2), y(2);
  for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
    sparse_cholesky(lower.view())->solve(mode, b, std::span(x));
    sparse_lu(full.view())->solve(mode, b, std::span(y));
    EXPECT_LE(relative_difference(x, y), 1e-15);
  }
}

TEST(SparseFactor, SolvesFromTwoThreads) {
  for (const LuLibrary provider : {LuLibrary::umfpack, LuLibrary::klu, LuLibrary::automatic}) {
    const std::int64_t n = 400;
    std::vector<double> dense(n * n);
    for (std::int64_t i = 0; i < n; ++i) {
      dense[i * n + i] = 4;
      if (i) dense[i * n + i - 1] = dense[(i - 1) * n + i] = -1;
      if (i >= 20) dense[i * n + i - 20] = dense[(i - 20) * n + i] = -1;
    }
    const auto a = from_dense(n, n, dense);
    const auto factor =
        provider == LuLibrary::automatic ? sparse_cholesky(a.view()) : sparse_lu(a.view(), {.lu = provider});
    const auto work = [&](double scale, int& wrong) {
      std::vector<double> b(n), x(n), again(n);
      for (std::int64_t i = 0; i < n; ++i) b[i] = scale * static_cast<double>(i % 7 - 3);
      factor->solve(Transpose::none, b, std::span(x));
      for (int round = 0; round < 200; ++round) {
        factor->solve(Transpose::none, b, std::span(again));
        wrong += again != x;
      }
    };
    int wrong[2] = {0, 0};
    std::thread other([&] { work(1.0, wrong[0]); });
    work(-3.0, wrong[1]);
    other.join();
    EXPECT_EQ(wrong[0] + wrong[1], 0) << factor->provider();
  }
}

TEST(SparseFactor, TakesManyRightSidesWideIndicesAndSharedMemory) {
  const std::vector<std::int64_t> offsets = {0, 3, 5}, columns = {1, 0, 1, 0, 1};  // unsorted, one duplicate
  const std::vector<double> values = {1, 4, 1, 1, 3};
  const CsrView<double, std::int64_t> a{2, 2, offsets, columns, values};  // [4 2; 1 3]
  const auto factor = sparse_lu(a);
  std::vector<double> x = {6, 4, 8, 7};
  factor->solve(Transpose::none, x, std::span(x), 2);
  EXPECT_LE(relative_difference(x, {1, 1, 1, 2}), 1e-15);
  EXPECT_THROW(factor->solve(Transpose::none, x, std::span(x), 1), ArgumentError);
}

TEST(SparseFactor, WideIndicesGiveTheSameFactors) {
  if (names_in("data/matrices", ".mtx").empty()) GTEST_SKIP() << "no folder " << places::shared();
  for (const std::string name : {"west0067", "young1c", "poisson3d_12_stretch"})
    std::visit(
        [&]<class T>(const OwnedCsr<T>& a) {
          for (const LuLibrary library : {LuLibrary::umfpack, LuLibrary::klu}) {
            const auto narrow = sparse_lu(a.view(), {.lu = library}),
                       wide = sparse_lu(a.view(), {.lu = library, .wide_indices = true}),
                       again = sparse_lu(a.view(), {.lu = library}, wide.get());
            EXPECT_NE(again->reason().find("the analysis of a matrix of this pattern"), std::string::npos);
            std::vector<T> b(a.rows, T(1)), x(b.size()), y(b.size());
            for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
              narrow->solve(mode, b, std::span(x));
              for (const auto* other : {wide.get(), again.get()}) {
                other->solve(mode, b, std::span(y));
                // The same operations, but for the order of sums in BLAS.
                EXPECT_LE(relative_difference(y, x), 100 * unit_roundoff / narrow->rcond()) << name;
              }
            }
          }
        },
        load_matrix(name));
}

TEST(SparseFactor, KnowsWithAFewSolvesThatAMatrixIsRegular) {
  // Condition 2 and 4: bounded at once, far from any limit. Two equal rows but for 1e-12: not.
  const auto good = from_dense<double>(3, 3, {2, 1, 0, 1, 2, 0, 0, 0, 1}),
             poor = from_dense<double>(2, 2, {1, 1, 1, 1 + 1e-12});
  EXPECT_GT(sparse_lu(good.view())->rcond_at_least(), 1e-6);
  EXPECT_GT(sparse_cholesky(good.view())->rcond_at_least(), 1e-6);
  EXPECT_LT(sparse_lu(poor.view())->rcond_at_least(), 1e-10);
  // Condition 6e6 of 4929 rows: one solve leaves it open, four do not.
  if (names_in("data/matrices", ".mtx").empty()) GTEST_SKIP() << "no folder " << places::shared();
  EXPECT_GE(sparse_lu(std::get<OwnedCsr<double>>(load_matrix("gemat12")).view())->rcond_at_least(), 1e-10);
}

TEST(SparseFactor, HoldsWithExtremeScales) {
  // Powers of ten from 1e-300 to 1e300: condition 1e600 as given, 1 after equilibration.
  const auto a = from_dense<double>(3, 3, {1e300, 0, 1e150, 0, 1e-300, 0, 0, 1e-300, 1e-10});
  const std::vector<double> b = {1e300, 2e-300, 1e-10};
  std::vector<double> x(3);
  const auto factor = sparse_lu(a.view());
  EXPECT_GT(factor->rcond(), 1e-3);
  factor->solve(Transpose::none, b, std::span(x));
  EXPECT_NEAR(x[1], 2, 1e-15);
  EXPECT_NEAR(x[2], 1, 1e-15);
}

TEST(SparseFactor, OfNothingIsNothing) {
  const OwnedCsr<double> a;
  std::vector<double> none;
  sparse_lu(a.view())->solve(Transpose::none, none, std::span(none));
  EXPECT_EQ(sparse_cholesky(a.view())->order(), 0);
}

TEST(SparseFactor, RefusesWhatIsNoMatrix) {
  auto a = from_dense<double>(2, 2, {1, 2, 3, 4});
  a.columns[1] = 2;
  EXPECT_THROW(sparse_lu(a.view()), ArgumentError);
  a = from_dense<double>(2, 2, {1, 2, 3, 4});
  a.offsets[1] = 5;
  EXPECT_THROW(sparse_lu(a.view()), ArgumentError);
  EXPECT_THROW(sparse_lu(from_dense<double>(1, 2, {1, 2}).view()), ArgumentError);
  a = from_dense<double>(2, 2, {1, NAN, 3, 4});
  try {
    sparse_lu(a.view());
    FAIL();
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("row 1, column 2"), std::string::npos) << error.what();
  }
}

TEST(SparseFactor, LeavesTheFloatingPointFlags) {
  const auto a = from_dense<double>(3, 3, {1, 1, 0, 1, 1, 0, 0, 0, 1});
  const auto good = from_dense<double>(2, 2, {3, 1, 1, 7});
  std::feclearexcept(FE_ALL_EXCEPT);
  EXPECT_THROW(sparse_lu(a.view()), NumericalError);
  std::vector<double> x = {1, 1};
  sparse_lu(good.view())->solve(Transpose::none, x, std::span(x));
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW), 0);
}

TEST(SuitesparsePlugin, TellsWhereItLooked) {
  const std::vector<std::string> nowhere = {"/nonexistent/librlx_suitesparse.so"};
  const SuitesparseStatus absent = load_suitesparse(nowhere);
  EXPECT_EQ(absent.table, nullptr);
  EXPECT_NE(absent.text().find(nowhere[0]), std::string::npos) << absent.text();
  const SuitesparseStatus& present = suitesparse_status();
  ASSERT_NE(present.table, nullptr) << present.text();
  std::printf("%s\n", present.text().c_str());
}

}  // namespace
}  // namespace rlx::linalg::testing
