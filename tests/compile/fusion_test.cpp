// Which nodes share a kernel, and that programs which tempt fusion into a cycle or a stale read still give their
// values.
#include "compile/lower/fusion.hpp"
#include "catalog.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace rlx {
namespace {

HostTensor ramp(std::int64_t n) {
  HostTensor t(DType::f64, {n});
  for (std::int64_t i = 0; i < n; ++i) t.set_f64(i, 0.25 * static_cast<double>(i) - 1);
  return t;
}

// Every device gives what the references give; elementwise results exactly, sums within rounding of 1e-13 of their
// scale.
void expect_same(const Graph& g) {
  HostValues in;
  for (ValueId v : g.inputs()) in.push_back(ramp(g.tensor_type(v).numel().constant()));
  const HostValues expected = evaluate(g, catalog().operators, in);
  for (const bool fuse : {true, false}) {
    const runtime::Executable e(runtime::open_device("cpu"), g, catalog(), {.checked = false, .fuse = fuse});
    const HostValues got = e.run(in);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto &a = std::get<HostTensor>(got[k]), &b = std::get<HostTensor>(expected[k]);
      for (std::int64_t i = 0; i < a.numel(); ++i)
        EXPECT_NEAR(a.get_f64(i), b.get_f64(i), 1e-13 * (1 + std::abs(b.get_f64(i))))
            << "output " << k << " element " << i;
    }
  }
}

TEST(Fusion, ElementwiseChainIsOneKernel) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({100}), "x");
  b.output(ops::mul(ops::add(ops::exp(x), x), x), "y");
  EXPECT_EQ(compile::fuse(g, Graph::top).kernels.size(), 1u);
  EXPECT_EQ(compile::fuse(g, Graph::top, {.enabled = false}).kernels.size(), 3u);
  expect_same(g);
}

// Compile time grows faster than the size of a function, so kernels have a bound; dear operators count for more.
TEST(Fusion, LongChainsAreCut) {
  const auto kernels = [](int length, Value (*f)(Value, Value)) {
    Graph g;
    Builder b(g, catalog().operators);
    const Value x = b.input(f64({100}), "x");
    Value y = x;
    for (int i = 0; i < length; ++i) y = f(y, x);
    b.output(y, "y");
    return compile::fuse(g, Graph::top).kernels.size();
  };
  const auto cheap = [](Value y, Value x) { return ops::add(y, x); };
  const auto dear = [](Value y, Value) { return ops::sin(y); };
  EXPECT_EQ(kernels(300, cheap), 1u);
  EXPECT_GE(kernels(2000, cheap), 5u);
  EXPECT_LE(kernels(2000, cheap), 8u);
  EXPECT_EQ(kernels(30, dear), 1u);
  EXPECT_GE(kernels(2000, dear), 40u);
}

TEST(Fusion, SiblingsThatReadTheSameValueShareAKernel) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({100}), "x");
  b.output(ops::exp(x), "y");
  b.output(ops::sin(x), "z");
  EXPECT_EQ(compile::fuse(g, Graph::top).kernels.size(), 1u);
  expect_same(g);
}

// a feeds a sum that feeds c; k reads a as well. Once a and k are one kernel, c needs it by way of the sum and must
// stay out.
TEST(Fusion, AValueThatNeedsTheKernelByWayOfAnotherStaysOut) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({50}), "x");
  const Value a = ops::exp(x);
  const Value c = ops::mul(x, ops::broadcast_to(ops::sum_all(a), {50}));
  const Value k = ops::add(a, x);
  b.output(a, "a");
  b.output(c, "c");
  b.output(k, "k");
  expect_same(g);
}

// The reversed value must be complete before it is read: no kernel may compute both.
TEST(Fusion, AReadAtAnotherPositionKeepsKernelsApart) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({33}), "x");
  const Value y = ops::tanh(ops::exp(x));
  b.output(y, "y");
  b.output(ops::add(y, ops::reverse(y, {0})), "z");
  EXPECT_EQ(compile::fuse(g, Graph::top).kernels.size(), 2u);
  expect_same(g);
}

// State updated in place: the new x needs the old p, the new p the old x, and one of them is a swap.
TEST(Fusion, LoopsThatExchangeTheirState) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({40}), "x"), y = b.input(f64({40}), "y");
  const Values state{ops::scalar(b, DType::i32, 0), x, y, ops::add(x, y)};
  const Values out = ops::while_(
      state, {},
      [](ValuesIn v) -> Values {
        return {ops::compare(v[0], ops::scalar(*v[0].builder, DType::i32, 5), ops::Direction::lt)};
      },
      [](ValuesIn v) -> Values {
        const Value next = ops::add(ops::mul(v[1], ops::full_like(v[1], 0.5)), v[3]);
        return {ops::add(v[0], ops::scalar(*v[0].builder, DType::i32, 1)), v[2], v[1],
                ops::sub(next, ops::reverse(v[3], {0}))};
      });
  for (int i = 1; i < 4; ++i) b.output(out[static_cast<std::size_t>(i)], "s" + std::to_string(i));
  expect_same(g);
}

// Both states change in one kernel, and the second needs the first as it was.
TEST(Fusion, StateUpdatedInPlaceIsReadBefore) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({16}), "x"), y = b.input(f64({16}), "y");
  const Values state{ops::scalar(b, DType::i32, 0), x, y};
  const Values out = ops::while_(
      state, {},
      [](ValuesIn v) -> Values {
        return {ops::compare(v[0], ops::scalar(*v[0].builder, DType::i32, 3), ops::Direction::lt)};
      },
      [](ValuesIn v) -> Values {
        return {ops::add(v[0], ops::scalar(*v[0].builder, DType::i32, 1)), ops::add(v[2], v[2]), ops::add(v[1], v[2])};
      });
  b.output(out[1], "a");
  b.output(out[2], "b");
  expect_same(g);
}

// A branch that reads the buffer of its own predicate, inside a loop whose state that predicate becomes.
TEST(Fusion, BranchCapturesTheStateOfItsLoop) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({8}), "x");
  const Values state{ops::scalar(b, DType::i32, 0), ops::scalar(b, DType::boolean, 1), x};
  const Values out = ops::while_(
      state, {},
      [](ValuesIn v) -> Values {
        return {ops::compare(v[0], ops::scalar(*v[0].builder, DType::i32, 4), ops::Direction::lt)};
      },
      [](ValuesIn v) -> Values {
        const Value flip = ops::logical_not(v[1]);
        const Values operands{v[2], flip};
        const Value next = ops::if_(
            flip, operands,
            [](ValuesIn a) -> Values {
              return {ops::add(a[0], ops::convert(ops::broadcast_to(a[1], {8}), DType::f64))};
            },
            [](ValuesIn a) -> Values { return {ops::mul(a[0], a[0])}; })[0];
        return {ops::add(v[0], ops::scalar(*v[0].builder, DType::i32, 1)), flip, next};
      });
  b.output(out[2], "y");
  expect_same(g);
}

TEST(Fusion, AReshapedIotaKeepsItsOwnPositions) {
  for (int axis : {0, 1}) {
    Graph g;
    Builder b(g, catalog().operators);
    const Value x = b.input(f64({8}), "x");
    b.output(ops::add(x, ops::reshape(ops::iota(b, DType::f64, {2, 4}, axis), {8})), "y");
    expect_same(g);
  }
}

// Windows that overlap: each element is the sum of many updates, which only an order without races gives exactly.
TEST(Fusion, ScatterOfOverlappingWindowsAddsEveryUpdate) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({64}), "x");
  const Value updates = ops::full(b, DType::f64, {5000, 32}, 1);
  const Value starts = ops::rem(ops::iota(b, DType::i32, {5000, 1}, 0), ops::full(b, DType::i32, {5000, 1}, 33));
  b.output(ops::scatter(ops::zeros_like(x), starts, updates,
                        {.update_window_dims = {1},
                         .scatter_dims_to_operand_dims = {0},
                         .index_vector_dim = 1,
                         .kind = ops::Combine::add}),
           "y");
  expect_same(g);
}

TEST(Fusion, OffsetsOutsideTheSegmentsAreLimited) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({4}), "x");
  HostTensor offsets(DType::i32, {3});
  offsets.set_i64(0, -7);
  offsets.set_i64(1, 2);
  offsets.set_i64(2, 50000);
  b.output(ops::segment_reduce(x, ops::constant(b, offsets), ops::Combine::add), "y");
  expect_same(g);
}

TEST(Fusion, MoreTripsThanPromisedAreAnError) {
  Graph g;
  Builder b(g, catalog().operators);
  const Value x = b.input(f64({}), "x");
  const Values state{x};
  b.output(ops::while_(
               state, {},
               [](ValuesIn v) -> Values {
                 return {ops::compare(v[0], ops::scalar(*v[0].builder, DType::f64, 10), ops::Direction::lt)};
               },
               [](ValuesIn v) -> Values { return {ops::add(v[0], ops::scalar(*v[0].builder, DType::f64, 1))}; }, 3)[0],
           "y");
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  const HostValues in{HostTensor::scalar(DType::f64, 0)};
  EXPECT_THROW(e.run(in), NumericalError);
}

}  // namespace
}  // namespace rlx
