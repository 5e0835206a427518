#include "support.hpp"

#include <rlx/ops/register.hpp>

namespace rlx {
namespace {

using namespace ops;
using transform::grad;
using transform::vjp;

Graph rosenbrock() {
  return graph_of({f64({2})}, [](ValuesIn v) {
    const Value x = slice_axis(v[0], 0, 0, 1), y = slice_axis(v[0], 0, 1, 2);
    const Value a = 1.0 - x, c = y - x * x;
    return Values{sum_all(a * a + c * c * 100.0)};
  });
}

TEST(Vjp, OfComposedFunctionsAgreesWithDifferences) {
  const Graph f = graph_of({f64({3, 4}), f64({4, 2}), f64({2})}, [](ValuesIn v) {
    const Value h = tanh(matmul(v[0], v[1]) + v[2]);
    return Values{sum_all(h * h), exp(h) / (1.0 + exp(neg(h))), reduce_max(h, {0})};
  });
  check_derivatives(f, random_inputs(f, 3));
}

TEST(Vjp, ThroughCompositesFollowsTheirRuleOrDecomposition) {
  const Graph f = graph_of({f64({3, 5}), f64({5}), f64({5})}, [](ValuesIn v) {
    return Values{log_softmax(v[0], 1), softmax(v[0], 0), layer_norm(v[0], v[1], v[2]), logsumexp(v[0], {0, 1}),
                  var(v[0], {1})};
  });
  check_derivatives(f, random_inputs(f, 5), 1e-6);
}

TEST(Vjp, AddsCotangentsOfEveryUse) {
  const Graph f = graph_of({f64({})}, [](ValuesIn v) { return Values{v[0] * v[0] * v[0] + v[0], v[0]}; });
  const auto y = run(vjp(f, registry()), {{2}, {1}, {10}});
  expect_near(y[2], {3 * 4 + 1 + 10}, 1e-14);
}

TEST(Vjp, NamesAndOrder) {
  const Graph f = graph_of({f64({}), i32({}), f64({})}, [](ValuesIn v) { return Values{v[0] * v[2], v[1]}; });
  const Graph g = vjp(f, registry());
  EXPECT_EQ(g.input_names, (std::vector<std::string>{"x0", "x1", "x2", "ct_y0"}));
  EXPECT_EQ(g.output_names, (std::vector<std::string>{"y0", "y1", "ct_x0", "ct_x2"}));
  const Graph second = vjp(g, registry());
  EXPECT_EQ(second.input_names.back(), "ct_ct_x2");
  verify(second, Level::hir);
}

TEST(Vjp, UnwantedCotangentsAreNotFormed) {
  const Graph f = graph_of({f64({8, 8}), f64({8, 8})}, [](ValuesIn v) { return Values{matmul(v[0], v[1])}; });
  EXPECT_EQ(count_of(vjp(f, registry(), {.wanted = {true, false}, .with_outputs = false}), "dot_general"), 1u);
  EXPECT_EQ(count_of(vjp(f, registry(), {.wanted = {true, true}, .with_outputs = false}), "dot_general"), 2u);
}

TEST(Vjp, WhatDependsOnNothingIsATypedZero) {
  const Graph f = graph_of({f64({2}), f64({3})}, [](ValuesIn v) { return Values{sum_all(v[0])}; });
  const auto y = run(grad(f, registry()), {{1, 2}, {1, 2, 3}});
  EXPECT_EQ(y[1], (Doubles{1, 1}));
  EXPECT_EQ(y[2], (Doubles{0, 0, 0}));
}

TEST(Vjp, OperatorsOffThePathNeedNoDerivative) {
  // while has no bound, but what it gives is not differentiated: it depends on x1 only.
  const Graph f = graph_of({f64({}), f64({})}, [](ValuesIn v) {
    const Values w = while_(
        {&v[1], 1}, {}, [](ValuesIn a) { return Values{compare(a[0], full_like(a[0], 100), Direction::lt)}; },
        [](ValuesIn a) { return Values{a[0] * 2.0}; });
    return Values{v[0] * w[0]};
  });
  const auto y = run(vjp(f, registry(), {.wanted = {true, false}}), {{3}, {7}, {1}});
  expect_near(y[1], {112}, 1e-15);
  EXPECT_THROW(vjp(f, registry()), VerifyError);
}

TEST(Vjp, GradientAndHessianOfRosenbrock) {
  const Graph f = rosenbrock(), g = grad(f, registry());
  const double x = -1.2, y = 1.7;
  const Doubles gradient{-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)};
  const double xx = 2 - 400 * (y - 3 * x * x), xy = -400 * x, yy = 200;
  const auto value = run(g, {{x, y}});
  expect_near(value[0], {(1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x)}, 1e-13);
  expect_near(value[1], gradient, 1e-13);
  const Graph gradient_only = grad(f, registry(), {.with_value = false});
  const Doubles v{0.3, -0.7}, hv{xx * v[0] + xy * v[1], xy * v[0] + yy * v[1]};
  expect_near(run(transform::jvp(gradient_only, registry(), {.with_outputs = false}), {{x, y}, v})[0], hv, 1e-13,
              "forward over reverse");
  expect_near(run(vjp(gradient_only, registry(), {.with_outputs = false}), {{x, y}, v})[0], hv, 1e-13,
              "reverse over reverse");
  const Graph along = transform::jvp(f, registry(), {.with_outputs = false});
  expect_near(run(vjp(along, registry(), {.wanted = {true, false}, .with_outputs = false}), {{x, y}, v, {1}})[0], hv,
              1e-13, "reverse over forward");
}

TEST(Vjp, ComplexCotangentsAreConjugateTransposes) {
  // L = |z w|^2 of complex scalars: dL/dz = 2 z |w|^2 in the convention dL/dx + i dL/dy.
  const Graph f = graph_of({c128({}), c128({})}, [](ValuesIn v) {
    const Value p = v[0] * v[1];
    return Values{real(p) * real(p) + imag(p) * imag(p)};
  });
  const Graph g = grad(f, registry(), {.wanted = {true, false}, .with_value = false});
  HostTensor z(DType::c128, {}), w(DType::c128, {});
  z.set_c128(0, {1, 2});
  w.set_c128(0, {3, -1});
  const HostValue in[] = {z, w};
  const auto d = std::get<HostTensor>(evaluate(g, registry(), in)[0]).get_c128(0);
  EXPECT_NEAR(d.real(), 20, 1e-13);
  EXPECT_NEAR(d.imag(), 40, 1e-13);
}

TEST(Vjp, SparseCotangentsHaveTheStructure) {
  const SparseType t{SparseFormat::csr, DType::f64, DType::i32, {2, 3}, 3};
  const Graph f = graph_of({t}, [](ValuesIn v) {
    const Value a = v[0].builder->emit("sparse.parts", {v[0]})[2], b = v[0].builder->emit("sparse.parts", {v[0]})[2];
    return Values{sum_all(a * a * b)};
  });
  const Graph g = grad(f, registry(), {.with_value = false});
  const std::int64_t two[] = {0, 2, 3}, three[] = {0, 2, 1};
  HostSparse a{t, HostTensor(DType::i32, {3}), HostTensor(DType::i32, {3}), HostTensor(DType::f64, {3})};
  for (std::int64_t i = 0; i < 3; ++i)
    a.offsets.set_i64(i, two[i]), a.indices.set_i64(i, three[i]), a.values.set_f64(i, 1.0 + static_cast<double>(i));
  const HostValue in[] = {a};
  expect_near(elements(evaluate(g, registry(), in)[0]), {3, 12, 27}, 1e-14);
}

TEST(Vjp, SymbolicShapes) {
  const Dim n = Dim::symbol("n");
  Graph f("f");
  f.symbols["n"] = {1, 100, 1};
  Builder b(f, registry());
  const Value x = b.input(f64({n, 2}), "x");
  b.output(sum_all(x * x), "y");
  const Graph g = grad(f, registry());
  verify(g, Level::hir);
  const HostValue in[] = {HostTensor::from(DType::f64, {2, 2}, Doubles{1, 2, 3, 4})};
  EXPECT_EQ(elements(evaluate(g, registry(), in)[1]), (Doubles{2, 4, 6, 8}));
}

constexpr Operand opaque_operands[] = {{"x", floating}};
const OpDef<NoAttributes> opaque{
    .name = "test.opaque",
    .doc = "x",
    .operands = opaque_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(0)}; },
    .meaning =
        Extern<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues { return {c.tensor(0)}; }},
    .vjp = Never{"it is opaque"},
    .jvp = Never{"it is opaque"},
    .batch = Never{"it is opaque"},
    .shard = Never{"test"},
    .cost = Never{"test"},
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};

const OpDef<NoAttributes> wrapped{
    .name = "test.wrapped",
    .doc = "test.opaque of x, whose rules follow that",
    .operands = opaque_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(0)}; },
    .meaning = Composite<NoAttributes>{[](Builder& b, const NoAttributes&, ValuesIn in) -> Values {
      return b.emit("test.opaque", {in[0]});
    }},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = Never{"test"},
    .cost = Never{"test"},
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};

constexpr Operand factor_operands[] = {{"a", floating}};
const OpDef<NoAttributes> factor{
    .name = "test.factor",
    .doc = "a resource",
    .operands = factor_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types {
      return {ResourceType{"test", "", s.dtype(0), s.shape(0)}};
    },
    .meaning = Extern<NoAttributes>{[](const NoAttributes&, const ReferenceCall&) -> HostValues { return {}; }},
    .vjp = Never{"test"},
    .jvp = Never{"test"},
    .batch = Never{"test"},
    .shard = Never{"test"},
    .cost = Never{"test"},
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};
constexpr Operand apply_operands[] = {{"f", floating, OperandKind::resource, false, "test"},
                                      {"b", floating, OperandKind::tensor, true}};
const OpDef<NoAttributes> apply{
    .name = "test.apply",
    .doc = "b",
    .operands = apply_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(1)}; },
    .meaning = Extern<NoAttributes>{[](const NoAttributes&, const ReferenceCall&) -> HostValues { return {}; }},
    .vjp = Vjp<NoAttributes>{[](const VjpCall<NoAttributes>& c) { return Values(c.in.size()); }},
    .jvp = [](const JvpCall<NoAttributes>& c) { return Values(c.out.size()); },
    .batch = Never{"test"},
    .shard = Never{"test"},
    .cost = Never{"test"},
    .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};

Registry with_test_ops() {
  Registry r;
  ops::register_ops(r);
  r.add(opaque);
  r.add(wrapped);
  r.add(factor);
  r.add(apply);
  return r;
}

/// What each rule says of a graph that none of them takes, by the rule's name.
static std::vector<std::pair<std::string, VerifyError>> refusals_of(const Graph& f, const Registry& r) {
  const std::pair<std::string, std::function<void()>> rules[] = {
      {"vjp", [&] { vjp(f, r); }},
      {"jvp", [&] { transform::jvp(f, r); }},
      {"batch", [&] { transform::vmap(f, r, {.size = 2}); }},
  };
  std::vector<std::pair<std::string, VerifyError>> said;
  for (const auto& [rule, attempt] : rules) {
    try {
      attempt();
      ADD_FAILURE() << rule;
    } catch (const VerifyError& e) { said.emplace_back(rule, e); }
  }
  return said;
}

TEST(Vjp, RefusalsAreTypedAndSayWhere) {
  const Registry r = with_test_ops();
  const Graph f = graph_of({f64({})}, [](ValuesIn v) { return Values{v[0].builder->emit1("test.opaque", {v[0]})}; }, r);
  for (const auto& [rule, e] : refusals_of(f, r)) {
    EXPECT_EQ(e.op(), "test.opaque");
    EXPECT_EQ(e.constraint(), rule);
    EXPECT_NE(std::string(e.what()).find("it is opaque"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("f.cpp:7"), std::string::npos) << e.what();
  }
}

TEST(Vjp, RefusalsInsideADecompositionNameTheOperatorAroundIt) {
  const Registry r = with_test_ops();
  const Graph f =
      graph_of({f64({})}, [](ValuesIn v) { return Values{v[0].builder->emit1("test.wrapped", {v[0]})}; }, r);
  for (const auto& [rule, e] : refusals_of(f, r)) {
    EXPECT_EQ(e.op(), "test.wrapped");
    EXPECT_EQ(e.constraint(), rule);
    EXPECT_EQ(std::string(e.what()),
              "test.wrapped: in its " + rule + ": test.opaque: " + rule + ": it is opaque  f.cpp:7");
  }
}

TEST(Vjp, ResourcesOfDifferentiatedValuesAreNotTakenForConstants) {
  const Registry r = with_test_ops();
  const auto solve = [&](bool with_matrix) {
    return graph_of(
        {f64({}), f64({})},
        [&](ValuesIn v) {
          Builder& b = *v[0].builder;
          const Value resource = b.emit1("test.factor", {v[0]});
          return Values{with_matrix ? b.emit1("test.apply", {resource, v[1], v[0]})
                                    : b.emit1("test.apply", {resource, v[1]})};
        },
        r);
  };
  EXPECT_NO_THROW(vjp(solve(true), r));
  EXPECT_THROW(vjp(solve(false), r), VerifyError);
  EXPECT_THROW(transform::jvp(solve(false), r), VerifyError);
  EXPECT_NO_THROW(vjp(solve(false), r, {.wanted = {false, true}}));
}

TEST(Vjp, ArgumentsThatDoNotFit) {
  const Graph f = graph_of({f64({2}), i32({})}, [](ValuesIn v) { return Values{v[0]}; });
  EXPECT_THROW(vjp(f, registry(), {.wanted = {true}}), ArgumentError);
  EXPECT_THROW(vjp(f, registry(), {.wanted = {true, true}}), ArgumentError);
  EXPECT_THROW(grad(f, registry()), ArgumentError);
  EXPECT_THROW(transform::jvp(f, registry(), {.tangents = {false, true}}), ArgumentError);
}

}  // namespace
}  // namespace rlx
