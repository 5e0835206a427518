// Errors and reports name the user's line: where a function over tensors was called, never one of the library's.
#include "located.hpp"

#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <string>

namespace rlx {
namespace {

/// Of this file.
std::string at(unsigned line) {
  return std::string(std::source_location::current().file_name()) + ":" + std::to_string(line);
}

const std::string inner_dimensions =
    "matmul: in its operators: dot_general: C5: requires paired contracting dimensions are equal (3 == 2 never "
    "holds)";

TEST(Location, OfOperatorsAndFunctionsOutsideTraces) {
  const Tensor a = zeros({2}), b = zeros({3}), m = zeros({2, 3});
  unsigned line = 0;
  LocatedRefusal r = located_refusal([&] { line = __LINE__, (void)(a + b); });
  EXPECT_EQ(r.what, "add: C1: requires all operands have one shape ([2] is not [3])  " + at(line));
  EXPECT_EQ(r.line, line);
  EXPECT_EQ(r.op, "add");
  EXPECT_EQ(r.constraint, "C1");
  r = located_refusal([&] { line = __LINE__, (void)matmul(m, m); });
  EXPECT_EQ(r.what, inner_dimensions + "  " + at(line));
  EXPECT_EQ(r.line, line);
  EXPECT_EQ(r.op, "matmul");
  EXPECT_EQ(r.constraint, "in its operators");
  Tensor c = a;
  r = located_refusal([&] { line = __LINE__, c *= b; });
  EXPECT_EQ(r.what, "mul: C1: requires all operands have one shape ([2] is not [3])  " + at(line));
}

TEST(Location, OfWhatIsTraced) {
  const Tensor m = zeros({2, 3});
  unsigned line = 0;
  const auto f = jit([&](const Tensor& x) {
    line = __LINE__ + 1;
    return matmul(x, x);
  });
  const auto loss = [&](const Tensor& x) {
    line = __LINE__ + 1;
    return sum(matmul(x, x));
  };
  for (const LocatedRefusal& r :
       {located_refusal([&] { f(m); }), located_refusal([&] { grad(loss)(m); }),
        located_refusal([&] { jit(grad(loss))(m); }), located_refusal([&] { vmap(loss)(zeros({4, 2, 3})); }),
        located_refusal([&] { checkpoint(loss)(m); })}) {
    EXPECT_EQ(r.what.substr(0, inner_dimensions.size()), inner_dimensions);
    EXPECT_EQ(r.file, std::source_location::current().file_name());
    EXPECT_EQ(r.what.substr(r.what.rfind("  ")), "  " + at(static_cast<unsigned>(r.line)));
  }
  EXPECT_EQ(located_refusal([&] { f(m); }).line, line);
  EXPECT_EQ(located_refusal([&] { grad(loss)(m); }).line, line);
}

TEST(Location, OfRulesIsThatOfTheFunction) {
  unsigned line = 0;
  const auto root = [&](const Tensor& x) {
    line = __LINE__ + 1;
    return while_loop([](const Tensor& s) { return s > 2; }, [](const Tensor& s) { return s / 2; }, x);
  };
  const LocatedRefusal r = located_refusal([&] { grad(root)(8.0); });
  EXPECT_EQ(r.op, "while");
  EXPECT_EQ(r.constraint, "vjp");
  EXPECT_EQ(r.line, line);
}

TEST(Location, OfControlFlow) {
  unsigned line = 0;
  const auto one = [] { return Tensor(1.0); };
  const auto yes = [] { return Tensor(true); };
  const LocatedRefusal r = located_refusal([&] { line = __LINE__, (void)cond(zeros({}) < 1, one, yes); });
  EXPECT_EQ(r.op, "cond");
  EXPECT_EQ(r.what.substr(0, 26), "cond: in its operators: if");
  EXPECT_EQ(r.line, line);
}

TEST(Location, OfTheRowsOfAReport) {
  const auto f = jit([](const Tensor& x) {
    const Tensor e = exp(x);
    return e + x;
  });
  const unsigned line = __LINE__ - 3;
  f(Tensor::from({1.0, 2.0}));
  const DispatchReport report = f.report();
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].location.to_string(), at(line));
  EXPECT_EQ(report.rows[1].location.to_string(), at(line + 1));
}

// As the programs of Renderer and Trainer are traced: what they call lies in the library.
TEST(Location, NowhereInALibrarysOwnFunctions) {
  const Tensor m = zeros({2, 3});
  const auto product = [](const Tensor& x) { return sum(matmul(x, x)); };
  const auto nested = [&](const Tensor& x) { return value_and_grad(product)(x).first; };
  for (const LocatedRefusal& r : {located_refusal([&] { jit(product, {}, Here::nowhere())(m); }),
                                  located_refusal([&] { jit(nested, {}, Here::nowhere())(m); })}) {
    EXPECT_EQ(r.what, inner_dimensions);
    EXPECT_EQ(r.file, "");
  }
  const auto sound = jit([](const Tensor& x) { return exp(x) + 1; }, {}, Here::nowhere());
  sound(m);
  const DispatchReport report = sound.report();
  for (const ReportRow& row : report.rows) EXPECT_EQ(row.location.to_string(), "");
}

TEST(Location, ArgumentErrorsNameTheFunction) {
  const Tensor m = zeros({2, 3}), whole = Tensor::from({1, 2});
  EXPECT_EQ(located_refusal([&] { (void)sum(m, {2}); }).what, "sum: there is no axis 2 of f64[2,3]");
  EXPECT_EQ(located_refusal([&] { (void)sum(m, {0, -2}); }).what, "sum: axis 0 of f64[2,3] is given twice");
  EXPECT_EQ(located_refusal([&] { (void)reverse(m, {1, -1}); }).what, "reverse: axis 1 of f64[2,3] is given twice");
  EXPECT_EQ(located_refusal([&] { (void)arange(-1); }).what, "arange: the count is -1, expected 0 or more");
  EXPECT_EQ(located_refusal([&] { (void)identity(-2); }).what, "identity: the count is -2, expected 0 or more");
  EXPECT_EQ(located_refusal([&] { (void)softmax(m, -3); }).what, "softmax: there is no axis -3 of f64[2,3]");
  EXPECT_EQ(located_refusal([&] { (void)stack({m, m}, 3); }).what,
            "stack: there is no axis 3 to put between those of f64[2,3]");
  EXPECT_EQ(located_refusal([&] { (void)reshape(m, {-1, 4}); }).what,
            "reshape: no size in place of -1 makes [-1,4] of f64[2,3]");
  EXPECT_EQ(located_refusal([&] { (void)matmul(m, zeros({1, 2, 3})); }).what,
            "matmul takes two matrices or batches of them, not [2,3] and [1,2,3]");
  EXPECT_EQ(located_refusal([&] { (void)broadcast(m, {3}); }).what, "broadcast_to: [2,3] has more dimensions than [3]");
  EXPECT_EQ(located_refusal([&] { (void)exp(Tensor()); }).what,
            "exp: a tensor that was never given a value has no elements");
  EXPECT_EQ(located_refusal([&] { (void)(whole + 1e-9); }).what,
            "the number 1e-09 meets a tensor of i32, which cannot hold it: convert the tensor first");
  EXPECT_EQ(located_refusal([&] { (void)(Tensor::from<std::int8_t>({1}) + 300); }).what,
            "the number 300 meets a tensor of i8, which cannot hold it: convert the tensor first");
  EXPECT_EQ((Tensor::from<std::int8_t>({1}) + 100).to_vector<std::int8_t>()[0], 101);
  EXPECT_EQ(located_refusal([&] { (void)m.dim(2); }).what, "there is no dimension 2 of f64[2,3]");
  EXPECT_EQ(located_refusal([&] { (void)m.item(); }).what, "one element was asked for of f64[2,3]");
  EXPECT_EQ(located_refusal([&] { (void)Tensor::from({1.0, 2.0, 3.0}, Extents{2, 2}); }).what,
            "3 elements given for f64[2,2], which has 4");
  EXPECT_EQ(located_refusal([&] { (void)zeros({2, -3}); }).what, "shape [2,-3] has a negative size, -3");
}

}  // namespace
}  // namespace rlx
