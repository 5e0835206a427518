// Dense LU, Cholesky and triangular solves against references of 40 digits (shared/reference/linalg/dense).
#include "linalg/kernels/cpu/dense_lapack.hpp"

#include <numeric>
#include <random>
#include <rlx/ir/error.hpp>

#include "dense_references.hpp"

namespace rlx::linalg::testing {
namespace {

using nlohmann::json;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

template <class T>
std::vector<T> multiply(std::int64_t m, std::int64_t k, std::int64_t n, const std::vector<T>& a,
                        const std::vector<T>& b) {
  std::vector<T> c(m * n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return c;
}
template <class T>
std::vector<T> absolute(std::vector<T> a) {
  for (T& v : a) v = std::abs(v);
  return a;
}
template <class T>
std::vector<T> apply(Transpose mode, std::int64_t n, const std::vector<T>& a) {  // op(A) of a square A
  std::vector<T> result = a;
  if (mode != Transpose::none)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        result[i * n + j] = a[j * n + i];
        if constexpr (!std::is_floating_point_v<T>)
          if (mode == Transpose::conjugate_transpose) result[i * n + j] = std::conj(a[j * n + i]);
      }
  return result;
}
template <class T>
void split(std::int64_t m, std::int64_t n, const std::vector<T>& factors, std::vector<T>& l, std::vector<T>& u) {
  const std::int64_t k = std::min(m, n);
  l.assign(m * k, T(0));
  u.assign(k * n, T(0));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (j < i && j < k) l[i * k + j] = factors[i * n + j];
      else if (i < k) u[i * n + j] = factors[i * n + j];
  for (std::int64_t i = 0; i < k; ++i) l[i * k + i] = T(1);
}
template <class T>
double largest(const std::vector<T>& a) {
  double result = 0;
  for (const T& v : a) result = std::max<double>(result, std::abs(v));
  return result;
}

/// |P A - L U| <= 10 max(m, n) eps |L| |U| in every element.
template <class T>
void check_lu(std::int64_t m, std::int64_t n, const std::vector<T>& a, const std::vector<T>& factors,
              const std::vector<std::int32_t>& pivots) {
  const double eps = std::numeric_limits<decltype(std::abs(T()))>::epsilon() / 2;
  std::vector<T> l, u;
  split(m, n, factors, l, u);
  const std::int64_t k = std::min(m, n);
  const auto product = multiply(m, k, n, l, u), size = multiply(m, k, n, absolute(l), absolute(u));
  std::vector<std::int64_t> rows(m);
  pivots_to_rows(pivots, rows);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_LE(std::abs(product[i * n + j] - a[rows[i] * n + j]),
                10 * std::max(m, n) * eps * std::abs(size[i * n + j]))
          << i << "," << j;
  EXPECT_LE(largest(l), 1.4143);  // |re| + |im| picks the pivot of complex columns
}

class DenseCase : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DenseCase);
INSTANTIATE_TEST_SUITE_P(Shared, DenseCase, ::testing::ValuesIn(names_in("reference/linalg/dense", ".json")),
                         [](const auto& info) { return info.param; });

template <class T>
void run_case(const json& c) {
  constexpr double u = 1.1102230246251565e-16;
  const std::int64_t m = c["rows"], n = c["cols"];
  const auto a = matrix<T>(c["a"]);
  std::vector<T> factors(a.size());
  std::vector<std::int32_t> pivots(std::min(m, n));
  const std::int64_t info = lu<T>(m, n, a, factors, pivots);
  check_lu(m, n, a, factors, pivots);
  auto in_place = a;
  std::vector<std::int32_t> same(pivots.size());
  EXPECT_EQ(lu<T>(m, n, in_place, in_place, same), info);
  EXPECT_EQ(in_place, factors);
  EXPECT_EQ(same, pivots);
  if (m != n) return;
  const double cond = c.contains("cond2") && c["cond2"].is_string() ? number(c["cond2"]) : INFINITY;
  EXPECT_TRUE(c["rank"] != n || info == 0);
  if (c.contains("lu") && !c["lu"].is_null()) {
    std::vector<std::int64_t> rows(m);
    pivots_to_rows(pivots, rows);
    // Ties may be broken by rounding; then the factors are of another, as good permutation and only check_lu applies.
    if (rows == c["lu_rows"].get<std::vector<std::int64_t>>()) {
      const auto expected = matrix<T>(c["lu"]);
      EXPECT_LE(relative_difference(factors, expected), 10 * static_cast<double>(n) * u * std::min(cond, 1e14)) << "lu";
    } else {
      std::printf("%s: another pivot order than the reference\n", c["name"].get<std::string>().c_str());
    }
  }
  if (info == 0 && cond < 1e17 && c.contains("solve_or_lstsq_b")) {
    const auto b = vector<T>(c["solve_or_lstsq_b"]), expected = vector<T>(c["solve_or_lstsq_x"]);
    std::vector<T> x(n);
    ASSERT_EQ(lu_solve<T>(n, 1, factors, pivots, Transpose::none, b, x), 0);
    std::vector<T> l, up;
    split(n, n, factors, l, up);
    const double growth = largest(multiply(n, n, n, absolute(l), absolute(up))) / largest(a);
    const double bound = 10 * static_cast<double>(n) * u * cond * growth;
    EXPECT_TRUE(bound >= 1 || relative_difference(x, expected) <= bound)
        << "solve: " << relative_difference(x, expected);
    for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
      ASSERT_EQ(lu_solve<T>(n, 1, factors, pivots, mode, b, x), 0);
      const auto back = multiply<T>(n, n, 1, apply(mode, n, a), x);
      const double scale = static_cast<double>(n) * largest(a) * growth * largest(x) + largest(b);
      for (std::int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(back[i] - b[i]), 10 * static_cast<double>(n) * u * scale);
    }
  }
  std::vector<T> factor(a.size());
  const bool reference = c.contains("cholesky") && c["cholesky"].is_array();
  if (!reference) return;
  ASSERT_EQ(cholesky<T>(n, a, factor), 0);
  EXPECT_LE(relative_difference(factor, matrix<T>(c["cholesky"])),
            10 * static_cast<double>(n) * u * std::min(cond, 1e14))
      << "cholesky";
  const auto product = multiply(n, n, n, factor, apply(Transpose::conjugate_transpose, n, factor));
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(std::abs(product[i] - a[i]), 10 * static_cast<double>(n) * u * largest(a));
  const auto b = vector<T>(c["solve_or_lstsq_b"]), expected = vector<T>(c["solve_or_lstsq_x"]);
  std::vector<T> x(n);
  cholesky_solve<T>(n, 1, factor, Transpose::none, b, x);
  const double bound = 10 * static_cast<double>(n) * u * cond;
  EXPECT_TRUE(bound >= 1 || relative_difference(x, expected) <= bound) << "solve: " << relative_difference(x, expected);
}

TEST_P(DenseCase, MatchesItsReference) {
  const json c = load_case(GetParam());
  if (c["complex"].get<bool>()) run_case<c128>(c);
  else run_case<double>(c);
}

template <class T>
class DenseTypes : public ::testing::Test {
 protected:
  using Real = decltype(std::abs(T()));
  static T random() {
    static std::mt19937 generator(7);
    std::uniform_real_distribution<Real> uniform(-1, 1);
    if constexpr (std::is_floating_point_v<T>) return uniform(generator);
    else return T(uniform(generator), uniform(generator));
  }
  static std::vector<T> random_matrix(std::int64_t m, std::int64_t n) {
    std::vector<T> a(m * n);
    for (T& v : a) v = random();
    return a;
  }
  static constexpr double eps = std::numeric_limits<Real>::epsilon();
};
using FourTypes = ::testing::Types<float, double, c64, c128>;
TYPED_TEST_SUITE(DenseTypes, FourTypes);

TYPED_TEST(DenseTypes, LuOfEveryShape) {
  using T = TypeParam;
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 5}, {70, 70}, {40, 70}, {70, 33}, {1, 6}, {6, 1}}) {
    const auto a = this->random_matrix(m, n);
    std::vector<T> factors(a.size());
    std::vector<std::int32_t> pivots(std::min(m, n));
    EXPECT_EQ((lu<T>(m, n, a, factors, pivots)), 0);
    check_lu(m, n, a, factors, pivots);
  }
}

TYPED_TEST(DenseTypes, SolvesInEveryMode) {
  using T = TypeParam;
  const std::int64_t n = 40;
  auto a = this->random_matrix(n, n);
  for (std::int64_t i = 0; i < n; ++i) a[i * n + (i + 1) % n] += T(20);  // well conditioned, with exchanges of rows
  std::vector<T> factors(a.size());
  std::vector<std::int32_t> pivots(n);
  ASSERT_EQ((lu<T>(n, n, a, factors, pivots)), 0);
  auto spd = multiply(n, n, n, a, apply(Transpose::conjugate_transpose, n, a));
  std::vector<T> factor(a.size());
  ASSERT_EQ((cholesky<T>(n, spd, factor)), 0);
  EXPECT_EQ(factor[1], T(0));
  for (const std::int64_t count : {1, 3})
    for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
      const auto x = this->random_matrix(n, count);
      auto b = multiply(n, n, count, apply(mode, n, a), x);
      EXPECT_EQ((lu_solve<T>(n, count, factors, pivots, mode, b, b)), 0);
      EXPECT_LE(relative_difference(b, x), 100 * n * this->eps);
      b = multiply(n, n, count, apply(mode, n, spd), x);
      cholesky_solve<T>(n, count, factor, mode, b, b);
      EXPECT_LE(relative_difference(b, x), 1000 * n * this->eps);
    }
}

TYPED_TEST(DenseTypes, TriangularSolvesOnBothSides) {
  using T = TypeParam;
  const std::int64_t m = 9, n = 5;
  for (const Side side : {Side::left, Side::right})
    for (const Triangle triangle : {Triangle::lower, Triangle::upper})
      for (const Transpose mode : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose})
        for (const bool unit : {false, true})
          for (const std::int64_t cols : {n, std::int64_t{1}}) {
            const std::int64_t k = side == Side::left ? m : cols;
            auto a = this->random_matrix(k, k);  // the other triangle holds rubbish that must not be read
            auto clean = a;
            for (std::int64_t i = 0; i < k; ++i)
              for (std::int64_t j = 0; j < k; ++j) {
                if (i == j) clean[i * k + j] = unit ? T(1) : a[i * k + j] += T(3);
                else if ((j < i) != (triangle == Triangle::lower)) clean[i * k + j] = T(0);
                else clean[i * k + j] = a[i * k + j] *= T(0.25);
              }
            const auto x = this->random_matrix(m, cols), op = apply(mode, k, clean);
            const auto b = side == Side::left ? multiply(m, m, cols, op, x) : multiply(m, cols, cols, x, op);
            std::vector<T> found(b.size());
            EXPECT_EQ((triangular_solve<T>({side, triangle, mode, unit}, m, cols, a, b, found)), 0);
            EXPECT_LE(relative_difference(found, x), 200 * this->eps);
          }
}

TYPED_TEST(DenseTypes, ReportsTheFirstZeroPivotAndMinor) {
  using T = TypeParam;
  const std::vector<T> singular = {1, 2, 3, 2, 4, 6, 1, 1, 1};  // row 2 = 2 row 1
  std::vector<T> factors(9), x(3, T(7));
  std::vector<std::int32_t> pivots(3);
  EXPECT_EQ((lu<T>(3, 3, singular, factors, pivots)), 3);
  EXPECT_EQ((lu_solve<T>(3, 1, factors, pivots, Transpose::none, std::vector<T>{1, 1, 1}, x)), 3);
  EXPECT_EQ(x, std::vector<T>(3, T(7)));
  const std::vector<T> indefinite = {4, 0, 0, 2, 1, 0, 0, 0, 1};  // lower triangle; minors 4, 0
  EXPECT_EQ((cholesky<T>(3, indefinite, factors)), 2);
  EXPECT_EQ((triangular_solve<T>({}, 3, 1, std::vector<T>{1, 0, 0, 1, 0, 0, 1, 1, 1}, std::vector<T>{1, 1, 1}, x)), 2);
}

TEST(DenseLapack, OfNothingIsNothing) {
  std::vector<double> none;
  std::vector<std::int32_t> pivots;
  EXPECT_EQ(lu<double>(0, 0, none, none, pivots), 0);
  EXPECT_EQ(lu<double>(0, 5, none, none, pivots), 0);
  EXPECT_EQ(lu_solve<double>(0, 3, none, pivots, Transpose::none, none, none), 0);
  EXPECT_EQ(cholesky<double>(0, none, none), 0);
}

TEST(DenseLapack, RefusesSizesThatDoNotFit) {
  std::vector<double> a(6), out(6);
  std::vector<std::int32_t> pivots(2), wrong = {0, 5};
  EXPECT_THROW(lu<double>(2, 2, a, out, pivots), ArgumentError);
  EXPECT_THROW(lu<double>(-1, 2, a, out, pivots), ArgumentError);
  EXPECT_THROW(lu<double>(2, 3, a, out, std::span(pivots).first(1)), ArgumentError);
  EXPECT_THROW(cholesky<double>(2, a, out), ArgumentError);
  a = {1, 0, 0, 1};
  out.resize(2);
  EXPECT_THROW(lu_solve<double>(2, 1, a, wrong, Transpose::none, out, out), ArgumentError);
}

}  // namespace
}  // namespace rlx::linalg::testing
