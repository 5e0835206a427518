// Functions over Tensor that read and write by index and that order, against plain loops and answers by hand; what they
// refuse, and of which line.
#include "located.hpp"
#include "refused.hpp"

#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace rlx {
namespace {

using Reals = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using ops::Combine;

const double nan_value = std::numeric_limits<double>::quiet_NaN();

Tensor cube() {  // [2, 3, 2]: 0 .. 11
  return convert(reshape(arange(12), {2, 3, 2}), DType::f64);
}

TEST(TakeAlongAxis, ReadsOneElementForEachIndex) {
  // NumPy's documentation of take_along_axis: sorting by argsort, and the place of a maximum.
  const Tensor x = Tensor::from({10.0, 30.0, 20.0, 60.0, 40.0, 50.0}, Extents{2, 3});
  EXPECT_EQ(take_along_axis(x, argsort(x, 1), 1).to_vector<double>(), (Reals{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(take_along_axis(x, reshape(argmax(x, 1), {2, 1}), -1).to_vector<double>(), (Reals{30, 60}));
  const Tensor at = Tensor::from(Ints{2, 0, 1, 1}, Extents{2, 1, 2});
  EXPECT_EQ(take_along_axis(cube(), at, 1).to_vector<double>(), (Reals{4, 1, 8, 9}));
  EXPECT_EQ(
      jit([](const Tensor& v, const Tensor& i) { return take_along_axis(v, i, 1); })(cube(), at).to_vector<double>(),
      (Reals{4, 1, 8, 9}));
  // The gradient counts how often an element was read.
  const Tensor twice = Tensor::from(Ints{1, 1, 0}, Extents{1, 3});
  EXPECT_EQ(
      grad([&](const Tensor& v) { return sum(take_along_axis(v, twice)); })(Tensor::from({5.0, 7.0}, Extents{1, 2}))
          .to_vector<double>(),
      (Reals{1, 2}));
  EXPECT_EQ(take_along_axis(zeros({2, 0}), Tensor::from(Ints{}, Extents{2, 0})).shape(), (Extents{2, 0}));
  EXPECT_EQ(take_along_axis(zeros({0, 3}), Tensor::from(Ints{}, Extents{0, 2}), 1).shape(), (Extents{0, 2}));
}

TEST(Take, ReadsNothingOfNothing) {
  const Tensor none = Tensor::from(Ints{});
  EXPECT_EQ(take(zeros({0, 3}), none).shape(), (Extents{0, 3}));
  EXPECT_EQ(take(zeros({2, 0, 3}), reshape(none, {0, 4}), 1).shape(), (Extents{2, 0, 4, 3}));
  EXPECT_EQ(take(zeros({2, 3}), none, -1).shape(), (Extents{2, 0}));
  EXPECT_EQ(compress(zeros({0, 3}), Tensor::from(std::vector<bool>{})).shape(), (Extents{0, 3}));
  EXPECT_EQ(vmap([](const Tensor& x, const Tensor& i) { return take(x, i); })(zeros({0, 4}), zeros({0, 2}, DType::i32))
                .shape(),
            (Extents{0, 2}));
  EXPECT_THROW(take(zeros({0, 3}), Tensor::from(Ints{0})), VerifyError);
}

TEST(PutAlongAxis, WritesOneElementForEachIndex) {
  const Tensor x = zeros({2, 3}), at = Tensor::from(Ints{2, 0, 1, 1}, Extents{2, 2});
  const Tensor v = Tensor::from({1.0, 2.0, 3.0, 4.0}, Extents{2, 2});
  EXPECT_EQ(put_along_axis(x, at, v).to_vector<double>(), (Reals{2, 0, 1, 0, 4, 0}));
  EXPECT_EQ(put_along_axis(x, at, v, 1, Combine::add).to_vector<double>(), (Reals{2, 0, 1, 0, 7, 0}));
  EXPECT_EQ(put_along_axis(x + 2, at, v, 1, Combine::max).to_vector<double>(), (Reals{2, 2, 2, 2, 4, 2}));
  EXPECT_EQ(put_along_axis(x + 2, at, v, 1, Combine::min).to_vector<double>(), (Reals{2, 2, 1, 2, 2, 2}));
  EXPECT_EQ(put_along_axis(x + 2, at, v, 1, Combine::mul).to_vector<double>(), (Reals{4, 2, 2, 2, 24, 2}));
  EXPECT_EQ(put_along_axis(x, Tensor::from(Ints{1, 0, 1}, Extents{1, 3}), ones({1, 3}), 0).to_vector<double>(),
            (Reals{0, 1, 0, 1, 0, 1}));
  // It undoes a sort: y[order[i]] = sorted[i].
  std::mt19937_64 random(3);
  Reals values(40);
  for (double& d : values) d = std::uniform_real_distribution<>(-1, 1)(random);
  const Tensor y = Tensor::from(values, Extents{4, 10});
  EXPECT_EQ(put_along_axis(zeros_like(y), argsort(y), sort(y)).to_vector<double>(), values);
}

TEST(IndexUpdate, CombinesSlices) {
  const Tensor x = ones({3, 2}), rows = Tensor::from(Ints{2, 0, 2}),
               u = Tensor::from({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, Extents{3, 2});
  EXPECT_EQ(index_update(x, rows, u).to_vector<double>(), (Reals{3, 4, 1, 1, 5, 6}));
  EXPECT_EQ(index_update(x, rows, u, Combine::add).to_vector<double>(), index_add(x, rows, u).to_vector<double>());
  EXPECT_EQ(index_update(x, rows, u, Combine::add).to_vector<double>(), (Reals{4, 5, 1, 1, 7, 9}));
  EXPECT_EQ(index_update(transpose(x), rows, transpose(u), Combine::mul, -1).to_vector<double>(),
            (Reals{3, 1, 5, 4, 1, 12}));
  // The last of several wins, and takes the cotangent.
  EXPECT_EQ(grad([&](const Tensor& v) { return sum(index_update(x, rows, v)); })(u).to_vector<double>(),
            (Reals{0, 0, 1, 1, 1, 1}));
}

TEST(GatherScatter, TakeStableHlosNumbers) {
  // Columns x[:, i] of a matrix, and a diagonal by index pairs.
  const Tensor x = reshape(convert(arange(9), DType::f64), {3, 3});
  EXPECT_EQ(gather(x, Tensor::from(Ints{2, 0}), {{0}, {1}, {}, {}, {1}, 1, {3, 1}}).to_vector<double>(),
            (Reals{2, 0, 5, 3, 8, 6}));
  const Tensor pairs = Tensor::from(Ints{0, 0, 1, 1, 2, 2}, Extents{3, 2});
  EXPECT_EQ(gather(x, pairs, {{}, {0, 1}, {}, {}, {0, 1}, 1, {1, 1}}).to_vector<double>(), (Reals{0, 4, 8}));
  EXPECT_EQ(scatter(x, pairs, Tensor::from({10.0, 20.0, 30.0}), {{}, {0, 1}, {}, {}, {0, 1}, 1, Combine::add})
                .to_vector<double>(),
            (Reals{10, 1, 2, 3, 24, 5, 6, 7, 38}));
}

TEST(OneHot, IsOneAtTheIndex) {
  EXPECT_EQ(one_hot(Tensor::from(Ints{1, 0, 3, -1}), 3, DType::f64).to_vector<double>(),
            (Reals{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(one_hot(Tensor::from(Ints{1, 0}, Extents{2, 1}), 2).shape(), (Extents{2, 1, 2}));
  EXPECT_EQ(one_hot(2, 4, DType::i32).to_vector<std::int32_t>(), (Ints{0, 0, 1, 0}));
  EXPECT_EQ(one_hot(Tensor::from(Ints{1}), 2, DType::boolean).dtype(), DType::boolean);
  EXPECT_EQ(one_hot(Tensor::from(Ints{1}), 0).shape(), (Extents{1, 0}));
}

TEST(Segments, SumInAnyOrderAndCombineByOffsets) {
  std::mt19937_64 random(4);
  const std::int64_t n = 100, count = 7;
  Reals data, sums(static_cast<std::size_t>(2 * count));
  Ints segments;
  for (std::int64_t i = 0; i < n; ++i) {
    segments.push_back(static_cast<std::int32_t>(random() % (count - 1)));  // none in the last
    for (int c = 0; c < 2; ++c) {
      data.push_back(static_cast<double>(random() % 1000));
      sums[static_cast<std::size_t>(2 * segments.back() + c)] += data.back();
    }
  }
  const Tensor d = Tensor::from(data, Extents{n, 2}), s = Tensor::from(segments);
  EXPECT_EQ(segment_sum(d, s, count).to_vector<double>(), sums);  // whole numbers: exact in any order
  // By offsets, rows sorted by segment.
  Ints offsets{0};
  for (std::int32_t k = 0; k < count; ++k)
    offsets.push_back(offsets.back() + static_cast<std::int32_t>(std::count(segments.begin(), segments.end(), k)));
  const Tensor sorted = take(d, argsort(s)), at = Tensor::from(offsets);
  EXPECT_EQ(segment_reduce(sorted, at).to_vector<double>(), sums);
  const Reals greatest = segment_reduce(sorted, at, Combine::max).to_vector<double>();
  for (std::int32_t k = 0; k < count; ++k) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < segments.size(); ++i)
      if (segments[i] == k) most = std::max(most, data[2 * i]);
    EXPECT_EQ(greatest[static_cast<std::size_t>(2 * k)], most);
  }
  // Each row's gradient is that of its segment.
  const auto weighed = [&](const Tensor& v) { return sum(segment_sum(v, s, count) * iota({count, 2}, 0, DType::f64)); };
  const Reals g = jit(grad(weighed))(d).to_vector<double>();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_EQ(g[i], segments[i / 2]);
}

TEST(Sort, OrdersBothWaysAndTellsPlaces) {
  const Reals values{3, nan_value, 1, 2, 1};
  const Tensor x = Tensor::from(values);
  EXPECT_EQ(argsort(x).to_vector<std::int32_t>(), (Ints{2, 4, 3, 0, 1}));
  EXPECT_EQ(argsort(x, 0, true).to_vector<std::int32_t>(), (Ints{0, 3, 2, 4, 1}));
  EXPECT_EQ(sort(Tensor::from({3, 1, 2}), 0, true).to_vector<int>(), (Ints{3, 2, 1}));
  EXPECT_EQ(argsort(transpose(Tensor::from({3, 1, 2, 6, 5, 4}, Extents{2, 3})), 0).to_vector<std::int32_t>(),
            (Ints{1, 2, 2, 1, 0, 0}));
  const Tensors both = sort_together({Tensor::from({1, 0, 1, 0}), Tensor::from({4.0, 3.0, 2.0, 1.0}), arange(4)}, 0, 2);
  EXPECT_EQ(both[0].to_vector<int>(), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(both[1].to_vector<double>(), (Reals{1, 3, 2, 4}));
  EXPECT_EQ(both[2].to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 1, 2, 0}));
}

TEST(TopK, IsTheHeadOfASort) {
  std::mt19937_64 random(5);
  Reals values(60);
  for (double& v : values) v = static_cast<double>(random() % 9);  // with ties
  const Tensor x = Tensor::from(values, Extents{3, 10, 2});
  for (int axis : {0, 1, 2, -1}) {
    const std::int64_t k = axis == 1 ? 4 : 2;
    const TopK top = top_k(x, k, axis);
    const int at = axis < 0 ? axis + 3 : axis;
    EXPECT_EQ(top.values.to_vector<double>(), slice_axis(sort(x, at, true), at, 0, k).to_vector<double>());
    EXPECT_EQ(top.indices.to_vector<std::int32_t>(),
              slice_axis(argsort(x, at, true), at, 0, k).to_vector<std::int32_t>());
  }
  const auto best = [](const Tensor& v) { return sum(top_k(v, 2).values); };
  EXPECT_EQ(grad(best)(Tensor::from({1.0, 5.0, 3.0, 4.0})).to_vector<double>(), (Reals{0, 1, 0, 1}));
  EXPECT_EQ(top_k(x, 0).values.shape(), (Extents{3, 10, 0}));
}

TEST(TensorIndex, RefusesByName) {
  const Tensor x = zeros({2, 3}), i = Tensor::from(Ints{0, 1}), f = zeros({2});
  EXPECT_EQ(refused([&] { take_along_axis(x, i); }),
            "take_along_axis: indices of shape [2] for x of shape [2,3]: as many dimensions were expected");
  EXPECT_EQ(refused([&] { take_along_axis(zeros({2, 0}), reshape(i, {2, 1})); }),
            "take_along_axis: indices of shape [2,1] into [2,0], which has no elements along axis 1");
  EXPECT_EQ(
      refused([&] { put_along_axis(x, i, f, 0); }),
      "put_along_axis: indices are i32[2] and updates f64[2] for x of f64[2,3]: as many dimensions were expected");
  EXPECT_EQ(refused([&] { index_update(x, reshape(i, {2, 1}), x); }),
            "index_update: indices are i32[2,1], expected one dimension");
  EXPECT_EQ(refused([&] { segment_sum(x, x, 2); }),
            "segment_sum: data are f64[2,3] and segments f64[2,3], expected rows and a segment for each of them");
  EXPECT_EQ(refused([&] { segment_sum(x, i, -1); }), "segment_sum: -1 segments");
  EXPECT_EQ(refused([&] { one_hot(i, -2); }), "one_hot: -2 classes");
  // In i8 class 300 would be class 44.
  EXPECT_EQ(refused([&] { one_hot(Tensor::from(std::vector<std::int8_t>{44}), 400); }),
            "one_hot: indices are i8[1], expected i32 or i64");
  EXPECT_EQ(refused([&] { one_hot(Tensor::from({1.5}), 3); }), "one_hot: indices are f64[1], expected i32 or i64");
  EXPECT_EQ(refused([&] { sort_together({x}, 0, 2); }), "sort_together: 2 keys, expected 1 to 1");
  EXPECT_EQ(refused([&] { sort_together({}); }), "sort_together of no tensors");
  EXPECT_EQ(refused([&] { top_k(x, 1, 2); }), "top_k: there is no axis 2 of f64[2,3]");
  EXPECT_EQ(refused([&] { argsort(x, -3); }), "argsort: there is no axis -3 of f64[2,3]");
  // What the operator itself refuses has the line of the call.
  unsigned line = 0;
  expect_refused_at(line, "top_k", [&] { line = __LINE__, (void)top_k(x, 4); });
  EXPECT_EQ(located_refusal([&] { top_k(x, 4); }).constraint, "C2");
  EXPECT_EQ(refused([&] { take_along_axis(x, f); }).substr(0, 16), "take_along_axis:");
}

}  // namespace
}  // namespace rlx
