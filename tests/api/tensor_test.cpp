// Tensors that run at once, against plain loops.
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace rlx {
namespace {

Tensor matrix() { return Tensor::from({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, Extents{2, 3}); }

TEST(Tensor, HoldsWhatItWasGiven) {
  const Tensor x = matrix();
  EXPECT_EQ(x.dtype(), DType::f64);
  EXPECT_EQ(x.shape(), (Extents{2, 3}));
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.dim(-1), 3);
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Tensor::from(std::vector<bool>{true, false}).dtype(), DType::boolean);
  EXPECT_EQ(Tensor::from(std::vector<float>{1, 2}).dtype(), DType::f32);
  EXPECT_EQ(Tensor::from(std::vector<std::int32_t>{7}).item<int>(), 7);
  EXPECT_EQ(Tensor::from(std::vector<std::complex<double>>{{1, 2}}).item<std::complex<double>>(),
            (std::complex<double>{1, 2}));
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Tensor::from({1.0, 2.0}, Extents{3}), ArgumentError);
  EXPECT_THROW(matrix().item(), ArgumentError);
  EXPECT_THROW(matrix().to_vector<float>(), ArgumentError);
  EXPECT_THROW(matrix().dim(2), ArgumentError);
  EXPECT_THROW(sum(matrix(), {2}), ArgumentError);
  EXPECT_THROW(Tensor() + 1, ArgumentError);
  EXPECT_THROW(matrix() + Tensor::from(std::vector<float>{1, 2, 3}), VerifyError);
  EXPECT_THROW(matmul(matrix(), matrix()), VerifyError);
}

TEST(Tensor, NumbersTakeTheTypeThatTheyMeet) {
  const Tensor f = Tensor::from(std::vector<float>{1, 2});
  EXPECT_EQ((f * 2).dtype(), DType::f32);
  EXPECT_EQ((0.5 + f).to_vector<float>(), (std::vector<float>{1.5f, 2.5f}));
  const Tensor i = Tensor::from(std::vector<std::int32_t>{5, 6});
  EXPECT_EQ((i * 2 - 1).to_vector<std::int32_t>(), (std::vector<std::int32_t>{9, 11}));
  EXPECT_EQ((i + 1.0).dtype(), DType::i32);
  EXPECT_THROW(i * 0.5, ArgumentError);
  EXPECT_EQ(where(i > 5, 1, 0.25).to_vector<double>(), (std::vector<double>{0.25, 1}));
}

// Numbers on both sides of what i64 and u64 hold: exact, or refused.
TEST(Tensor, NumbersOf64Bits) {
  using U = std::vector<std::uint64_t>;
  using I = std::vector<std::int64_t>;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max(), two63 = std::uint64_t{1} << 63;
  const Tensor u = Tensor::from(U{5}), i = Tensor::from(I{5});
  EXPECT_EQ((Tensor::from({0.0}) + most).to_vector<double>(), (std::vector<double>{0x1p64}));
  EXPECT_EQ(convert(Tensor(two63), DType::f64).item(), 0x1p63);
  EXPECT_EQ((u + two63).to_vector<std::uint64_t>(), (U{two63 + 5}));
  EXPECT_TRUE(u < most);
  EXPECT_EQ((Tensor(1) + Tensor(two63)).item<std::uint64_t>(), two63 + 1);
  for (const auto& refused :
       {std::function([&] { u + -1; }), std::function([&] { u > -1; }), std::function([&] { i < two63; }),
        std::function([&] { i + 0x1p63; }), std::function([&] { u + 0x1p64; }), std::function([&] { i + most; })})
    EXPECT_THROW(refused(), ArgumentError);
  EXPECT_EQ((i + std::numeric_limits<std::int64_t>::min()).to_vector<std::int64_t>(),
            (I{std::numeric_limits<std::int64_t>::min() + 5}));
  EXPECT_EQ((u * 0x1p62).to_vector<std::uint64_t>(), (U{5 * (std::uint64_t{1} << 62)}));
}

TEST(Tensor, ItemsSaturate) {
  EXPECT_EQ(Tensor(3e9).item<int>(), std::numeric_limits<int>::max());
  EXPECT_EQ(Tensor(-3e9).item<int>(), std::numeric_limits<int>::min());
  EXPECT_EQ(Tensor(300).item<std::uint8_t>(), 255);
  EXPECT_EQ(Tensor(-1.0).item<std::uint8_t>(), 0);
  EXPECT_EQ(Tensor(-1).item<std::uint64_t>(), 0u);
  EXPECT_EQ(Tensor(std::numeric_limits<std::uint64_t>::max()).item<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Tensor(std::nan("")).item<int>(), 0);
  EXPECT_TRUE(Tensor(0.5).item<bool>());
  EXPECT_TRUE(Tensor(std::nan("")).item<bool>());
  EXPECT_FALSE(Tensor(-0.0).item<bool>());
  EXPECT_TRUE(static_cast<bool>(Tensor::from({std::complex<double>(0, 1)})));
  EXPECT_FALSE(static_cast<bool>(Tensor::from({std::complex<double>(0, -0.0)})));
}

TEST(Tensor, Elementwise) {
  const Tensor x = matrix();
  const std::vector<double> got = (exp(-x) * sin(x) + sqrt(x) / (1 + square(x)) - pow(x, 1.5)).to_vector<double>();
  for (int i = 0; i < 6; ++i) {
    const double v = i + 1;
    EXPECT_NEAR(got[static_cast<std::size_t>(i)],
                std::exp(-v) * std::sin(v) + std::sqrt(v) / (1 + v * v) - std::pow(v, 1.5), 1e-13);
  }
  EXPECT_EQ(maximum(x, 3).to_vector<double>(), (std::vector<double>{3, 3, 3, 4, 5, 6}));
  EXPECT_EQ(clamp(2, x, 4).to_vector<double>(), (std::vector<double>{2, 2, 3, 4, 4, 4}));
  EXPECT_EQ(relu(x - 4).to_vector<double>(), (std::vector<double>{0, 0, 0, 0, 1, 2}));
  EXPECT_NEAR(sigmoid(Tensor(0.3)).item(), 1 / (1 + std::exp(-0.3)), 1e-15);
}

TEST(Tensor, ReductionsAndSoftmax) {
  const Tensor x = matrix();
  EXPECT_EQ(sum(x).item(), 21);
  EXPECT_EQ(sum(x, {0}).to_vector<double>(), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(mean(x, {-1}, true).shape(), (Extents{2, 1}));
  EXPECT_EQ(mean(x).item(), 3.5);
  EXPECT_NEAR(var(x).item(), 35.0 / 12, 1e-14);
  EXPECT_EQ(max(x, {1}).to_vector<double>(), (std::vector<double>{3, 6}));
  EXPECT_EQ(min(x).item(), 1);
  EXPECT_EQ(argmax(x, 1).to_vector<std::int32_t>(), (std::vector<std::int32_t>{2, 2}));
  EXPECT_NEAR(sum(softmax(x)).item(), 2, 1e-14);
  EXPECT_NEAR(norm(x).item(), std::sqrt(91.0), 1e-14);
  EXPECT_TRUE(all(x > 0));
  EXPECT_FALSE(any(x > 6));
}

TEST(Tensor, Structure) {
  const Tensor x = matrix();
  EXPECT_EQ(transpose(x).to_vector<double>(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(reshape(x, {3, -1}).shape(), (Extents{3, 2}));
  EXPECT_EQ(slice(x, {0, 1}, {2, 3}).to_vector<double>(), (std::vector<double>{2, 3, 5, 6}));
  EXPECT_EQ(concat({x, x}, -1).shape(), (Extents{2, 6}));
  EXPECT_EQ(stack({x, x, x}, -1).shape(), (Extents{2, 3, 3}));
  EXPECT_EQ(take(x, Tensor::from(std::vector<std::int32_t>{2, 0}), 1).to_vector<double>(),
            (std::vector<double>{3, 1, 6, 4}));
  EXPECT_EQ(cumsum(x, 1).to_vector<double>(), (std::vector<double>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(pad(x, 0, {0, 1}, {0, 0}).shape(), (Extents{2, 4}));
  EXPECT_EQ(dynamic_slice(x, {1, 0}, {1, 2}).to_vector<double>(), (std::vector<double>{4, 5}));
  EXPECT_EQ(identity(2).to_vector<double>(), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(arange(3).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(sort(-x, 1).to_vector<double>(), (std::vector<double>{-3, -2, -1, -6, -5, -4}));
}

TEST(Tensor, Products) {
  const Tensor x = matrix(), v = Tensor::from({1.0, 0.0, -1.0});
  EXPECT_EQ(matmul(x, transpose(x)).to_vector<double>(), (std::vector<double>{14, 32, 32, 77}));
  EXPECT_EQ(matmul(x, v).to_vector<double>(), (std::vector<double>{-2, -2}));
  EXPECT_EQ(matmul(Tensor::from({1.0, 1.0}), x).to_vector<double>(), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(matmul(v, v).item(), 2);
  EXPECT_EQ(dot(v, v).item(), 2);
}

TEST(Tensor, RandomNumbersAreAFunctionOfKeyAndCounter) {
  const Tensor key = random_key(42);
  const auto a = random_uniform(key, 0, {1000}).to_vector<double>(),
             b = random_uniform(key, 0, {1000}).to_vector<double>();
  EXPECT_EQ(a, b);
  double total = 0;
  for (double v : a) {
    EXPECT_TRUE(0 <= v && v < 1);
    total += v;
  }
  EXPECT_NEAR(total / 1000, 0.5, 0.05);
}

TEST(Csr, ChecksItsArrays) {
  const Tensor offsets = Tensor::from(std::vector<std::int32_t>{0, 2, 3}),
               indices = Tensor::from(std::vector<std::int32_t>{0, 1, 1});
  const Csr a(2, offsets, indices, Tensor::from({4.0, 1.0, 3.0}));
  EXPECT_EQ(a.rows(), 2);
  EXPECT_EQ(a.entries(), 3);
  EXPECT_EQ(a.with_values(2 * a.values()).values().to_vector<double>(), (std::vector<double>{8, 2, 6}));
  EXPECT_THROW(Csr(1, offsets, indices, a.values()), ArgumentError);
  EXPECT_THROW(Csr(2, offsets, Tensor::from(std::vector<std::int32_t>{1, 0, 1}), a.values()), ArgumentError);
  EXPECT_THROW(Csr(2, offsets, indices, Tensor::from({4.0, 1.0})), ArgumentError);
  EXPECT_THROW((Csr(2, Tensor::from({0.0, 2.0, 3.0}), indices, a.values())), ArgumentError);
}

}  // namespace
}  // namespace rlx
