// Iterative refinement: what it measures, when it stops, and that a poor factor is made good.
#include "linalg/kernels/cpu/refine.hpp"

#include <rlx/ir/error.hpp>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {
namespace {

using c128 = std::complex<double>;

/// Solves with the factor of another matrix: what refinement must repair.
template <class T>
class PoorFactor final : public SparseFactor<T> {
 public:
  PoorFactor(std::unique_ptr<SparseFactor<T>> factor, double error) : factor_(std::move(factor)), error_(error) {}
  void solve(Transpose mode, std::span<const T> b, std::span<T> x, std::int64_t count) const override {
    factor_->solve(mode, b, x, count);
    const auto n = static_cast<std::size_t>(order());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 1 + (i % n % 2 ? error_ : -error_);
  }
  std::int64_t order() const noexcept override { return factor_->order(); }
  double rcond() const override { return factor_->rcond(); }
  double rcond_at_least() const noexcept override { return factor_->rcond_at_least(); }
  std::string_view method() const noexcept override { return "lu"; }
  std::string_view provider() const noexcept override { return "poor"; }
  std::string_view reason() const noexcept override { return "test"; }
  std::int64_t factor_nnz() const noexcept override { return 0; }

 private:
  std::unique_ptr<SparseFactor<T>> factor_;
  double error_;
};

template <class T>
OwnedCsr<T> hilbert(std::int64_t n) {
  std::vector<T> dense(n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) dense[i * n + j] = T(1.0 / static_cast<double>(i + j + 1));
  return from_dense(n, n, dense);
}

TEST(Refine, MeasuresByHand) {
  const auto a = from_dense<double>(2, 2, {3, 1, 0, 2});
  const std::vector<double> b = {4, 2}, x = {1, 0.5};
  // b - A x = (0.5, 1); |A| = 4, |x| = 1, |b| = 4.
  const Refinement state = measure(a.view(), Transpose::none, std::span(b), std::span(x));
  EXPECT_DOUBLE_EQ(state.backward_error, 1.0 / 8);
  EXPECT_DOUBLE_EQ(state.relative_residual, 1.0 / 4);
  // b - A^T x = (1, 0); |A^T| = 3.
  EXPECT_DOUBLE_EQ(measure(a.view(), Transpose::transpose, std::span(b), std::span(x)).backward_error, 1.0 / 7);
}

TEST(Refine, SeesResidualsBelowDoublePrecision) {
  // 1e16 + 1 - 1e16 is 1 (0 in double arithmetic, where 1e16 + 1 rounds to 1e16).
  const auto a = from_dense<double>(1, 3, {1e16, 1, -1e16});
  const std::vector<double> b = {0}, x = {1, 1, 1};
  EXPECT_DOUBLE_EQ(measure(a.view(), Transpose::none, std::span(b), std::span(x)).backward_error * 2e16, 1);
  // (1 + 2^-52)^2 - (1 + 2^-51) = 2^-104: products are exact too. The same by complex entries with i * -i = 1.
  const double one = 1 + 0x1p-52;
  const auto square = from_dense<c128>(1, 1, {{0, one}});
  const std::vector<c128> right = {1 + 0x1p-51}, root = {{0, -one}};
  EXPECT_DOUBLE_EQ(measure(square.view(), Transpose::none, std::span(right), std::span(root)).relative_residual,
                   0x1p-104 / (1 + 0x1p-51));
}

TEST(Refine, RepairsAPoorFactor) {
  const auto a = hilbert<double>(5);
  const PoorFactor<double> factor(sparse_lu(a.view()), 1e-9);  // contracts by cond * 1e-9, about 1e-3, a step
  const std::vector<double> b = {1, -2, 3, -4, 5};
  std::vector<double> x(5);
  const Refinement state = solve_refined(factor, a.view(), Transpose::none, std::span(b), std::span(x),
                                         {.target = 1.2e-16, .componentwise_target = 2.3e-16});
  EXPECT_GE(state.iterations, 1);
  EXPECT_LE(state.backward_error, 2e-16);
  EXPECT_EQ(state.backward_error,
            measure(a.view(), Transpose::none, std::span(b), std::span<const double>(x)).backward_error);
}

TEST(Refine, KeepsTheBestWhenItDiverges) {
  const auto a = hilbert<double>(8);  // condition 1.5e10
  const PoorFactor<double> factor(sparse_lu(a.view()), 0.5);
  const std::vector<double> b(8, 1.0);
  std::vector<double> x(8), first(8);
  factor.solve(Transpose::none, b, std::span(first), 1);
  const double before = measure(a.view(), Transpose::none, std::span(b), std::span<const double>(first)).backward_error;
  const Refinement state = solve_refined(factor, a.view(), Transpose::none, std::span(b), std::span(x));
  EXPECT_LE(state.backward_error, before);
  EXPECT_LE(state.iterations, 10);
}

TEST(Refine, ForwardModeReachesTheLastDigit) {
  const auto a = hilbert<double>(8);
  const auto factor = sparse_lu(a.view());
  // The exact product of the stored matrix and integers would not be a double; so compare two right sides that differ
  // by a power of two and one solved by another provider: all must agree to the last digits, far below cond * 1e-16 =
  // 1e-6.
  const std::vector<double> b = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> x(8), y(8);
  solve_refined(*factor, a.view(), Transpose::none, std::span(b), std::span(x), {.forward = true});
  const auto other = sparse_lu(a.view(), {.lu = factor->provider() == "klu" ? LuLibrary::umfpack : LuLibrary::klu});
  solve_refined(*other, a.view(), Transpose::none, std::span(b), std::span(y), {.forward = true});
  EXPECT_LE(relative_difference(x, y), 4e-16);
}

TEST(Refine, OfAZeroRightSideIsZero) {
  const auto a = hilbert<c128>(4);
  const std::vector<c128> b(4);
  std::vector<c128> x(4, {1, 1});
  const Refinement state = solve_refined(*sparse_lu(a.view()), a.view(), Transpose::none, std::span(b), std::span(x));
  EXPECT_EQ(state.iterations, 0);
  EXPECT_EQ(state.backward_error, 0);
  EXPECT_EQ(state.relative_residual, 0);
  EXPECT_EQ(x, b);
}

TEST(Refine, RefusesWrongLengths) {
  const auto a = hilbert<double>(4);
  std::vector<double> b(4), x(3);
  EXPECT_THROW(solve_refined(*sparse_lu(a.view()), a.view(), Transpose::none, std::span<const double>(b), std::span(x)),
               ArgumentError);
  std::vector<double> two(8);
  std::vector<Refinement> out(3);
  EXPECT_THROW(solve_refined(*sparse_lu(a.view()), a.view(), Transpose::none, std::span<const double>(two),
                             std::span(two), std::span(out)),
               ArgumentError);
}

// UMFPACK solves for one right side after the other, so that each has the bits that it has alone.
TEST(Refine, EachOfManyEndsAsItDoesAlone) {
  const auto a = hilbert<c128>(5);
  const PoorFactor<c128> factor(sparse_lu(a.view(), {.lu = LuLibrary::umfpack}), 1e-9);
  for (const Transpose mode : {Transpose::none, Transpose::conjugate_transpose}) {
    const std::size_t n = 5, count = 2 * columns_at_once + 3;
    std::vector<c128> b(n * count), x(n * count);
    for (std::size_t i = 0; i < b.size(); ++i)
      if (i / n % 4) b[i] = {std::sin(static_cast<double>(i)), i / n % 4 == 1 ? 0 : std::cos(static_cast<double>(i))};
    std::vector<Refinement> out(count);
    const RefineOptions options{.target = 1.2e-16, .componentwise_target = 2.3e-16};
    solve_refined(factor, a.view(), mode, std::span<const c128>(b), std::span(x), std::span(out), options);
    int least = 10, most = 0;
    for (std::size_t c = 0; c < count; ++c) {
      std::vector<c128> alone(n);
      const Refinement r =
          solve_refined(factor, a.view(), mode, std::span<const c128>(b).subspan(c * n, n), std::span(alone), options);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), x.begin() + static_cast<std::ptrdiff_t>(c * n))) << c;
      EXPECT_EQ(out[c].iterations, r.iterations) << c;
      EXPECT_EQ(out[c].backward_error, r.backward_error) << c;
      EXPECT_EQ(out[c].relative_residual, r.relative_residual) << c;
      EXPECT_EQ(out[c].componentwise_error, r.componentwise_error) << c;
      least = std::min(least, r.iterations), most = std::max(most, r.iterations);
    }
    EXPECT_LT(least, most);  // They do not all need as much.
  }
}

}  // namespace
}  // namespace rlx::linalg::testing
