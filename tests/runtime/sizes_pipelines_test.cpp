// Whole pipelines of sizes that results introduce: several of them, in loops and branches, tile binning, a sparse
// product.
#include "runtime/sizes_support.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace rlx::sizes {
namespace {

TEST(Sizes, SeveralSizesAndSizesOfSizes) {
  // Of x the positive ones; of these those above their mean; and both by every pair of the first.
  const std::vector<HostTensor> in{vector_of(DType::f64, {3, -1, 5, 0, 1, 8, -2})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const Value zero = ops::full_like(v[0], 0);
    const Value first = ops::take(v[0], ops::nonzero(ops::compare(v[0], zero, ops::Direction::gt), size("k")), 0);
    const Value mean = ops::broadcast(ops::mean(first, {0}), first.shape(), {});
    const Value second = ops::take(first, ops::nonzero(ops::compare(first, mean, ops::Direction::gt), size("m")), 0);
    const Value table =
        ops::broadcast(first, {size("k"), size("m")}, {0}) * ops::broadcast(second, {size("k"), size("m")}, {1});
    return Values{first, second, table, ops::reduce_sum(table, {0, 1}), ops::dim_size(b, size("k") * size("m"))};
  });
  expect_everywhere(g, in, {{3, 5, 1, 8}, {5, 8}, {15, 24, 25, 40, 5, 8, 40, 64}, {221}, {8}});
}

TEST(Sizes, InsideALoopEachTripHasItsOwn) {
  // Strikes out multiples: the sum of what is left over 2, 3, 4 after each of three trips.
  const std::vector<HostTensor> in{vector_of(DType::i64, {2, 3, 4, 5, 6, 7, 8, 9, 10})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const Values state{ops::scalar(b, DType::i64, 2), ops::scalar(b, DType::i64, 0)};
    return ops::while_(
        state, {&v[0], 1},
        [](ValuesIn s) {
          return Values{ops::compare(s[0], ops::scalar(*s[0].builder, DType::i64, 5), ops::Direction::lt)};
        },
        [](ValuesIn s) {
          const Value rest = ops::rem(s[2], ops::broadcast(s[0], s[2].shape(), {}));
          const Value left = ops::nonzero(ops::compare(rest, ops::full_like(rest, 0), ops::Direction::ne), size());
          return Values{s[0] + 1,
                        s[1] + ops::reduce_sum(ops::take(s[2], left, 0), {0}) * ops::dim_size(*s[0].builder, size())};
        });
  });
  expect_everywhere(
      g, in, {{5}, {(3 + 5 + 7 + 9) * 4.0 + (2 + 4 + 5 + 7 + 8 + 10) * 6.0 + (2 + 3 + 5 + 6 + 7 + 9 + 10) * 7.0}});
}

TEST(Sizes, RegionsMayShareAName) {
  // Branches and the body of a loop each call k what their own mask takes, of vectors of different lengths; so does the
  // graph itself after them.
  const auto call = [](bool first, Flags mask) {
    const Doubles x{1, 2, 3, 4, 5, 6, 7, 8};
    const auto sum = [&](std::size_t n) {
      double s = 0, count = 0;
      for (std::size_t i = 0; i < n; ++i)
        if (mask[i]) s += x[i], ++count;
      return s * count;
    };
    Doubles all;
    for (std::size_t i = 0; i < 5; ++i)
      if (mask[i]) all.push_back(static_cast<double>(i));
    return Call{{vector_of(DType::boolean, {double(first)}, {1}), mask_of(mask), vector_of(DType::f64, x)},
                {{sum(first ? 3 : 8)}, {sum(first ? 8 : 2)}, {3 * sum(6)}, all}};
  };
  const Graph g = graph_of(call(true, Flags(8)).in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const auto taken = [](std::int64_t n) {
      return [n](ValuesIn a) {
        const Value places = ops::nonzero(ops::slice_axis(a[0], 0, 0, n), size());
        return Values{ops::reduce_sum(ops::take(a[1], places, 0), {0}) *
                      ops::convert(ops::dim_size(*a[0].builder, size()), DType::f64)};
      };
    };
    const Value first = ops::reshape(v[0], {}), zero = ops::scalar(b, DType::f64, 0);
    Values out{ops::if_(first, v.subspan(1), taken(3), taken(8))[0],
               ops::if_(first, v.subspan(1), taken(8), taken(2))[0]};
    const Values state{ops::scalar(b, DType::i64, 0), zero};
    out.push_back(ops::while_(
        state, v.subspan(1),
        [](ValuesIn s) {
          return Values{ops::compare(s[0], ops::scalar(*s[0].builder, DType::i64, 3), ops::Direction::lt)};
        },
        [&](ValuesIn s) { return Values{s[0] + 1, s[1] + taken(6)(s.subspan(2))[0]}; })[1]);
    out.push_back(ops::nonzero(ops::slice_axis(v[1], 0, 0, 5), size()));
    return out;
  });
  expect_on(quick_devices, g,
            {call(true, {0, 1, 1, 0, 1, 1, 1, 1}), call(false, {0, 1, 1, 0, 1, 1, 1, 1}), call(false, Flags(8, true)),
             call(true, Flags(8))});
}

// Tile binning as in Gaussian splatting: each splat covers some tiles; the pairs are sorted by (tile, depth), and each
// tile gets its range.
TEST(Sizes, TileBinning) {
  constexpr std::int64_t splats = 200, side = 8;
  std::mt19937 random(1);
  Doubles x0, y0, width, height, depth;
  for (std::int64_t i = 0; i < splats; ++i) {
    x0.push_back(static_cast<double>(random() % side));
    y0.push_back(static_cast<double>(random() % side));
    width.push_back(std::min<double>(static_cast<double>(random() % 4), side - x0.back()));
    height.push_back(std::min<double>(static_cast<double>(random() % 3), side - y0.back()));
    depth.push_back(static_cast<double>(random() % 50));
  }
  std::vector<HostTensor> in;
  for (const Doubles* v : {&x0, &y0, &width, &height}) in.push_back(vector_of(DType::i32, *v));
  in.push_back(vector_of(DType::f64, depth));
  const Graph g = graph_of(in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const Values pairs = ops::repeat(v[2] * v[3], size(), DType::i32, 2000);
    const auto of = [&](std::size_t i) { return ops::take(v[i], pairs[0], 0); };
    const Value tile = (of(1) + ops::div(pairs[1], of(2))) * side + of(0) + ops::rem(pairs[1], of(2));
    const Values sorted = ops::sort(Values{tile, of(4), pairs[0]}, {.axis = 0, .keys = 2});
    const Value ones = ops::full(b, DType::i32, {size()}, 1);
    const Value counts = ops::index_add(ops::full(b, DType::i32, {side * side}, 0), sorted[0], ones);
    const Value ends = ops::cumsum(counts, 0);
    const Value offsets = ops::concat(Values{ops::full(b, DType::i32, {1}, 0), ends}, 0);
    return Values{sorted[2], offsets, ops::segment_reduce(sorted[1], offsets, ops::Combine::add)};
  });
  struct Pair {
    std::int64_t tile;
    double depth;
    std::int64_t splat;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < splats; ++i)
    for (int y = 0; y < height[i]; ++y)
      for (int x = 0; x < width[i]; ++x)
        pairs.push_back(
            {static_cast<std::int64_t>((y0[i] + y) * side + x0[i] + x), depth[i], static_cast<std::int64_t>(i)});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.tile != b.tile ? a.tile < b.tile : a.depth < b.depth; });
  Doubles order, offsets(side * side + 1), sums(side * side);
  for (const Pair& p : pairs) {
    order.push_back(static_cast<double>(p.splat));
    sums[static_cast<std::size_t>(p.tile)] += p.depth;
    ++offsets[static_cast<std::size_t>(p.tile) + 1];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  expect_everywhere(g, in, {order, offsets, sums});
}

// The pattern of a product of two sparse matrices: each entry (i, l) of A meets row l of B; sorted pairs, of which the
// first of each run is kept, are the entries of the product.
TEST(Sizes, PatternOfASparseProduct) {
  const std::vector<HostTensor> in{vector_of(DType::i32, {0, 2, 3, 5}), vector_of(DType::i32, {0, 2, 1, 1, 2}),
                                   vector_of(DType::i32, {0, 1, 3, 5}), vector_of(DType::i32, {3, 0, 2, 0, 3})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const auto difference = [](Value offsets) {
      const Dim n = offsets.shape()[0];
      return ops::slice_axis(offsets, 0, 1, n) - ops::slice_axis(offsets, 0, 0, n - 1);
    };
    const Value row = ops::repeat(difference(v[0]), 5)[0];
    const Values meets = ops::repeat(ops::take(difference(v[2]), v[1], 0), size("p"), DType::i32, 25);
    const Value entry = ops::take(ops::take(v[2], v[1], 0), meets[0], 0) + meets[1];
    const Value key = ops::take(row, meets[0], 0) * 4 + ops::take(v[3], entry, 0);
    const Value sorted = ops::sort(Values{key}, {.axis = 0})[0];
    const Value none = ops::scalar(b, DType::i32, -1);
    const Value before = ops::slice_axis(ops::pad(sorted, none, {1}, {0}), 0, 0, size("p"));
    const Value entries =
        ops::take(sorted, ops::nonzero(ops::compare(sorted, before, ops::Direction::ne), size("c")), 0);
    return Values{ops::div(entries, ops::full_like(entries, 4)), ops::rem(entries, ops::full_like(entries, 4))};
  });
  // A = [x . x; . x .; . x x], B = [. . . x; x . x .; x . . x]
  expect_everywhere(g, in, {{0, 0, 1, 1, 2, 2, 2}, {0, 3, 0, 2, 0, 2, 3}});
}

// Element i of a random vector depends on i and not on the length.
TEST(Sizes, RandomNumbersAreThoseOfALongerVector) {
  const std::vector<HostTensor> in{mask_of({1, 0, 1, 1, 0, 1})};
  const Graph g = graph_of(in, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const Value key = ops::constant(b, vector_of(DType::u32, {1, 2})), counter = ops::scalar(b, DType::u64, 0);
    const Value some = ops::rng_uniform(key, counter, DType::f64, {ops::nonzero(v[0], size()).shape()[0], 3});
    return Values{some, ops::rng_uniform(key, counter, DType::f64, {6, 3})};
  });
  for (const std::string& device : devices()) {
    const HostValues out = run(g, in, device);
    const Doubles some = elements(out[0]), all = elements(out[1]);
    ASSERT_EQ(some.size(), 12u);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << device;
  }
}

}  // namespace
}  // namespace rlx::sizes
