// What is seen in a matrix, and the method chosen for it.
#include "linalg/matrix_traits.hpp"

#include <rlx/ir/error.hpp>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {
namespace {

using c128 = std::complex<double>;

template <class T>
MatrixTraits traits(const OwnedCsr<T>& a) {
  return matrix_traits("test", a.view());
}

TEST(MatrixTraits, OfAnUnsymmetricMatrix) {
  const MatrixTraits m = traits(from_dense<double>(3, 4, {1, 0, 0, 2, 0, 0, 0, 0, 3, 4, 5, 0}));
  EXPECT_EQ(m.rows, 3);
  EXPECT_EQ(m.cols, 4);
  EXPECT_EQ(m.nnz, 5);
  EXPECT_FALSE(m.structurally_symmetric || m.symmetric || m.hermitian || m.skew || m.positive_diagonal);
  EXPECT_EQ(m.upper_bandwidth, 3);
  EXPECT_EQ(m.lower_bandwidth, 2);
  EXPECT_EQ(m.least_row_nnz, 0);
  EXPECT_EQ(m.largest_row_nnz, 3);
  EXPECT_DOUBLE_EQ(m.mean_row_nnz, 5.0 / 3);
  EXPECT_EQ(m.missing_diagonals, 1);
}

TEST(MatrixTraits, OfSymmetricKinds) {
  const MatrixTraits laplace = traits(from_dense<double>(3, 3, {2, -1, 0, -1, 2, -1, 0, -1, 2}));
  EXPECT_TRUE(laplace.symmetric && laplace.hermitian && laplace.positive_diagonal && laplace.diagonally_dominant &&
              laplace.m_matrix_signs);
  EXPECT_EQ(choose_method(laplace).method, SolveMethod::cholesky);
  const MatrixTraits hermitian = traits(from_dense<c128>(2, 2, {2, {0, 1}, {0, -1}, 3}));
  EXPECT_TRUE(hermitian.hermitian && hermitian.structurally_symmetric && hermitian.positive_diagonal);
  EXPECT_FALSE(hermitian.symmetric || hermitian.m_matrix_signs);
  EXPECT_EQ(choose_method(hermitian).method, SolveMethod::cholesky);
  const MatrixTraits complex_symmetric = traits(from_dense<c128>(2, 2, {2, {0, 1}, {0, 1}, 3}));
  EXPECT_TRUE(complex_symmetric.symmetric);
  EXPECT_FALSE(complex_symmetric.hermitian);
  EXPECT_EQ(choose_method(complex_symmetric).method, SolveMethod::lu);
  const MatrixTraits skew = traits(from_dense<double>(2, 2, {0, 3, -3, 0}));
  EXPECT_TRUE(skew.skew && skew.structurally_symmetric);
  EXPECT_FALSE(skew.symmetric || skew.positive_diagonal || skew.diagonally_dominant);
  EXPECT_EQ(choose_method(skew).reason, "lu: the matrix is skew-symmetric");
  const MatrixTraits pattern = traits(from_dense<double>(2, 2, {1, 3, 2, 1}));
  EXPECT_TRUE(pattern.structurally_symmetric);
  EXPECT_FALSE(pattern.symmetric || pattern.skew);
}

TEST(MatrixTraits, SumsDuplicatesAndDropsZerosFirst) {
  const std::vector<std::int32_t> offsets = {0, 3, 6}, columns = {1, 0, 1, 0, 1, 0};
  const std::vector<double> values = {1, 5, 1, 2, 5, 0};  // [5 2; 2 5] with a stored zero
  const MatrixTraits m = matrix_traits("test", CsrView<double>{2, 2, offsets, columns, values});
  EXPECT_TRUE(m.symmetric);
  EXPECT_EQ(m.nnz, 4);
}

TEST(MatrixTraits, NegativeDefiniteGoesToLu) {
  const MethodChoice choice = choose_method(traits(from_dense<double>(2, 2, {-2, 1, 1, -2})));
  EXPECT_EQ(choice.method, SolveMethod::lu);
  EXPECT_NE(choice.reason.find("diagonal is not positive"), std::string::npos);
}

/// A grid of k^dimension points with the 3, 5 or 7-point Laplacian.
OwnedCsr<double> laplacian(std::int64_t k, int dimension) {
  std::int64_t n = 1;
  for (int d = 0; d < dimension; ++d) n *= k;
  OwnedCsr<double> m{n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    const auto put = [&](std::int64_t j, double v) {
      m.columns.push_back(static_cast<std::int32_t>(j));
      m.values.push_back(v);
    };
    put(i, 2.0 * dimension);
    for (std::int64_t d = 0, stride = 1; d < dimension; ++d, stride *= k) {
      if (i / stride % k > 0) put(i - stride, -1);
      if (i / stride % k < k - 1) put(i + stride, -1);
    }
    m.offsets.push_back(static_cast<std::int32_t>(m.columns.size()));
  }
  return m;
}

TEST(ChooseMethod, TakesConjugateGradientsForLargeSolidMeshesOnly) {
  const MatrixTraits solid = traits(laplacian(60, 3));
  EXPECT_GT(solid.dimension, 2.2);
  EXPECT_EQ(choose_method(solid).method, SolveMethod::cg) << choose_method(solid).reason;
  const MatrixTraits plane = traits(laplacian(460, 2));
  EXPECT_LT(plane.dimension, 2.0);
  EXPECT_GT(plane.dimension, 1.5);
  EXPECT_EQ(choose_method(plane).method, SolveMethod::cholesky) << choose_method(plane).reason;
  EXPECT_EQ(choose_method(traits(laplacian(20, 3))).method, SolveMethod::cholesky);
}

TEST(ChooseMethod, OnTheSharedMatrices) {
  if (names_in("data/matrices", ".mtx").empty()) GTEST_SKIP() << "no folder " << places::shared();
  const auto choose = [](const std::string& name) {
    return std::visit([](const auto& a) { return choose_method(traits(a)); }, load_matrix(name));
  };
  for (const char* name : {"bcsstk01", "bcsstk14", "gr_30_30", "wathen_small", "LFAT5", "biharmonic_40",
                           "poisson3d_12_stretch", "tiny_hermitian_3", "mhd1280b"})
    EXPECT_EQ(choose(name).method, SolveMethod::cholesky) << name << ": " << choose(name).reason;
  for (const char* name :
       {"sherman1", "stokes_16", "young1c", "helmholtz_40", "cg20", "tiny_skew_6", "arc130", "hofstadter_20"})
    EXPECT_EQ(choose(name).method, SolveMethod::lu) << name << ": " << choose(name).reason;
}

}  // namespace
}  // namespace rlx::linalg::testing
