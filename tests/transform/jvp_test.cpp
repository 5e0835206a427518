#include "support.hpp"

namespace rlx {
namespace {

using namespace ops;
using transform::jvp;

TEST(Jvp, PushesOnlyWhatHasATangent) {
  const Graph f = graph_of({f64({2}), f64({2})}, [](ValuesIn v) { return Values{v[0] * v[1], exp(v[1])}; });
  const Graph g = jvp(f, registry(), {.tangents = {true, false}});
  EXPECT_EQ(g.input_names, (std::vector<std::string>{"x0", "x1", "t_x0"}));
  EXPECT_EQ(g.output_names, (std::vector<std::string>{"y0", "y1", "t_y0", "t_y1"}));
  const auto y = run(g, {{1, 2}, {3, 4}, {10, 20}});
  EXPECT_EQ(y[2], (Doubles{30, 80}));
  EXPECT_EQ(y[3], (Doubles{0, 0}));
}

TEST(Jvp, HigherOrdersNest) {
  // The third derivative of x^4 along 1, 1, 1.
  Graph g = graph_of({f64({})}, [](ValuesIn v) { return Values{v[0] * v[0] * v[0] * v[0]}; });
  for (int i = 0; i < 3; ++i) {
    std::vector<bool> first(g.inputs().size(), false);
    first[0] = true;
    g = jvp(g, registry(), {.tangents = first, .with_outputs = false});
  }
  expect_near(run(g, {{1.5}, {1}, {1}, {1}})[0], {24 * 1.5}, 1e-13);
}

TEST(Jvp, IntegersHaveNone) {
  const Graph f = graph_of({f64({3})}, [](ValuesIn v) {
    const Value rank = convert(v[0], DType::i32);
    return Values{convert(rank, DType::f64) + v[0], rank};
  });
  const Graph g = jvp(f, registry());
  EXPECT_EQ(g.output_names, (std::vector<std::string>{"y0", "y1", "t_y0"}));
  EXPECT_EQ(run(g, {{1.5, 2.5, 3.5}, {1, 2, 3}})[2], (Doubles{1, 2, 3}));
}

TEST(Jvp, IsLinearInTheTangent) {
  const Graph f = graph_of({f64({4})}, [](ValuesIn v) { return Values{cumsum(sin(v[0]), 0), softmax(v[0], 0)}; });
  check_derivatives(f, random_inputs(f, 11));
  const Graph g = jvp(f, registry(), {.with_outputs = false});
  const Doubles x = random_doubles(4, 1), u = random_doubles(4, 2), v = random_doubles(4, 3);
  const auto a = run(g, {x, u}), b = run(g, {x, v}), both = run(g, {x, plus({u}, {v}, 2)[0]});
  for (std::size_t i = 0; i < a.size(); ++i) expect_near(both[i], plus({a[i]}, {b[i]}, 2)[0], 1e-13);
}

}  // namespace
}  // namespace rlx
