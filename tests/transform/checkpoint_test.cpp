// Rematerialization and stopped gradients: the same values and derivatives, less kept between forward and reverse.
#include "catalog.hpp"
#include "support.hpp"

#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <cmath>
#include <set>

namespace rlx {
namespace {

using namespace ops;
using transform::grad;
using transform::jvp;
using transform::simplify;
using transform::vjp;
using transform::vmap;

/// Layers h -> sin(w h) of matrices [n, n]; each is a checkpoint, or none is.
Graph layers(int count, std::int64_t n, bool checkpoints) {
  return graph_of({f64({n, n}), f64({n, n})}, [&](ValuesIn v) {
    Value h = v[1];
    for (int i = 0; i < count; ++i) {
      const Values in{v[0], h};
      const RegionBody layer = [](ValuesIn a) { return Values{sin(sin(matmul(a[0], a[1])))}; };
      h = checkpoints ? checkpoint(in, layer)[0] : layer(in)[0];
    }
    return Values{sum_all(h)};
  });
}

/// Elements that are kept for the reverse: values that do not depend on a cotangent and are used by what does, where
/// `cotangent` names the first input that is one.
std::int64_t kept_elements(const Graph& g, std::size_t cotangent) {
  std::set<ValueId> late(g.inputs().begin() + static_cast<std::ptrdiff_t>(cotangent), g.inputs().end()), kept;
  for (NodeId id : g.region(Graph::top).nodes) {
    const Node& n = g.node(id);
    bool any = false;
    for (ValueId v : n.operands) any |= late.contains(v);
    if (!any) continue;
    late.insert(n.results.begin(), n.results.end());
    for (ValueId v : n.operands) kept.insert(v);
  }
  std::int64_t sum = 0;
  for (ValueId v : kept)
    if (!late.contains(v)) sum += g.tensor_type(v).numel().constant();
  return sum;
}

TEST(Checkpoint, KeepsItsOperandsAlone) {
  const std::int64_t n = 3, layer = n * n;
  const Graph plain = vjp(layers(4, n, false), registry()), saved = vjp(layers(4, n, true), registry());
  // Of every layer the two cosines and the operand of its product, against its operand alone; and w.
  EXPECT_EQ(kept_elements(plain, 2), layer * (1 + 4 * 3));
  EXPECT_EQ(kept_elements(saved, 2), layer * (1 + 4));
}

TEST(Checkpoint, ValuesAndDerivativesAreTheSame) {
  const Graph plain = layers(3, 2, false), saved = layers(3, 2, true);
  const auto x = random_inputs(plain, 5);
  EXPECT_EQ(run(saved, x), run(plain, x));
  EXPECT_EQ(run(grad(saved, registry()), x), run(grad(plain, registry()), x));
  check_derivatives(saved, x);
  check_batch(saved, 3, 7);
  // Forward over reverse, reverse over reverse, batched reverse.
  const Graph once = grad(saved, registry(), {.with_value = false}),
              bare = grad(plain, registry(), {.with_value = false});
  check_derivatives(once, x);
  const auto seeds = concatenated(x, random_inputs(plain, 11));
  const auto twice = run(vjp(once, registry()), seeds), expected = run(vjp(bare, registry()), seeds);
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect_near(twice[i], expected[i], 1e-13);  // the sums of cotangents have another order
  check_batch(once, 2, 9);
}

TEST(Checkpoint, InLoopsAndBranches) {
  const RegionBody body = [](ValuesIn a) {
    const Values next = checkpoint({a.begin(), a.end()}, [](ValuesIn s) { return Values{sin(s[0]) * s[1]}; });
    return Values{next[0], next[0]};
  };
  check_derivatives(
      graph_of({f64({2}), f64({3, 2})}, [&](ValuesIn v) { return scan(v.first(1), v.subspan(1), {}, body); }),
      {{0.3, -0.4}, random_doubles(6, 3)});
}

// Nothing merges what is computed again with what was computed first, however often it is cleaned up.
TEST(Checkpoint, SimplifyLeavesTheRepetition) {
  const Graph g = simplify(grad(layers(2, 2, true), registry()), registry());
  EXPECT_EQ(count_of(g, "checkpoint"), 4u);
  EXPECT_EQ(count_of(grad(layers(2, 2, false), registry()), "checkpoint"), 0u);
  // What the reverse does not need of the values is not computed: the outer sine of a layer.
  EXPECT_EQ(count_of(g, "sin"), 2u * 2 + 2u * 1);
}

TEST(Checkpoint, CompiledProgramsNeedLessMemory) {
  const auto arena = [](bool checkpoints) {
    return runtime::Executable(runtime::open_device("null"), grad(layers(16, 64, checkpoints), registry()), catalog())
        .report()
        .arena_bytes;
  };
  // One state a layer against three.
  EXPECT_LT(arena(true), arena(false) / 2);
}

TEST(Checkpoint, EffectsAreRefused) {
  try {
    graph_of({TokenType{}}, [](ValuesIn v) { return checkpoint(v, [](ValuesIn a) { return Values{a[0]}; }); });
    ADD_FAILURE();
  } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), "C1"); }
}

TEST(StopGradient, IsFixedInBothModes) {
  // sg(x^2) x: the derivative is x^2, not 3 x^2.
  const Graph f = graph_of({f64({2})}, [](ValuesIn v) { return Values{stop_gradient(v[0] * v[0]) * v[0]}; });
  const auto pulled = run(vjp(f, registry()), {{2, -3}, {1, 10}}), pushed = run(jvp(f, registry()), {{2, -3}, {1, 10}});
  EXPECT_EQ(pulled[0], (Doubles{8, -27}));
  EXPECT_EQ(pulled[1], (Doubles{4, 90}));
  EXPECT_EQ(pushed[1], (Doubles{4, 90}));
  check_batch(f, 3, 1);
  // Again: what is fixed stays fixed, of x^2 v the derivative by x is 0 though its value depends on x.
  const Graph twice = vjp(vjp(f, registry(), {.with_outputs = false}), registry(), {.with_outputs = false});
  EXPECT_EQ(run(twice, {{2, -3}, {1, 10}, {1, 1}})[0], (Doubles{0, 0}));
}

TEST(Barrier, PassesDerivativesAndIsNotMerged) {
  const Graph f = graph_of({f64({2}), f64({3})}, [](ValuesIn v) {
    const Values apart = barrier(v);
    return Values{sin(v[0]) + sin(apart[0]), sin(apart[1])};
  });
  EXPECT_EQ(count_of(simplify(f, registry()), "sin"), 3u);
  check_derivatives(f, {{0.1, 0.2}, {0.3, 0.4, 0.5}});
  check_batch(f, 2, 3);
}

}  // namespace
}  // namespace rlx
