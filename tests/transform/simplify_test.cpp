#include "support.hpp"

#include <cmath>

namespace rlx {
namespace {

using namespace ops;
using transform::simplify;

std::size_t nodes(const Graph& g) { return g.region(Graph::top).nodes.size(); }

Graph simple(const Types& in, const std::function<Values(ValuesIn)>& body) {
  const Graph g = simplify(graph_of(in, body), registry());
  verify(g, Level::hir);
  return g;
}

TEST(Simplify, MergesEqualNodesAndDropsDeadOnes) {
  const Graph g = simple({f64({3}), f64({3})}, [](ValuesIn v) {
    tanh(v[1]);
    return Values{exp(v[0]) * exp(v[0]), exp(v[0])};
  });
  EXPECT_EQ(nodes(g), 2u);
  EXPECT_EQ(g.inputs().size(), 2u);
}

TEST(Simplify, DoesNotMergeZerosOfDifferentSign) {
  const Graph g = simple(
      {f64({})}, [](ValuesIn v) { return Values{div(v[0], full_like(v[0], 0.0)), div(v[0], full_like(v[0], -0.0))}; });
  const auto y = run(g, {{1}});
  EXPECT_EQ(y[0][0], INFINITY);
  EXPECT_EQ(y[1][0], -INFINITY);
}

TEST(Simplify, IdentitiesThatHoldForEveryValue) {
  const auto none = [](const std::function<Value(Value)>& f) {
    return nodes(simple({f64({2, 3})}, [&](ValuesIn v) { return Values{f(v[0])}; }));
  };
  EXPECT_EQ(none([](Value x) { return x * 1.0; }), 0u);
  EXPECT_EQ(none([](Value x) { return 1.0 * x; }), 0u);
  EXPECT_EQ(none([](Value x) { return x / 1.0; }), 0u);
  EXPECT_EQ(none([](Value x) { return x - 0.0; }), 0u);
  EXPECT_EQ(none([](Value x) { return x + -0.0; }), 0u);
  EXPECT_EQ(none([](Value x) { return neg(neg(x)); }), 0u);
  EXPECT_EQ(none([](Value x) { return transpose(transpose(x, {1, 0}), {1, 0}); }), 0u);
  EXPECT_EQ(none([](Value x) { return reshape(reshape(x, {6}), {2, 3}); }), 0u);
  EXPECT_EQ(none([](Value x) { return broadcast(x, {2, 3}, {0, 1}); }), 0u);
  EXPECT_EQ(none([](Value x) { return slice(x, {0, 0}, {2, 3}); }), 0u);
  EXPECT_EQ(none([](Value x) { return select(compare(x, x, Direction::lt), x, x); }), 0u);
  EXPECT_EQ(none([](Value x) { return broadcast(broadcast(x, {2, 3, 4}, {0, 1}), {5, 2, 3, 4}, {1, 2, 3}); }), 1u);
}

TEST(Simplify, AndNotThoseThatDoNot) {
  const Graph plus_zero = simple({f64({})}, [](ValuesIn v) { return Values{v[0] + 0.0}; });
  EXPECT_EQ(count_of(plus_zero, "add"), 1u);
  EXPECT_FALSE(std::signbit(run(plus_zero, {{-0.0}})[0][0]));
  EXPECT_EQ(count_of(simple({f64({})}, [](ValuesIn v) { return Values{-0.0 - v[0]}; }), "sub"), 1u);
  EXPECT_EQ(count_of(simple({f64({})}, [](ValuesIn v) { return Values{v[0] * 0.0}; }), "mul"), 1u);
  EXPECT_EQ(count_of(simple({c128({})}, [](ValuesIn v) { return Values{v[0] * full_like(v[0], 1)}; }), "mul"), 1u);
}

TEST(Simplify, FoldsConstants) {
  const Graph g = simple({f64({2, 3})}, [](ValuesIn v) {
    const Value two = full_like(v[0], 2), three = full_like(v[0], 3);
    return Values{v[0] * transpose(reshape(two * three - two, {3, 2}), {1, 0})};
  });
  EXPECT_EQ(nodes(g), 3u) << print(g);  // constant, broadcast, mul
  EXPECT_EQ(run(g, {{1, 2, 3, 4, 5, 6}})[0], (Doubles{4, 8, 12, 16, 20, 24}));
  EXPECT_EQ(count_of(simple({}, [](ValuesIn) { return Values{}; }), "add"), 0u);
}

TEST(Simplify, ConstantPredicateLeavesOneBranch) {
  Graph g("f");
  Builder b(g, registry());
  const Value x = b.input(f64({}), "x");
  const Value yes = constant(b, HostTensor::scalar(DType::boolean, 1));
  const Values r =
      if_(yes, {&x, 1}, [](ValuesIn a) { return Values{exp(a[0])}; }, [](ValuesIn a) { return Values{sin(a[0])}; });
  b.output(r[0] * exp(x), "y");
  const Graph s = simplify(g, registry());
  verify(s, Level::hir);
  EXPECT_EQ(count_of(s, "if"), 0u);
  EXPECT_EQ(count_of(s, "exp"), 1u);
  EXPECT_EQ(count_of(s, "sin"), 0u);
}

TEST(Simplify, DeadStateOfLoopsGoes) {
  const Graph g = simple({f64({}), f64({}), f64({4})}, [](ValuesIn v) {
    const Values state{v[0], v[1]};
    const Values r =
        scan(state, {&v[2], 1}, {}, [](ValuesIn a) { return Values{a[0] + a[2], sin(a[1]), exp(a[1]), a[0]}; });
    return Values{r[0]};
  });
  EXPECT_EQ(count_of(g, "sin") + count_of(g, "exp"), 0u);
  for (NodeId n : g.region(Graph::top).nodes)
    if (g.node(n).op->name() == "scan") { EXPECT_EQ(g.node(n).results.size(), 1u); }
  EXPECT_EQ(run(g, {{1}, {2}, {1, 2, 3, 4}})[0], (Doubles{11}));
}

TEST(Simplify, IsIdempotent) {
  const Graph f = graph_of({f64({3}), f64({3})}, [](ValuesIn v) { return Values{sum_all(tanh(v[0] * v[1]) * v[0])}; });
  const Graph once = transform::grad(f, registry());
  EXPECT_EQ(print(simplify(once, registry())), print(once));
}

// What a check refuses is seen although nothing uses what it passes on.
TEST(Simplify, KeepsChecks) {
  Graph g("g");
  Builder b(g, registry());
  const Value x = b.input(i64({3}), "x");
  ops::check_within(x, ops::scalar(b, DType::i64, 7), {.what = "position"});
  ops::add(x, x);  // Used by nothing, and dropped.
  b.output(x, "y");
  const Graph s = simplify(g, registry());
  std::vector<std::string> names;
  for (NodeId n : s.region(Graph::top).nodes) names.emplace_back(s.node(n).op->name());
  EXPECT_EQ(names, (std::vector<std::string>{"constant", "check_within"}));
}

}  // namespace
}  // namespace rlx
