// Refusals inside of an operator's decomposition are told as that operator's.
#include "toy_ops.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/located.hpp>

#include <gtest/gtest.h>

namespace rlx {
namespace {

/// Composites whose decompositions are wrong for every operand: what they are made of refuses its own.
template <Values (*decompose)(Builder&, ValuesIn)>
OpDef<NoAttributes> composite(std::string_view name) {
  return {.name = name,
          .doc = "refused inside",
          .operands = toy::neg_operands,
          .constraints = {},
          .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.tensor(0)}; },
          .meaning = Composite<NoAttributes>{[](Builder& b, const NoAttributes&, ValuesIn in) -> Values {
            return decompose(b, in);
          }},
          .vjp = toy::no_rule,
          .jvp = toy::no_rule,
          .batch = toy::no_rule,
          .shard = toy::no_rule,
          .cost = toy::no_rule,
          .samples = []() -> std::vector<Sample<NoAttributes>> { return {}; }};
}

Values unequal(Builder& b, ValuesIn x) { return b.emit("toy.add", {x[0], b.emit1("toy.join", {x[0], x[0]})}); }
Values outer(Builder& b, ValuesIn x) { return b.emit("toy.unequal", {x[0]}); }
Values argument(Builder&, ValuesIn) { throw ArgumentError("three, expected two"); }

const OpDef<NoAttributes> unequal_def = composite<unequal>("toy.unequal"), outer_def = composite<outer>("toy.outer"),
                          argument_def = composite<argument>("toy.argument");

class Within : public testing::Test {
 protected:
  Within() : registry(toy::registry()), builder(graph, registry) {
    registry.add(unequal_def);
    registry.add(outer_def);
    registry.add(argument_def);
    x = builder.input(f32({2}), "x");
  }
  Registry registry;
  Graph graph;
  Builder builder;
  Value x;
};

TEST_F(Within, TheOperatorThatWasWrittenIsNamedFirst) {
  try {
    registry.get("toy.unequal").decompose(builder, NoAttributes{}, {&x, 1});
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.op(), "toy.unequal");
    EXPECT_EQ(e.constraint(), "in its decomposition");
    EXPECT_STREQ(e.what(),
                 "toy.unequal: in its decomposition: toy.add: C1: requires shape(x) = shape(y) ([2] is not [4])");
  }
}

TEST_F(Within, TheSiteIsKept) {
  builder.set_location({"model.cpp", 12});
  try {
    registry.get("toy.unequal").decompose(builder, NoAttributes{}, {&x, 1});
    FAIL();
  } catch (const LocatedVerifyError& e) {
    EXPECT_EQ(e.op(), "toy.unequal");
    EXPECT_EQ(e.site().file, "model.cpp");
    EXPECT_EQ(e.site().line, 12u);
    EXPECT_STREQ(
        e.what(),
        "toy.unequal: in its decomposition: toy.add: C1: requires shape(x) = shape(y) ([2] is not [4])  model.cpp:12");
  }
}

TEST_F(Within, AnArgumentErrorIsARefusalToo) {
  try {
    registry.get("toy.argument").decompose(builder, NoAttributes{}, {&x, 1});
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.op(), "toy.argument");
    EXPECT_STREQ(e.what(), "toy.argument: in its decomposition: three, expected two");
  }
}

TEST_F(Within, EvaluationNamesEveryOperatorOnTheWay) {
  builder.set_location({"model.cpp", 7});
  builder.output(builder.emit1("toy.outer", {x}), "y");
  const HostValue argument = HostTensor(DType::f32, {2});
  try {
    evaluate(graph, registry, {&argument, 1});
    FAIL();
  } catch (const LocatedVerifyError& e) {
    EXPECT_EQ(e.op(), "toy.outer");
    EXPECT_EQ(e.site().line, 7u);
    EXPECT_STREQ(e.what(),
                 "toy.outer: in its decomposition: toy.unequal: in its decomposition: toy.add: C1: requires "
                 "shape(x) = shape(y) ([2] is not [4])  model.cpp:7");
  }
}

}  // namespace
}  // namespace rlx
