#include "support.hpp"

namespace rlx {
namespace {

using namespace ops;
using transform::vmap;

TEST(Vmap, EqualsALoop) {
  check_batch(graph_of({f64({3, 4}), f64({4, 2})},
                       [](ValuesIn v) {
                         const Value h = matmul(v[0], v[1]);
                         return Values{softmax(h, 1),          reduce_sum(h, {0}),      transpose(h, {1, 0}),
                                       slice_axis(h, 1, 0, 1), concat(Values{h, h}, 0), logsumexp(h, {1})};
                       }),
              3, 5);
}

TEST(Vmap, AxesOfInputsAndOutputs) {
  const Graph f = graph_of({f64({2}), f64({2})}, [](ValuesIn v) { return Values{v[0] - v[1], v[1] * 2.0}; });
  const Graph g = vmap(f, registry(), {.in_axes = {1, -1}, .out_axes = {1, -1}, .size = 3});
  const auto y = run(g, {{1, 2, 3, 4, 5, 6}, {10, 20}});
  EXPECT_EQ(y[0], (Doubles{-9, -8, -7, -16, -15, -14}));
  EXPECT_EQ(y[1], (Doubles{20, 40}));
  EXPECT_EQ(run(vmap(f, registry(), {.in_axes = {0, -1}, .size = 2}), {{1, 2, 3, 4}, {10, 20}})[1],
            (Doubles{20, 40, 20, 40}));
  EXPECT_THROW(vmap(f, registry(), {.out_axes = {0, -1}, .size = 2}), ArgumentError);
  EXPECT_THROW(vmap(f, registry(), {.in_axes = {2, 0}, .size = 2}), ArgumentError);
  EXPECT_THROW(vmap(f, registry(), {.in_axes = {0}, .size = 2}), ArgumentError);
}

TEST(Vmap, OfAGradientGivesOneAMember) {
  const Graph loss = graph_of({f64({4, 3}), f64({4}), f64({3})}, [](ValuesIn v) {
    const Value r = tanh(matmul(v[0], reshape(v[2], {3, 1}))) - reshape(v[1], {4, 1});
    return Values{sum_all(r * r)};
  });
  const Graph one = transform::grad(loss, registry(), {.wanted = {true, false, true}});
  const Graph all = vmap(one, registry(), {.in_axes = {-1, -1, 0}, .size = 5});
  const Doubles w = random_doubles(12, 1), t = random_doubles(4, 2), x = random_doubles(15, 3);
  const auto got = run(all, {w, t, x});
  std::vector<Doubles> wanted(3);
  for (std::size_t m = 0; m < 5; ++m) {
    const auto y = run(one, {w, t,
                             Doubles(x.begin() + static_cast<std::ptrdiff_t>(3 * m),
                                     x.begin() + static_cast<std::ptrdiff_t>(3 * m + 3))});
    for (std::size_t i = 0; i < 3; ++i) wanted[i].insert(wanted[i].end(), y[i].begin(), y[i].end());
  }
  for (std::size_t i = 0; i < 3; ++i) expect_near(got[i], wanted[i], 1e-13);
}

TEST(Vmap, NestsAndTakesSymbolicSizes) {
  const Graph f = graph_of({f64({2}), f64({2})}, [](ValuesIn v) { return Values{sum_all(v[0] * v[1])}; });
  const Graph rows = vmap(f, registry(), {.in_axes = {0, -1}, .size = 3});
  const Graph products = vmap(rows, registry(), {.in_axes = {-1, 0}, .out_axes = {1}, .size = 2});
  EXPECT_EQ(run(products, {{1, 2, 3, 4, 5, 6}, {1, 0, 0, 1}})[0], (Doubles{1, 2, 3, 4, 5, 6}));
  const Graph any = vmap(f, registry(), {.size = Dim::symbol("batch")});
  verify(any, Level::hir);
  const HostValue in[] = {HostTensor::from(DType::f64, {2, 2}, Doubles{1, 2, 3, 4}),
                          HostTensor::from(DType::f64, {2, 2}, Doubles{1, 1, 2, 2})};
  EXPECT_EQ(elements(evaluate(any, registry(), in)[0]), (Doubles{3, 14}));
}

}  // namespace
}  // namespace rlx
