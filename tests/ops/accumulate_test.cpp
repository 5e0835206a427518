// `accumulate` and `result` of reduce and associative_scan in graphs and in their text.
#include "sample_runner.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <gtest/gtest.h>

namespace rlx::testing {
namespace {

using namespace ops;

const RegionBody plus = [](ValuesIn v) { return Values{add(v[0], v[1])}; };

Graph sums_of(DType t, const ReduceAttrs& a, const AssociativeScanAttrs& s) {
  Graph g("sums");
  Builder b(g, registry());
  const Value x = b.input(tensor(t, {4}), "x"), none = scalar(b, t, 0);
  b.output(reduce({&x, 1}, {&none, 1}, a, plus)[0], "sum");
  b.output(associative_scan({&x, 1}, {&none, 1}, s, plus)[0], "prefixes");
  verify(g, Level::mir);
  return g;
}

// What is not said is not printed: the default of f16 shows only in what the region takes.
TEST(Accumulate, TextSaysWhatIsNotTheDefault) {
  const std::string plain = print(sums_of(DType::f16, {{0}}, {}));
  EXPECT_EQ(plain.find("accumulate"), std::string::npos) << plain;
  EXPECT_NE(plain.find("f32[]"), std::string::npos) << plain;
  const Graph g = sums_of(DType::f16, {{0}, {DType::f64}, {DType::f32}}, {.accumulate = {DType::f16}});
  const std::string text = print(g);
  EXPECT_NE(text.find(") {axes = [0], accumulate = [f64], result = [f32]}"), std::string::npos) << text;
  EXPECT_NE(text.find(") {accumulate = [f16]}"), std::string::npos) << text;
  for (const std::string& each : {plain, text}) EXPECT_EQ(print(parse(each, registry())), each);
  EXPECT_EQ(to_string(g.type(g.outputs()[0])), "f32[]");
  EXPECT_EQ(to_string(g.type(g.outputs()[1])), "f16[4]");
}

// A text without the attributes means what it always did where the operand's type is that of its sums.
TEST(Accumulate, TextsWithoutItHaveTheDefault) {
  const std::string text = print(sums_of(DType::f32, {{0}}, {}));
  EXPECT_EQ(text.find("f64"), std::string::npos);
  const Graph g = parse(text, registry());
  const HostValues y = evaluate(g, registry(), HostValues{tensor_of(DType::f32, {4}, {1, 2, 3, 4})});
  EXPECT_EQ(elements(y[0]), (std::vector<double>{10}));
}

// A region of f16 must be asked for; the refusal says which type it should have taken.
TEST(Accumulate, RegionsHaveItsTypes) {
  std::string text = print(sums_of(DType::f16, {{0}, {DType::f16}}, {.accumulate = {DType::f16}}));
  EXPECT_EQ(text.find("f32"), std::string::npos) << text;
  const std::string attribute = ", accumulate = [f16]";
  text.erase(text.find(attribute), attribute.size());
  try {
    verify(parse(text, registry()), Level::mir);
    FAIL() << text;
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.op(), "reduce");
    EXPECT_NE(std::string(e.what()).find("argument 0 of region 0 is f16[], expected f32[]"), std::string::npos)
        << e.what();
  }
}

// In f16 both sums stay at 2048.
TEST(Accumulate, TheTypeAskedForIsUsed) {
  const HostValues x{tensor_of(DType::f16, {4}, {2048, 1, 1, 1})};
  const auto of = [&](std::vector<DType> t) {
    return evaluate(sums_of(DType::f16, {{0}, t}, {.accumulate = t}), registry(), x);
  };
  EXPECT_EQ(elements(of({DType::f16})[0]), (std::vector<double>{2048}));
  EXPECT_EQ(elements(of({DType::f16})[1]), (std::vector<double>{2048, 2048, 2048, 2048}));
  EXPECT_EQ(elements(of({})[0]), (std::vector<double>{2052}));  // of 2051, a tie, to even
  EXPECT_EQ(elements(of({})[1]), (std::vector<double>{2048, 2048, 2050, 2052}));
  EXPECT_EQ(elements(of({DType::f32})[0]), elements(of({})[0]));
}

}  // namespace
}  // namespace rlx::testing
