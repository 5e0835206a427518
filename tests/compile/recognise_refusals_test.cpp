// What the recognition pass leaves as it is: what computes something else, and what others use.
#include "written_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace rlx::written_out {
namespace {

TEST(Recognise, NotWithoutTheMaximum) {
  EXPECT_TRUE(stays(graph_of(f32({4, 5}), [](Value x) {
    const Value e = ops::exp(x);
    return ops::div(e, ops::reduce_sum(e, {1}, true));
  })));
  EXPECT_TRUE(stays(graph_of(f32({4, 5}), [](Value x) { return ops::log(ops::reduce_sum(ops::exp(x), {1})); })));
  // A maximum that is not finite is subtracted: NaN where logsumexp is infinite.
  EXPECT_TRUE(stays(graph_of(f32({4, 5}), [](Value x) {
    const Value top = ops::reduce_max(x, {1}, true);
    return ops::add(ops::log(ops::reduce_sum(ops::exp(ops::sub(x, top)), {1}, true)), top);
  })));
}

TEST(Recognise, NotWhereAnInnerValueIsUsedOutside) {
  EXPECT_TRUE(stays(parsed(softmax_text(", %9 \"e\""))));
  EXPECT_FALSE(stays(parsed(softmax_text())));
  EXPECT_TRUE(stays(graph_of(std::vector<Type>{f32({4, 5})}, [](ValuesIn v) {
    const Value d = ops::sub(v[0], ops::reduce_max(v[0], {1}, true)), e = ops::exp(d);
    return Values{ops::div(e, ops::reduce_sum(e, {1}, true)), ops::sin(d)};
  })));
}

TEST(Recognise, NotAlongOtherAxes) {
  EXPECT_TRUE(stays(graph_of(f32({4, 4}), [](Value x) {
    const Value e = ops::exp(ops::sub(x, ops::reduce_max(x, {1}, true)));
    return ops::div(e, ops::reduce_sum(e, {0}, true));
  })));
  // The rows' sums laid along the columns of a square.
  EXPECT_TRUE(stays(graph_of(f32({4, 4}), [](Value x) {
    const Value e = ops::exp(ops::sub(x, ops::reduce_max(x, {1}, true)));
    return ops::div(e, ops::broadcast(ops::reduce_sum(e, {1}), {4, 4}, {1}));
  })));
  // The mean of the first dimension; layer_norm's is the last.
  const Graph g = graph_of({f32({8, 8}), f32({8}), f32({8})}, [](ValuesIn v) {
    const Value d =
        ops::sub(v[0], ops::div(ops::reduce_sum(v[0], {0}, true), ops::scalar(*v[0].builder, DType::f32, 8)));
    const Value s = ops::div(ops::reduce_sum(ops::mul(d, d), {0}, true), ops::scalar(*v[0].builder, DType::f32, 8));
    return Values{
        ops::add(ops::mul(ops::mul(d, ops::rsqrt(ops::add(s, ops::scalar(*d.builder, DType::f32, 1)))), v[1]), v[2])};
  });
  const Nodes nodes = recognised(g);
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const std::string& n) { return n.starts_with("mean"); }), 2);
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const std::string& n) { return n.starts_with("layer"); }), 0);
}

TEST(Recognise, NotWithOtherConstants) {
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) { return mean_by_hand(x, {1}, false, 6); })));
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) {  // The least maximum is 0.
    const Value zero = ops::scalar(*x.builder, DType::f32, 0);
    const Value top = ops::max(zero, ops::reduce_max(x, {1}));
    const Value e = ops::exp(ops::sub(x, ops::broadcast(top, {2, 5}, {0})));
    return ops::div(e, ops::reduce_sum(e, {1}, true));
  })));
  // The deviations are from another number than the mean.
  EXPECT_EQ(recognised(graph_of(f32({2, 5}),
                                [](Value x) {
                                  const Value d = ops::sub(x, mean_by_hand(x, {1}, true, 4));
                                  return mean_by_hand(ops::mul(d, d), {1}, false, 5);
                                }))
                .back(),
            "mean{axes = [1]}");
}

TEST(Recognise, NotWithOtherOperators) {
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) {
    const Value e = ops::exp(ops::sub(x, ops::reduce_min(x, {1}, true)));
    return ops::div(e, ops::reduce_sum(e, {1}, true));
  })));
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) {  // The wrong way round.
    const Value e = ops::exp(ops::sub(x, ops::reduce_max(x, {1}, true)));
    return ops::div(ops::reduce_sum(e, {1}, true), e);
  })));
  EXPECT_TRUE(stays(graph_of(std::vector<Type>{f32({2, 5}), f32({2, 5})}, [](ValuesIn v) {  // Of two tensors.
    const Value e = ops::exp(ops::sub(v[0], ops::reduce_max(v[1], {1}, true)));
    return Values{ops::div(e, ops::reduce_sum(e, {1}, true))};
  })));
  // A division by the root rounds otherwise than a product with rsqrt.
  const Nodes nodes = recognised(graph_of({f32({4, 8}), f32({8}), f32({8})}, [](ValuesIn v) {
    const Value d = ops::sub(v[0], ops::mean(v[0], {1}, true)), square = ops::mean(ops::mul(d, d), {1}, true);
    const Value y = ops::div(d, ops::sqrt(ops::add(square, ops::scalar(*d.builder, DType::f32, 1e-5))));
    return Values{ops::add(ops::mul(y, v[1]), v[2])};
  }));
  EXPECT_EQ(nodes.back(), "add");
}

TEST(Recognise, NotOfIntegers) {
  EXPECT_TRUE(stays(graph_of(i32({2, 5}), [](Value x) { return mean_by_hand(x, {1}, false, 5); })));
}

}  // namespace
}  // namespace rlx::written_out
