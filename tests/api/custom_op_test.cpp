// How an outside project adds an operator of its own: one definition, added to the catalog, then used like any other.
#include <rlx/rlx.hpp>

#include <rlx/catalog.hpp>
#include <rlx/ir/op_def.hpp>
#include <rlx/ops/build.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace rlx;

struct SwishAttrs {
  double beta = 1;
  bool operator==(const SwishAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"beta", &SwishAttrs::beta, "steepness"}};
};

constexpr Operand swish_operands[] = {{"x", floating}};
constexpr Constraint<SwishAttrs> swish_constraints[] = {
    {"C1", "beta > 0", [](const SwishAttrs& a, const Signature&) { return Answer(a.beta > 0); }}};

const OpDef<SwishAttrs> swish_op{
    .name = "project.swish",
    .doc = "x / (1 + exp(-beta x)).",
    .operands = swish_operands,
    .constraints = swish_constraints,
    .infer = [](const SwishAttrs&, const Signature& s) -> Types { return {s.types[0]}; },
    .meaning = Composite<SwishAttrs>{[](Builder&, const SwishAttrs& a, ValuesIn x) -> Values {
      return {x[0] / (ops::exp(x[0] * -a.beta) + 1.0)};
    }},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard = Derived{},
    .cost = Derived{},
    .samples = []() -> std::vector<Sample<SwishAttrs>> {
      return {sample<SwishAttrs>({f64({2, 3})}), sample<SwishAttrs>({{f64({1}), {0}}}).expects({{0}}),
              sample<SwishAttrs>({f64({2})}, {-1}).breaking("C1")};
    }};

void add_to(runtime::Catalog& catalog) { catalog.operators.add(swish_op); }

Tensor swish(const Tensor& x, double beta) {
  extend_default_catalog("project", add_to);
  return Tensor(call("project.swish", {x}, SwishAttrs{beta})[0]);
}

double plain(double x, double beta) { return x / (1 + std::exp(-beta * x)); }

TEST(CustomOp, RunsLikeAnyOther) {
  EXPECT_NEAR(swish(0.7, 2).item(), plain(0.7, 2), 1e-15);
  const auto f = [](const Tensor& x) { return sum(swish(x, 2) * 3); };
  const auto program = jit(value_and_grad(f));
  const auto [value, slope] = program(Tensor::from({0.7, -0.2}));
  EXPECT_NEAR(value.item(), 3 * (plain(0.7, 2) + plain(-0.2, 2)), 1e-14);
  EXPECT_NEAR(slope.to_vector<double>()[0], 3 * (plain(0.7 + 1e-6, 2) - plain(0.7 - 1e-6, 2)) / 2e-6, 1e-8);
  EXPECT_NEAR(vmap(f)(Tensor::from({0.7, -0.2}, Extents{2, 1})).to_vector<double>()[1], 3 * plain(-0.2, 2), 1e-14);
}

TEST(CustomOp, ItsConstraintsHold) {
  try {
    swish(1.0, -1);
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.op(), "project.swish");
    EXPECT_EQ(e.constraint(), "C1");
  }
}

TEST(CustomOp, IsKnownToTheCatalog) {
  extend_default_catalog("project", add_to);
  extend_default_catalog("project", add_to);
  EXPECT_NE(default_catalog().operators.find("project.swish"), nullptr);
  EXPECT_EQ(make_catalog().operators.find("project.swish"), nullptr);
}

}  // namespace
