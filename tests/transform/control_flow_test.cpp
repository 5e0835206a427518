// Derivatives and batches of if, while and scan, alone, nested and repeated, against formulas worked out by hand.
#include "support.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/ir/op.hpp>

#include <cmath>

namespace rlx {
namespace {

using namespace ops;
using transform::grad;
using transform::jvp;
using transform::simplify;
using transform::vjp;
using transform::vmap;

/// x0 * x1^n by a loop of n = x2 trips.
Graph power(std::int64_t max_trips, bool f64_count = false) {
  const DType t = f64_count ? DType::f64 : DType::i32;
  return graph_of({f64({}), f64({}), tensor(t, {})}, [&](ValuesIn v) {
    const Values state{v[0], zeros_like(v[2])}, invariants{v[1], v[2]};
    return Values{while_(
        state, invariants, [](ValuesIn a) { return Values{compare(a[1], a[3], Direction::lt)}; },
        [](ValuesIn a) { return Values{a[0] * a[2], a[1] + 1.0}; }, max_trips)[0]};
  });
}

/// s' = sin(s) * k + e, stacked outputs s * e, over x1 [5, 2] from x0 [2] with invariant x2 [2].
Graph recurrence(bool reverse) {
  return graph_of({f64({2}), f64({5, 2}), f64({2})}, [&](ValuesIn v) {
    return scan(
        {&v[0], 1}, {&v[1], 1}, {&v[2], 1}, [](ValuesIn a) { return Values{sin(a[0]) * a[2] + a[1], a[0] * a[1]}; },
        reverse);
  });
}

/// x1 > 0 ? sin(x0) x1 : x0^2, and x0 itself.
Graph branches() {
  return graph_of({f64({}), f64({})}, [](ValuesIn v) {
    const Values in{v[0], v[1]};
    return if_(
        compare(v[1], zeros_like(v[1]), Direction::gt), in, [](ValuesIn a) { return Values{sin(a[0]) * a[1], a[0]}; },
        [](ValuesIn a) { return Values{a[0] * a[0], a[0]}; });
  });
}

TEST(ControlFlow, WhileInReverse) {
  const Graph g = grad(power(5), registry());
  for (double n : {0.0, 1.0, 3.0, 5.0}) {
    const auto y = run(g, {{1.5}, {0.7}, {n}});
    expect_near(y[0], {1.5 * std::pow(0.7, n)}, 1e-14);
    expect_near(y[1], {std::pow(0.7, n)}, 1e-14);
    expect_near(y[2], {n == 0 ? 0 : 1.5 * n * std::pow(0.7, n - 1)}, 1e-14);
  }
}

TEST(ControlFlow, WhileWithoutBoundIsRefusedInReverseOnly) {
  try {
    grad(power(-1), registry());
    ADD_FAILURE();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.op(), "while");
    EXPECT_EQ(e.constraint(), "vjp");
    EXPECT_NE(std::string(e.what()).find("max_trips"), std::string::npos) << e.what();
  }
  const auto y = run(jvp(power(-1), registry()), {{1.5}, {0.7}, {3}, {1}, {2}});
  expect_near(y[1], {std::pow(0.7, 3) + 2 * 1.5 * 3 * 0.49}, 1e-14);
}

TEST(ControlFlow, StateThatDoesNotDependOnInputsIsNotDifferentiated) {
  // x0 drives the first state, and only the second, which it does not reach, is used.
  const Graph f = graph_of({f64({}), f64({})}, [](ValuesIn v) {
    const Values r = while_(
        v, {}, [](ValuesIn a) { return Values{compare(a[1], full_like(a[1], 10), Direction::lt)}; },
        [](ValuesIn a) { return Values{sin(a[0]), a[1] * 2.0}; });
    return Values{r[1] * v[0]};
  });
  expect_near(run(vjp(f, registry(), {.wanted = {true, false}}), {{3}, {4}, {1}})[1], {16}, 1e-15);
}

TEST(ControlFlow, WhileTwice) {
  const Graph g = grad(power(6), registry(), {.with_value = false});
  // Hessian of x a^n times v.
  const double x = 1.5, a = 0.7, n = 4;
  const Doubles v{0.3, -0.8};
  const double xa = n * std::pow(a, n - 1), aa = x * n * (n - 1) * std::pow(a, n - 2);
  const std::vector<Doubles> wanted{{xa * v[1]}, {xa * v[0] + aa * v[1]}};
  const auto forward = run(jvp(g, registry(), {.with_outputs = false}), {{x}, {a}, {n}, {v[0]}, {v[1]}});
  const auto reverse = run(vjp(g, registry(), {.with_outputs = false}), {{x}, {a}, {n}, {v[0]}, {v[1]}});
  for (std::size_t i = 0; i < 2; ++i) {
    expect_near(forward[i], wanted[i], 1e-13, "forward over reverse");
    expect_near(reverse[i], wanted[i], 1e-13, "reverse over reverse");
  }
}

TEST(ControlFlow, WhileDerivativesByDifferences) {
  // The state is a vector, mixes with an invariant, and one part of it only counts.
  const Graph f = graph_of({f64({3}), f64({3, 3})}, [](ValuesIn v) {
    const Values state{v[0], scalar(*v[0].builder, DType::i64, 0)};
    const Values r = while_(
        state, {&v[1], 1}, [](ValuesIn a) { return Values{compare(a[1], full_like(a[1], 4), Direction::lt)}; },
        [](ValuesIn a) { return Values{tanh(reshape(matmul(a[2], reshape(a[0], {3, 1})), {3})), a[1] + 1.0}; }, 4);
    return Values{r[0]};
  });
  check_derivatives(f, random_inputs(f, 21));
}

TEST(ControlFlow, ScanByDifferences) {
  for (bool reverse : {false, true}) {
    const Graph f = recurrence(reverse);
    check_derivatives(f, random_inputs(f, 31));
    const Graph loss = graph_of({f64({2}), f64({5, 2}), f64({2})}, [&](ValuesIn v) {
      const Values r = scan(
          {&v[0], 1}, {&v[1], 1}, {&v[2], 1}, [](ValuesIn a) { return Values{sin(a[0]) * a[2] + a[1], a[0] * a[1]}; },
          reverse);
      return Values{sum_all(r[0]) + sum_all(r[1])};
    });
    check_derivatives(grad(loss, registry(), {.with_value = false}), random_inputs(loss, 33), 1e-6);
  }
}

TEST(ControlFlow, ScanOfALinearRecurrence) {
  // s_n = k^n s + sum k^(n-1-i) e_i: ds/ds0 = k^n, ds/de_i = k^(n-1-i), ds/dk by the chain.
  const Graph f = graph_of({f64({}), f64({3}), f64({})}, [](ValuesIn v) {
    return Values{scan({&v[0], 1}, {&v[1], 1}, {&v[2], 1}, [](ValuesIn a) { return Values{a[0] * a[2] + a[1]}; })[0]};
  });
  const double s = 2, k = 3;
  const auto y = run(grad(f, registry()), {{s}, {1, 10, 100}, {k}});
  expect_near(y[0], {27 * s + 9 + 30 + 100}, 1e-15);
  expect_near(y[1], {27}, 1e-15);
  expect_near(y[2], {9, 3, 1}, 1e-15);
  expect_near(y[3], {3 * k * k * s + 2 * k * 1 + 10}, 1e-15);
}

TEST(ControlFlow, ScanKeepsNoStateThatItsReverseDoesNotNeed) {
  // The body is linear in everything that is differentiated, so that the forward pass is the plain scan.
  const Graph f = graph_of({f64({4}), f64({7, 4})}, [](ValuesIn v) {
    return Values{scan({&v[0], 1}, {&v[1], 1}, {}, [](ValuesIn a) { return Values{a[0] + a[1]}; })[0]};
  });
  const Graph g = vjp(f, registry());
  ASSERT_EQ(count_of(g, "scan"), 2u);
  for (NodeId n : g.region(Graph::top).nodes)
    if (g.node(n).op->name() == "scan" && g.node(n).operands.size() == 2) {
      EXPECT_EQ(g.node(n).results.size(), 1u) << print(g);
    }
}

TEST(ControlFlow, IfRunsTheChosenBranch) {
  for (double p : {0.5, -0.5}) {
    check_derivatives(branches(), {{0.3}, {p}});
    const auto y = run(vjp(branches(), registry()), {{0.3}, {p}, {1}, {0}});
    expect_near(y[2], {p > 0 ? std::cos(0.3) * p : 0.6}, 1e-14);
    expect_near(y[3], {p > 0 ? std::sin(0.3) : 0}, 1e-14);
  }
}

TEST(ControlFlow, IntegersInLoopsAreCarriedAlong) {
  // Picks the element of x1 that a counter says.
  const Graph f = graph_of({f64({}), f64({4})}, [](ValuesIn v) {
    const Values state{v[0], scalar(*v[0].builder, DType::i32, 0)};
    return Values{scan(state, {&v[1], 1}, {&v[1], 1}, [](ValuesIn a) {
      const Value e = reshape(dynamic_slice(a[3], {&a[1], 1}, {1}), {});
      return Values{a[0] * e + a[2], a[1] + 1.0};
    })[0]};
  });
  check_derivatives(f, random_inputs(f, 41));
}

TEST(ControlFlow, Nested) {
  const Graph f = graph_of({f64({}), f64({3})}, [](ValuesIn v) {
    const Value n = scalar(*v[0].builder, DType::i32, 0);
    const Values state{v[0], n};
    return Values{while_(
        state, {&v[1], 1}, [](ValuesIn a) { return Values{compare(a[1], full_like(a[1], 3), Direction::lt)}; },
        [](ValuesIn a) {
          const Value s = scan({&a[0], 1}, {&a[2], 1}, {}, [](ValuesIn e) {
            return Values{if_(
                compare(e[0], e[1], Direction::lt), e, [](ValuesIn q) { return Values{sin(q[0]) + q[1]}; },
                [](ValuesIn q) { return Values{q[0] * q[1]}; })[0]};
          })[0];
          return Values{s, a[1] + 1.0};
        },
        3)[0]};
  });
  check_derivatives(f, random_inputs(f, 51));
  check_batch(f, 4, 52);
  check_batch(grad(f, registry()), 3, 53);
  check_derivatives(grad(f, registry(), {.with_value = false}), random_inputs(f, 51), 1e-6);
}

TEST(ControlFlow, VmapOfLoops) {
  check_batch(recurrence(false), 3, 61);
  check_batch(recurrence(true), 3, 62);
  check_batch(vjp(recurrence(false), registry()), 2, 63);
  // Trip counts that differ: members that are done keep their state.
  check_batch(power(9, true), 5, 64, 0, 8);
  check_batch(grad(power(9, true), registry(), {.wanted = {true, true, false}}), 5, 65, 0, 8);
  const Graph same = vmap(power(9), registry(), {.in_axes = {0, -1, -1}, .size = 2});
  EXPECT_EQ(count_of(same, "select"), 0u);
  expect_near(run(same, {{1, 2}, {3}, {2}})[0], {9, 18}, 1e-15);
}

TEST(ControlFlow, VmapOfBranches) {
  check_batch(branches(), 6, 66);
  EXPECT_EQ(count_of(vmap(branches(), registry(), {.size = 2}), "if"), 0u);
  const Graph same = vmap(branches(), registry(), {.in_axes = {0, -1}, .size = 2});
  EXPECT_EQ(count_of(same, "if"), 1u);
  expect_near(run(same, {{1, 2}, {-1}})[0], {1, 4}, 1e-15);
}

/// Of the nodes of this operator in the top region, in order.
std::vector<std::string> notes_of(const Graph& g, std::string_view op) {
  std::vector<std::string> out;
  for (NodeId id : g.region(Graph::top).nodes)
    if (const Node& n = g.node(id); n.op->name() == op) out.push_back(n.note);
  return out;
}

// Whoever wrote a branch reads that it became a select, through whatever is made of the graph afterwards.
TEST(ControlFlow, VmapLeavesNotes) {
  const std::string branch = "if over a batched predicate: both branches run for all members",
                    loop = "while over a batched condition: all members take as many trips as the one that takes most";
  const std::vector<std::string> of_branch{branch};
  const Graph rows = vmap(branches(), registry(), {.size = 2});
  EXPECT_EQ(notes_of(rows, "select"), of_branch);
  EXPECT_EQ(notes_of(vmap(rows, registry(), {.size = 3}), "select"), of_branch);
  EXPECT_EQ(notes_of(vmap(branches(), registry(), {.in_axes = {0, -1}, .size = 2}), "if"), std::vector{std::string()});
  EXPECT_EQ(notes_of(simplify(parse(print(rows), registry()), registry()), "select"), of_branch);
  const Graph any = vmap(branches(), registry(), {.size = Dim::symbol("members")});
  EXPECT_EQ(notes_of(specialise(any, registry(), {{"members", 5}}), "select"), of_branch);
  // What is selected backwards is the same branch; zeros and sums say nothing. (The second result is x0 by either.)
  const Graph back = vjp(rows, registry());
  for (NodeId id : back.region(Graph::top).nodes) {
    const Node& n = back.node(id);
    EXPECT_EQ(n.note, n.op->name() == "select" ? branch : "") << print(back);
  }
  EXPECT_GT(notes_of(back, "select").size(), 1u);
  for (const std::string& note : notes_of(jvp(rows, registry()), "select")) EXPECT_EQ(note, branch);

  const Graph loops = vmap(power(9), registry(), {.size = 2});
  std::size_t selects = 0;
  for (std::size_t i = 0; i < loops.node_count(); ++i)
    if (const Node& n = loops.node(static_cast<NodeId>(i)); n.op && n.op->name() == "select") {
      ++selects;
      EXPECT_EQ(n.note, loop);
    }
  EXPECT_EQ(selects, 2u);

  // One that was written as such has nothing to tell.
  const Graph plain =
      vmap(graph_of({f64({}), f64({})},
                    [](ValuesIn v) { return Values{select(compare(v[1], v[0], Direction::lt), v[0], v[1])}; }),
           registry(), {.size = 2});
  EXPECT_EQ(notes_of(plain, "select"), std::vector{std::string()});
}

TEST(ControlFlow, SymbolicLengths) {
  Graph f("f");
  f.symbols["n"] = {0, 100, 1};
  Builder b(f, registry());
  const Value s = b.input(f64({}), "s"), x = b.input(f64({Dim::symbol("n")}), "x");
  const Value product = scan({&s, 1}, {&x, 1}, {}, [](ValuesIn a) { return Values{a[0] * a[1]}; })[0];
  b.output(product, "y");
  const Graph g = grad(f, registry());
  verify(g, Level::hir);
  const HostValue in[] = {HostTensor::scalar(DType::f64, 2), HostTensor::from(DType::f64, {3}, Doubles{3, 5, 7})};
  const HostValues y = evaluate(g, registry(), in);
  EXPECT_EQ(elements(y[1]), (Doubles{105}));
  EXPECT_EQ(elements(y[2]), (Doubles{70, 42, 30}));
}

TEST(ControlFlow, GraphsRoundTripAsText) {
  for (const Graph& g :
       {grad(power(5), registry()), vjp(recurrence(true), registry()), vmap(branches(), registry(), {.size = 3})})
    EXPECT_EQ(print(parse(print(g), registry())), print(g));
}

}  // namespace
}  // namespace rlx
