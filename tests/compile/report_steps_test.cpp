// The steps of the report: what they are made from, and what they cost, against counts by hand.
#include "compile/report_steps.hpp"
#include "catalog.hpp"
#include "compile/moved_bytes.hpp"
#include "lir_program.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/ops/build.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace rlx {
namespace {

using KernelBody = testing_kernels::Body;
using testing_kernels::LirProgram;

DispatchReport compiled_report(const Types& in, const std::function<Values(Builder&, ValuesIn)>& body,
                               const CompileOptions& options = {}, std::span<const KernelRecord> records = {}) {
  Graph g("g");
  Builder b(g, registry());
  Values x;
  for (const Type& t : in) x.push_back(b.input(t, "x" + std::to_string(x.size())));
  const Values out = body(b, x);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  return compile_program(g, registry(), Target{.device = "made_up"}, records, options).report;
}
std::vector<std::string> steps_of(const DispatchReport& r, std::string_view op) {
  for (const ReportRow& row : r.rows)
    if (row.op == op) return row.steps;
  ADD_FAILURE() << "no row of " << op;
  return {};
}

TEST(ReportSteps, AFusedChainIsOneStepOfEachOfItsNodes) {
  const DispatchReport r =
      compiled_report({f64({100})}, [](Builder&, ValuesIn x) { return Values{ops::mul(ops::add(x[0], x[0]), x[0])}; });
  ASSERT_EQ(r.steps.size(), 1u) << r.to_json();
  const StepRow& s = r.steps[0];
  EXPECT_EQ(s.kind, "kernel");
  EXPECT_EQ(s.provider, "generated");
  EXPECT_EQ(s.flops, 200);        // Each node one an element.
  EXPECT_EQ(s.bytes, 2 * 800.0);  // x is read once, y is written, their sum never is.
  EXPECT_EQ(steps_of(r, "add"), std::vector{s.name});
  EXPECT_EQ(steps_of(r, "mul"), std::vector{s.name});
  const DispatchReport apart = compiled_report(
      {f64({100})}, [](Builder&, ValuesIn x) { return Values{ops::mul(ops::add(x[0], x[0]), x[0])}; }, {.fuse = false});
  ASSERT_EQ(apart.steps.size(), 2u);
  EXPECT_EQ(apart.steps[0].flops, 100);
  EXPECT_EQ(apart.steps[1].bytes, 3 * 800.0);
  EXPECT_EQ(steps_of(apart, "add"), std::vector{apart.steps[0].name});
}

TEST(ReportSteps, AProductReadsItsOperandsOnceAndCountsTwoATerm) {
  const DispatchReport r = compiled_report({f32({7, 11}), f32({11, 5})},
                                           [](Builder&, ValuesIn x) { return Values{ops::matmul(x[0], x[1])}; });
  ASSERT_EQ(r.steps.size(), 1u);
  EXPECT_EQ(r.steps[0].flops, 2 * 7 * 11 * 5);
  EXPECT_EQ(r.steps[0].bytes, 4 * (7 * 11 + 11 * 5 + 7 * 5));
}

// A long row is summed in pieces of 16384, then the pieces' sums: the second stage is none of the reduction's cost.
TEST(ReportSteps, TheStagesOfAReductionShareItsCost) {
  const DispatchReport r =
      compiled_report({f64({100000})}, [](Builder&, ValuesIn x) { return Values{ops::reduce_sum(x[0], {0})}; });
  ASSERT_EQ(r.steps.size(), 2u) << r.to_json();
  EXPECT_EQ(r.steps[0].flops, 100000);
  EXPECT_EQ(r.steps[0].bytes, 8 * (100000 + 7));
  EXPECT_EQ(r.steps[1].flops, 0);
  EXPECT_EQ(r.steps[1].bytes, 8 * (7 + 1));
  EXPECT_EQ(steps_of(r, "reduce"), (std::vector{r.steps[0].name, r.steps[1].name}));
}

// A table of which two rows are read and one is written, in the memory that the caller gives.
TEST(ReportSteps, AStepMovesWhatItsKernelTouches) {
  const Types in{f32({1000, 4}), tensor(DType::i32, {2}), tensor(DType::i64, {})};
  const auto body = [](Builder& b, ValuesIn x) {
    const Value rows = ops::take(x[0], x[1], 0);
    return Values{ops::dynamic_update_slice(x[0], ops::reduce_sum(rows, {0}, true),
                                            std::array{x[2], ops::scalar(b, DType::i64, 0)})};
  };
  const DispatchReport r = compiled_report(in, body, {.donated = {0}});
  ASSERT_EQ(r.donations[0].result, "y0") << r.to_json();
  for (const StepRow& s : r.steps) {
    EXPECT_NE(s.kind, "copy");
    ASSERT_TRUE(s.bytes);
    EXPECT_LE(*s.bytes, 200) << s.name;  // Of 16000.
    EXPECT_GE(*s.bytes, 16) << s.name;
  }
  // Kept by the caller, the table is copied first.
  const DispatchReport kept = compiled_report(in, body);
  const auto copy =
      std::find_if(kept.steps.begin(), kept.steps.end(), [](const StepRow& s) { return s.kind == "copy"; });
  ASSERT_NE(copy, kept.steps.end()) << kept.to_json();
  EXPECT_EQ(copy->bytes, 2 * 16000.0);
  EXPECT_EQ(copy->flops, 0);
  EXPECT_EQ(kept.steps.size(), r.steps.size() + 1);
  EXPECT_EQ(steps_of(kept, "dynamic_update_slice").size(), steps_of(r, "dynamic_update_slice").size() + 1);
}

TEST(ReportSteps, ALoopHasNoCostOfItsOwn) {
  const DispatchReport r = compiled_report({f64({10})}, [](Builder& b, ValuesIn x) {
    const auto i64 = [&](double n) { return ops::scalar(b, DType::i64, n); };
    const Values out = ops::while_(
        std::array{i64(0), x[0]}, {},
        [&](ValuesIn v) { return Values{ops::compare(v[0], i64(3), ops::Direction::lt)}; },
        [&](ValuesIn v) { return Values{ops::add(v[0], i64(1)), ops::mul(v[1], v[1])}; });
    return Values{out[1]};
  });
  const auto find = [&](std::string_view kind, std::string_view name) {
    return std::find_if(r.steps.begin(), r.steps.end(),
                        [&](const StepRow& s) { return s.kind == kind && s.name.starts_with(name); });
  };
  const auto loop = find("while", "while"), square = find("kernel", "mul");
  ASSERT_NE(loop, r.steps.end());
  ASSERT_NE(square, r.steps.end()) << r.to_json();
  EXPECT_FALSE(loop->flops || loop->bytes);
  EXPECT_LT(loop, square);  // The loop, then what it holds.
  EXPECT_EQ(square->flops, 10);
  EXPECT_EQ(square->bytes, 2 * 80.0);
  const auto json = nlohmann::json::parse(r.to_json());
  EXPECT_TRUE(json["steps"][static_cast<std::size_t>(loop - r.steps.begin())]["flops"].is_null());
  EXPECT_EQ(json["steps"][static_cast<std::size_t>(square - r.steps.begin())]["bytes"], 160);
  const std::string table = r.to_table();
  EXPECT_NE(table.find(" while "), std::string::npos);
  EXPECT_NE(table.find(" flops "), std::string::npos) << table;
}

// What an input that is returned needs is a copy, of no node.
TEST(ReportSteps, ACopyOfAnInputIsInNoRow) {
  const DispatchReport r =
      compiled_report({f64({10})}, [](Builder&, ValuesIn x) { return Values{x[0], ops::add(x[0], x[0])}; });
  ASSERT_EQ(r.steps.size(), 2u);
  EXPECT_EQ(std::count_if(r.steps.begin(), r.steps.end(), [](const StepRow& s) { return s.kind == "copy"; }), 1);
  EXPECT_EQ(steps_of(r, "add").size(), 1u);
}

TEST(ReportSteps, ACallCountsAsItsRecordsOperator) {
  const KernelRecord record{.name = "made_up.softmax",
                            .op = "softmax",
                            .provider = "handwritten",
                            .action = Launch{[](const LaunchCall&) {}}};
  const DispatchReport r = compiled_report(
      {f32({4, 8})}, [](Builder&, ValuesIn x) { return Values{ops::softmax(x[0], 1)}; }, {}, std::span(&record, 1));
  ASSERT_EQ(r.steps.size(), 1u);
  EXPECT_EQ(r.steps[0].provider, "handwritten");
  EXPECT_EQ(r.steps[0].kernel_operations, 0);
  EXPECT_EQ(r.steps[0].flops, r.rows[0].flops);
  EXPECT_GT(r.rows[0].flops, 0);
  EXPECT_EQ(r.steps[0].bytes, 2 * 4 * 8 * 4);
}

TEST(MovedBytes, LoopsOfKnownLengthAndOthers) {
  LirProgram p;
  const Value x = p.input(100), y = p.output(100), n = p.b.input(LirProgram::type(1, DType::i64), "n");
  const auto bytes = [&](const std::function<void(const KernelBody&)>& body) {
    p.kernel({x, n}, {y}, body);
    return compile::moved_bytes(p.g, std::array{p.last()});
  };
  const auto copied = [](const KernelBody& k, Value trips) {
    k.loop(k.i64(0), trips, {}, [&](Value i, ValuesIn) {
      k.store(2, i, k.load(0, i));
      return Values{};
    });
  };
  EXPECT_EQ(bytes([&](const KernelBody& k) { copied(k, k.i64(3)); }), 4.0 * (3 + 3));
  EXPECT_EQ(bytes([&](const KernelBody& k) { copied(k, k.i64(300)); }), 4.0 * (100 + 100));
  EXPECT_EQ(bytes([&](const KernelBody& k) { copied(k, k.load(1, k.i64(0))); }), 4.0 * (100 + 100) + 8);
  // What it has stored itself it does not fetch from memory.
  EXPECT_EQ(bytes([&](const KernelBody& k) {
              k.store(2, k.index[0], k.load(0, k.index[0]));
              k.store(2, k.i64(1), k.load(2, k.index[0]));
            }),
            4.0 * (1 + 2));
  EXPECT_EQ(bytes([&](const KernelBody& k) { k.store(2, k.index[0], k.load(2, k.index[0])); }), 4.0 * (1 + 1));
}

TEST(MovedBytes, WhatACallAndItsKernelsHandToEachOtherIsNotMoved) {
  LirProgram p;
  const Value x = p.input(16), t = p.buffer(16, -1, lir::Lifetime::piecewise), s = p.buffer(16), y = p.output(16);
  const auto copy = [](const KernelBody& k) { k.store(1, k.index[0], k.load(0, k.index[0])); };
  std::vector<NodeId> step;
  const std::string before = p.kernel({x}, {t}, copy);
  step.push_back(p.last());
  p.call({t}, {s}, {before}, "k1");
  step.push_back(p.last());
  p.kernel({s}, {y}, copy);
  step.push_back(p.last());
  p.check();
  // One element of x, all of s, which the call stores, and one of y.
  EXPECT_EQ(compile::moved_bytes(p.g, step), 4.0 * (1 + 16 + 1));
  EXPECT_EQ(compile::moved_bytes(p.g, std::span(step).last(1)), 4.0 * (1 + 1));
}

}  // namespace
}  // namespace rlx
