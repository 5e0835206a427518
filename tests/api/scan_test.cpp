// Prefixes and reductions by combinations that users write, against loops.
#include "refused.hpp"

#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace rlx {
namespace {

using Reals = std::vector<double>;
using Pair = std::pair<Tensor, Tensor>;

Pair chained(const Pair& l, const Pair& r) { return {mul(l.first, r.first), add(mul(l.second, r.first), r.second)}; }

// s[i] = a[i] s[i - 1] + b[i], in whole numbers, so that any grouping gives the same.
TEST(AssociativeScan, SolvesALinearRecurrence) {
  const std::size_t n = 20;
  Reals a(n), b(n), wanted(n);
  double s = 0;
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = i % 3 == 0 ? 2 : -1;
    b[i] = static_cast<double>(i);
    wanted[i] = s = a[i] * s + b[i];
  }
  const auto f = [](const Tensor& p, const Tensor& q) {
    return associative_scan(chained, Pair{p, q}, Pair{1, 0}).second;
  };
  EXPECT_EQ(f(Tensor::from(a), Tensor::from(b)).to_vector<double>(), wanted);
  EXPECT_EQ(jit(f)(Tensor::from(a), Tensor::from(b)).to_vector<double>(), wanted);
}

TEST(AssociativeScan, RunsAlongAnAxisBothWays) {
  const Tensor x = reshape(arange(6), {2, 3});
  const auto plus = [](const Tensor& l, const Tensor& r) { return l + r; };
  EXPECT_EQ(associative_scan(plus, x, 0, -1).to_vector<std::int64_t>(), cumsum(x, 1).to_vector<std::int64_t>());
  EXPECT_EQ(associative_scan(plus, x, 0, 0, true, true).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{3, 4, 5, 0, 0, 0}));
  // log(exp a + exp b) and its prefixes, with a number of its own; 2 ulp a step of five.
  const auto wider = [](const Tensor& l, const Tensor& r) { return maximum(l, r) + log1p(exp(-1.0 * abs(l - r))); };
  const Tensor y = Tensor::from({0.0, 1.0, 2.0, -3.0, 0.5});
  const Reals got = associative_scan(wider, y, -1e300).to_vector<double>();
  double total = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    total += std::exp(y.to_vector<double>()[i]);
    EXPECT_NEAR(got[i], std::log(total), 1e-15 * (1 + std::abs(got[i])) * 5);
  }
  EXPECT_EQ(grad([&](const Tensor& v) { return sum(associative_scan(plus, v, 0)); })(y).to_vector<double>(),
            (Reals{5, 4, 3, 2, 1}));
}

// 2049 is no f16: a sum in steps of f16 would stand still at 2048. The combination is of wider types, and one of i8
// sees what its tensor cannot hold.
TEST(AssociativeScan, CombinesSmallTypesInWiderOnes) {
  const auto plus = [](const Tensor& l, const Tensor& r) { return l + r; };
  for (DType t : {DType::f16, DType::bf16, DType::f32}) {
    const Tensor x = concat({full({1}, 2048, t), ones({4}, t)});
    const Tensor y = associative_scan(plus, x, 0);
    EXPECT_EQ(y.dtype(), t);
    EXPECT_EQ(convert(slice_axis(y, 0, 4, 5), DType::f64).item(), t == DType::bf16 ? 2048 : 2052);
    EXPECT_EQ(convert(cumsum(x, 0, false), DType::f64).to_vector<double>(), convert(y, DType::f64).to_vector<double>());
    EXPECT_EQ(convert(reduce(plus, x, 0, {0}), DType::f64).item(), t == DType::bf16 ? 2048 : 2052);
  }
  const auto limited = [](const Tensor& l, const Tensor& r) { return minimum(l + r, 1000); };
  EXPECT_EQ(reduce(limited, Tensor::from<std::int8_t>({100, 100, -100}), 0, {0}).item<int>(), 100);
}

TEST(Reduce, CombinesTogether) {
  // The greatest value and where it first stands.
  const Tensor x = Tensor::from({2.0, 7.0, 1.0, 7.0, 3.0, 9.0}, Extents{2, 3});
  const auto later = [](const Pair& l, const Pair& r) {
    const Tensor keep = logical_or(l.first > r.first, logical_and(equal(l.first, r.first), l.second < r.second));
    return Pair{where(keep, l.first, r.first), where(keep, l.second, r.second)};
  };
  const auto [most, at] = reduce(later, Pair{x, iota({2, 3}, 1)}, Pair{-INFINITY, 1 << 30}, {-1});
  EXPECT_EQ(most.to_vector<double>(), (Reals{7, 9}));
  EXPECT_EQ(at.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(reduce([](const Tensor& l, const Tensor& r) { return l * r; }, x, 1, {0, 1}).item(), 2646);
}

TEST(AssociativeScan, RefusesWhatIsNoCombination) {
  const Tensor x = ones({3});
  const auto plus = [](const Tensor& l, const Tensor& r) { return l + r; };
  const auto around = [&](const Tensor& y) {
    return associative_scan([&](const Tensor& l, const Tensor& r) { return l + r * sum(y); }, y, 0);
  };
  EXPECT_EQ(refused([&] { jit(around)(x); }),
            "associative_scan: the combination uses a tensor from around it, and may use its arguments and numbers "
            "alone");
  EXPECT_EQ(refused([&] { associative_scan(plus, x, 0, 1); }), "associative_scan: there is no axis 1 of f64[3]");
  EXPECT_EQ(refused([&] { associative_scan(plus, Tensor::from({1, 2}), 0.5); }),
            "the number 0.5 meets a tensor of i32, which cannot hold it: convert the tensor first");
  EXPECT_EQ(refused([&] { reduce([](const Tensor& l, const Tensor&) { return l > 0; }, x, 0, {0}); }).substr(0, 11),
            "reduce: C4:");
  using List = std::vector<Tensor>;
  EXPECT_EQ(refused([&] { reduce([](const List& l, const List&) { return l; }, List{x, x}, List{0}, {0}); }),
            "reduce: 1 identities for 2 tensors");
  // Derivatives of combinations that are not known are refused, not wrong.
  const auto f = [](const Tensor& v) { return sum(associative_scan(chained, Pair{v, v}, Pair{1, 0}).second); };
  EXPECT_THROW(grad(f)(x), VerifyError);
}

}  // namespace
}  // namespace rlx
