// What the elementwise sugar adds to the operators: broadcasting, scalars, and nodes that need not be.
#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/ops/register.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

// By name: `using namespace` would make exp and its like ambiguous with those of <cmath>.
using ops::operator+, ops::operator-, ops::operator*, ops::operator/;

const Registry& registry() {
  static const Registry r = [] {
    Registry ops;
    ops::register_ops(ops);
    return ops;
  }();
  return r;
}

TEST(ElementwiseSugar, BroadcastsByNumpysRule) {
  Graph g;
  Builder b(g, registry());
  const Dim n = Dim::symbol("n");
  const Value row = b.input(f32({n}), "row"), column = b.input(f32({4, 1}), "column"), one = b.input(f32({}), "one");
  EXPECT_EQ((row + column).shape(), (Shape{4, n}));
  EXPECT_EQ((one * column).shape(), (Shape{4, 1}));
  EXPECT_EQ((2.0 - row).shape(), (Shape{n}));
  EXPECT_EQ(ops::clamp(one, column, row).shape(), (Shape{4, n}));
  EXPECT_EQ(ops::select(ops::compare(row, 0.0 * row, ops::Direction::gt), one, column).shape(), (Shape{4, n}));
  const std::size_t nodes = g.node_count();
  EXPECT_EQ(ops::add(row, row).shape(), (Shape{n}));
  EXPECT_EQ(g.node_count(), nodes + 1);
  EXPECT_THROW(b.input(f32({3}), "three") + b.input(f32({2}), "two"), VerifyError);
  EXPECT_THROW(row + b.input(f64({n}), "wide"), VerifyError);
  EXPECT_THROW(ops::exp(Value{}), InternalError);
}

TEST(ElementwiseSugar, NeedsNoNodeForWhatIsKnown) {
  Graph g;
  Builder b(g, registry());
  const Value x = b.input(f32({2}), "x"), z = b.input(c64({2}), "z");
  EXPECT_EQ(ops::conj(x).id, x.id);
  EXPECT_EQ(ops::real(x).id, x.id);
  EXPECT_EQ(ops::convert(x, DType::f32).id, x.id);
  EXPECT_EQ(ops::bitcast(x, DType::f32).id, x.id);
  EXPECT_EQ(g.node_count(), 0u);
  EXPECT_EQ(ops::imag(x).dtype(), DType::f32);
  EXPECT_EQ(ops::imag(z).dtype(), DType::f32);
  EXPECT_EQ(ops::conj(z).dtype(), DType::c64);
  EXPECT_EQ(ops::abs(z).dtype(), DType::f32);
  EXPECT_EQ(ops::iota(b, DType::i64, {3, 2}, 1).shape(), (Shape{3, 2}));
  EXPECT_EQ(ops::full(b, DType::bf16, {3}, 2).shape(), (Shape{3}));
}

TEST(ElementwiseSugar, ScalarsTakeTheOtherOperandsType) {
  Graph g;
  Builder b(g, registry());
  const Value x = b.input(f16({2}), "x");
  b.output((1.0 - x) * 2 / (x + 0.5) - 1, "y");
  const HostValue in = HostTensor::from(DType::f16, {2}, std::vector<double>{0.5, -1});
  const HostTensor y = std::get<HostTensor>(evaluate(g, registry(), {&in, 1})[0]);
  EXPECT_EQ(y, HostTensor::from(DType::f16, {2}, std::vector<double>{0, -9}));
}

}  // namespace
}  // namespace rlx
