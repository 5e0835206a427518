// Derivatives of reductions and prefixes whose partial results or results are wider than the operands.
#include "support.hpp"

namespace rlx {
namespace {

using namespace ops;

Value combined_by(Value (*f)(Value, Value), double neutral, Value x, ReduceAttrs a) {
  const Value none = scalar(*x.builder, x.dtype(), neutral);
  return reduce({&x, 1}, {&none, 1}, std::move(a), [f](ValuesIn v) { return Values{f(v[0], v[1])}; })[0];
}
Value prefixes_by(Value (*f)(Value, Value), double neutral, Value x, AssociativeScanAttrs a) {
  const Value none = scalar(*x.builder, x.dtype(), neutral);
  return associative_scan({&x, 1}, {&none, 1}, std::move(a), [f](ValuesIn v) { return Values{f(v[0], v[1])}; })[0];
}
Graph of_f16(std::int64_t n, const std::function<Value(Value)>& f) {
  return graph_of({f16({n})}, [&](ValuesIn v) { return Values{f(v[0])}; });
}
DType type_of_output(const Graph& g, std::size_t k) { return g.tensor_type(g.outputs().at(k)).dtype; }

const ReduceAttrs wide{.axes = {0}, .result = {DType::f32}};
const AssociativeScanAttrs wide_prefixes{.result = {DType::f32}};

TEST(Accumulate, CotangentsHaveTheOperandsTypeAndTangentsTheResults) {
  for (const Graph& f : {of_f16(3, [](Value x) { return combined_by(add, 0, x, wide); }),
                         of_f16(3, [](Value x) { return combined_by(mul, 1, x, wide); }),
                         of_f16(3, [](Value x) { return combined_by(max, -INFINITY, x, wide); }),
                         of_f16(3, [](Value x) { return prefixes_by(add, 0, x, wide_prefixes); }),
                         of_f16(3, [](Value x) { return prefixes_by(mul, 1, x, wide_prefixes); }),
                         of_f16(3, [](Value x) { return prefixes_by(min, INFINITY, x, wide_prefixes); })}) {
    EXPECT_EQ(type_of_output(f, 0), DType::f32);
    const Graph back = transform::vjp(f, registry()), forth = transform::jvp(f, registry());
    verify(back, Level::hir);
    verify(forth, Level::hir);
    EXPECT_EQ(type_of_output(back, 1), DType::f16);
    EXPECT_EQ(type_of_output(forth, 1), DType::f32);
  }
}

// y = the sum of x_i is linear: a tangent is its sum, in f32, where f16 would stop at 2048; a cotangent goes to every
// x.
TEST(Accumulate, SumsAreLinear) {
  const Graph f = of_f16(4, [](Value x) { return combined_by(add, 0, x, {.axes = {0}}); });
  const Doubles x{1, 2, 3, 4}, t{2048, 1, 1, 2};
  expect_near(run(transform::jvp(f, registry()), {x, t})[1], {2052}, 0);
  expect_near(run(transform::vjp(f, registry()), {x, {0.375}})[1], {0.375, 0.375, 0.375, 0.375}, 0);
  const Graph s = of_f16(4, [](Value v) { return prefixes_by(add, 0, v, {}); });
  expect_near(run(transform::jvp(s, registry()), {x, t})[1], {2048, 2048, 2050, 2052}, 0);
  expect_near(run(transform::vjp(s, registry()), {x, {2, 1, 1, 2048}})[1], {2052, 2050, 2048, 2048},
              0);  // ties to even
}

// The others' product passes 90000, which f16 does not hold, on the way to 351.5625: d y / d x_i = y / x_i. Rounded to
// f16 once, it is off by 2^-11 of itself.
TEST(Accumulate, SlopesOfProductsDoNotOverflow) {
  const Doubles x{300, 300, 0x1p-8, 0x1p-8};
  const double y = 300 * 300 * 0x1p-16;
  Doubles slopes;
  for (double v : x) slopes.push_back(y / v);
  const auto expect_slopes = [](const Doubles& got, const Doubles& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i] / wanted[i], 1, 0x1p-11) << i;
  };
  const Graph f = of_f16(4, [](Value v) { return combined_by(mul, 1, v, {.axes = {0}}); });
  expect_slopes(run(transform::vjp(f, registry()), {x, {1}})[1], slopes);
  expect_slopes(run(transform::jvp(f, registry()), {x, {0, 0, 0, 1}})[1], {slopes[3]});
  // The last prefix alone: the same product.
  const Graph s = of_f16(4, [](Value v) { return prefixes_by(mul, 1, v, {}); });
  expect_slopes(run(transform::vjp(s, registry()), {x, {0, 0, 0, 1}})[1], slopes);
}

// A maximum that 2049 elements attain: each has that share of its cotangent, and not a 2048th, which is what f16
// counts.
TEST(Accumulate, SharesOfAnExtremumAreCounted) {
  constexpr std::int64_t n = 2049;
  const Graph f = of_f16(n, [](Value v) { return combined_by(max, -INFINITY, v, {.axes = {0}}); });
  const Doubles ones(n, 1), share(n, round_to(DType::f16, static_cast<float>(1) / static_cast<float>(n)));
  EXPECT_EQ(run(transform::vjp(f, registry()), {ones, {1}})[1], share);
}

// In f64 the rules are those of ever: against differences.
TEST(Accumulate, AgreesWithDifferences) {
  const Graph f = graph_of({f64({3, 4})}, [](ValuesIn v) {
    const ReduceAttrs a{.axes = {1}, .accumulate = {DType::f64}, .result = {DType::f64}};
    const AssociativeScanAttrs s{.axis = 1, .accumulate = {DType::f64}, .result = {DType::f64}};
    return Values{combined_by(add, 0, v[0], a), combined_by(mul, 1, v[0], a), prefixes_by(mul, 1, v[0], s)};
  });
  check_derivatives(f, random_inputs(f, 7));
}

// A batch keeps both types.
TEST(Accumulate, Batches) {
  const Graph f = of_f16(3, [](Value x) { return combined_by(add, 0, x, wide); });
  const Graph g = transform::vmap(f, registry(), {.size = 2});
  EXPECT_EQ(to_string(g.type(g.outputs()[0])), "f32[2]");
  expect_near(run(g, {{2048, 1, 0.5, 1, 2, 3}})[0], {2049.5, 6}, 0);
}

}  // namespace
}  // namespace rlx
