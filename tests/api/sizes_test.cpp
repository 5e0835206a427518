// Tensors as long as what comes out, concrete and traced.
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

using Doubles = std::vector<double>;

TEST(TensorSizes, AtOnceTheyAreConcrete) {
  const Tensor x = Tensor::from({3.0, -1.0, 5.0, 0.0});
  EXPECT_EQ(nonzero(x > 0).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(compress(x, x > 0).to_vector<double>(), (Doubles{3, 5}));
  EXPECT_EQ(nonzero(x > 9).shape(), Extents{0});
  const auto [owner, rank] = repeat(Tensor::from<std::int32_t>({2, 0, 3}));
  EXPECT_EQ(owner.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 0, 2, 2, 2}));
  EXPECT_EQ(rank.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 0, 1, 2}));
  EXPECT_EQ(size_of(owner).item<std::int64_t>(), 5);
  EXPECT_EQ(iota_like(owner).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(TensorSizes, OneTraceServesEveryCount) {
  int traces = 0;
  const auto f = jit([&](const Tensor& x, const Tensor& counts) {
    ++traces;
    const Tensor kept = compress(x, x > 0), order = iota_like(kept, 0, DType::f64);
    const auto [owner, rank] = repeat(counts);
    return std::tuple(kept * order + full_like(kept, 1), sum(kept) / convert(size_of(kept), DType::f64),
                      take(x, owner) + convert(rank, DType::f64));
  });
  const Tensor counts = Tensor::from<std::int32_t>({1, 2, 0, 0});
  const auto [a, b, c] = f(Tensor::from({3.0, -1.0, 5.0, 1.0}), counts);
  EXPECT_EQ(a.to_vector<double>(), (Doubles{1, 6, 3}));
  EXPECT_EQ(b.item(), 3);
  EXPECT_EQ(c.to_vector<double>(), (Doubles{3, -1, 0}));
  const auto [d, e, g] = f(Tensor::from({3.0, -1.0, -5.0, -1.0}), Tensor::from<std::int32_t>({0, 0, 30, 0}));
  EXPECT_EQ(d.to_vector<double>(), Doubles{1});
  EXPECT_EQ(e.item(), 3);
  EXPECT_EQ(g.shape(), Extents{30});
  EXPECT_EQ(g.to_vector<double>().back(), -5 + 29);
  EXPECT_EQ(traces, 1);
}

TEST(TensorSizes, Gradients) {
  const auto f = jit(grad([](const Tensor& x, const Tensor& counts) {
    const Tensor repeated = take(x, repeat(counts).owner), kept = compress(x, x > 0);
    return sum(square(repeated)) + sum(kept * kept * kept);
  }));
  // d/dx of counts * x^2 + x^3 where x is positive.
  const Tensor g = f(Tensor::from({2.0, -3.0}), Tensor::from<std::int32_t>({1, 4}));
  EXPECT_EQ(g.to_vector<double>(), (Doubles{2 * 2 + 3 * 4, 4 * 2 * -3}));
}

TEST(TensorSizes, ATracedSizeIsNoNumber) {
  const auto f = jit([](const Tensor& x) { return full(nonzero(x).shape(), 1); });
  EXPECT_THROW(f(Tensor::from({true, false})), ArgumentError);
}

}  // namespace
}  // namespace rlx
