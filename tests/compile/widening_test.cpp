// What the report says of types wider than those that the program names, on a made-up device that computes f16 and bf16
// in f32.
#include "compile/widening.hpp"
#include "catalog.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/ops/build.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rlx {
namespace {

using Notes = std::vector<std::string>;
const Notes no_notes{}, f16_in_f32{"widened: f16 computed in f32"};

const Target narrow_target = [] {
  Target t{.device = "made-up"};
  t.compute = storable;
  t.computes_in = compile::small_floats_in_f32;
  return t;
}();

DispatchReport widening_report(const std::function<void(Builder&)>& fill, const Target& t = narrow_target,
                               std::span<const KernelRecord> records = {}) {
  Graph g("g");
  Builder b(g, registry());
  fill(b);
  return compile_program(g, registry(), t, records, {}).report;
}

Value half_input(Builder& b, Shape shape, const char* name = "x") { return b.input(f16(std::move(shape)), name); }

TEST(Widening, ArithmeticInAWiderTypeIsNoted) {
  const DispatchReport r = widening_report([](Builder& b) {
    const Value x = half_input(b, {8});
    b.output(ops::exp(x) * x, "y");
    b.output(ops::exp(b.input(f32({8}), "z")), "w");
    b.output(ops::sqrt(b.input(tensor(DType::bf16, {8}), "v")), "u");
  });
  ASSERT_EQ(r.rows.size(), 4u);
  EXPECT_EQ(r.rows[0].notes, f16_in_f32);
  EXPECT_EQ(r.rows[1].notes, f16_in_f32);
  EXPECT_EQ(r.rows[2].notes, no_notes);
  EXPECT_EQ(r.rows[3].notes, Notes{"widened: bf16 computed in f32"});
  EXPECT_NE(r.to_table().find("note: widened: f16 computed in f32"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(r.to_json())["nodes"][0]["notes"], nlohmann::json(f16_in_f32));
}

// Nobody can tell what moves, compares, chooses or converts from the same in a wider type.
TEST(Widening, WhatIsExactIsNotNoted) {
  const DispatchReport r = widening_report([](Builder& b) {
    const Value x = half_input(b, {4, 2}), y = half_input(b, {4, 2}, "y");
    b.output(ops::select(ops::compare(x, y, ops::Direction::lt), ops::neg(x), ops::max(x, y)), "a");
    b.output(ops::convert(ops::transpose(x, {1, 0}), DType::f32), "b");
    b.output(ops::floor(ops::abs(y)), "c");
    b.output(ops::arg_reduce(x, 0, ops::Extremum::max), "d");
  });
  ASSERT_GE(r.rows.size(), 8u);
  for (const ReportRow& row : r.rows) EXPECT_EQ(row.notes, no_notes) << row.op;
}

// f32 sums of f16 products are what dot_general and reductions of sums mean; sums asked for in f16 are not.
TEST(Widening, StatedAccumulatorsAreNoWidening) {
  const DispatchReport r = widening_report([](Builder& b) {
    const Value x = half_input(b, {8, 8});
    ops::DotGeneralAttrs product{{}, {}, {1}, {0}};
    b.output(ops::dot_general(x, x, product), "default");
    product.accumulate = DType::f16;
    b.output(ops::dot_general(x, x, product), "narrow");
    b.output(ops::reduce_sum(x, {0}), "sum");
    b.output(ops::reduce_window(x, {.window = {2, 2}}), "windows");
  });
  std::vector<Notes> products;
  for (const ReportRow& row : r.rows) {
    if (row.op == "dot_general") {
      products.push_back(row.notes);
    } else {
      EXPECT_EQ(row.notes, no_notes) << row.op;
    }
  }
  EXPECT_EQ(products, (std::vector<Notes>{no_notes, f16_in_f32}));
}

// A scalar function has no row: the node that it belongs to says so. Bodies of loops have rows.
TEST(Widening, RegionsAreLookedInto) {
  const DispatchReport r = widening_report([](Builder& b) {
    const Value x = half_input(b, {8}), zero = ops::scalar(b, DType::f16, 0);
    const auto sum = [](ValuesIn v) { return Values{v[0] + v[1]}; };
    const auto largest = [](ValuesIn v) { return Values{ops::max(v[0], v[1])}; };
    const ops::ReduceAttrs narrow{.axes = {0}, .accumulate = {DType::f16}};
    b.output(ops::reduce(Values{x}, Values{zero}, narrow, sum)[0], "narrow");
    b.output(ops::reduce(Values{x}, Values{zero}, narrow, largest)[0], "largest");
    b.output(ops::reduce(Values{x}, Values{zero}, {0}, sum)[0], "in_f32");  // Which is what it means.
    b.output(ops::scan(Values{zero}, Values{x}, {}, [](ValuesIn v) { return Values{ops::tanh(v[0] * v[1])}; })[0],
             "state");
  });
  std::vector<Notes> reductions;
  int in_loops = 0;
  for (const ReportRow& row : r.rows) {
    if (row.op == "reduce") reductions.push_back(row.notes);
    if (row.op == "tanh") {
      EXPECT_EQ(row.notes, f16_in_f32);
      ++in_loops;
    }
  }
  EXPECT_EQ(reductions, (std::vector<Notes>{f16_in_f32, no_notes, no_notes}));
  EXPECT_EQ(in_loops, 1);
}

TEST(Widening, CompositesSayWhatTheirPartsDo) {
  const DispatchReport r = widening_report([](Builder& b) {
    const Value x = half_input(b, {8});
    b.output(ops::softmax(x, 0), "y");  // Its meaning converts to f32 first.
    b.output(ops::var(b.input(tensor(DType::bf16, {8}), "v"), {0}), "z");
  });
  for (const ReportRow& row : r.rows) EXPECT_EQ(row.notes, no_notes) << row.op;
}

TEST(Widening, RecordsStateTheirOwn) {
  KernelRecord record{.name = "made_up.exp",
                      .op = "exp",
                      .provider = "handwritten",
                      .action = Launch{[](const LaunchCall&) {}},
                      .widens = [](const Instance& i) -> std::string {
                        return i.signature.dtype(0) == DType::f32 ? "f32 computed in f64" : "";
                      }};
  const auto fill = [](Builder& b) {
    b.output(ops::exp(b.input(f32({8}), "x")), "y");
    b.output(ops::exp(half_input(b, {8}, "z")), "w");
  };
  DispatchReport r = widening_report(fill, narrow_target, {&record, 1});
  EXPECT_EQ(r.rows[0].notes, Notes{"widened: f32 computed in f64"});
  EXPECT_EQ(r.rows[1].notes, no_notes);
  record.widens = nullptr;
  r = widening_report(fill, narrow_target, {&record, 1});
  EXPECT_EQ(r.rows[0].notes, no_notes);
}

TEST(Widening, ATargetThatComputesAsItSaysHasNoNotes) {
  Target plain = narrow_target;
  plain.computes_in = nullptr;
  const DispatchReport r = widening_report([](Builder& b) { b.output(ops::exp(half_input(b, {8})), "y"); }, plain);
  EXPECT_EQ(r.rows[0].notes, no_notes);
}

}  // namespace
}  // namespace rlx
