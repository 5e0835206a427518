// How nodes are resolved, what a target or a record wants that no pass gives, and what the report says of it.
#include "dispatched.hpp"

#include <rlx/ir/located.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace rlx::dispatched {
namespace {

TEST(Dispatch, EveryNodeThatTheLanguageLacksIsNamed) {
  Target poor = target;
  poor.expresses = [](const Instance& i) {
    return i.op->name() == "tanh" || i.op->name() == "erf" ? Answer::no("C has no " + std::string(i.op->name()))
                                                           : Answer(true);
  };
  Graph g;
  Builder b(g, registry());
  const Value x = b.input(f32({4}), "x");
  b.output(ops::add(b.emit1("tanh", {x}), b.emit1("erf", {x})), "y");
  try {
    compile_program(g, registry(), poor, {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_EQ(e.report().unresolved(), 2u);
    EXPECT_EQ(row_of(e.report(), "tanh").refusals.at(0).why, "C has no tanh");
    EXPECT_EQ(row_of(e.report(), "erf").refusals.at(0).why, "C has no erf");
  }
}

// A large prime length is a convolution; one with such a factor splits it off first, and so do kinds other than
// forward.
TEST(Dispatch, TransformsOfLargePrimesAreConvolutions) {
  const auto rule_of = [](std::int64_t n, ops::FftKind kind) {
    Graph g;
    Builder b(g, registry());
    b.output(ops::fft(b.input(kind == ops::FftKind::real_forward ? f64({n}) : c128({n}), "x"), {kind, n}), "y");
    const DispatchReport r = report_of(std::move(g));
    EXPECT_EQ(r.unresolved(), 0u);
    return r.rows.at(0).lowering;
  };
  using K = ops::FftKind;
  EXPECT_EQ(rule_of(251, K::forward), "fft_by_factors");
  EXPECT_EQ(rule_of(257, K::forward), "fft_by_convolution");
  EXPECT_EQ(rule_of(257, K::inverse), "fft_by_factors");
  EXPECT_EQ(rule_of(257, K::real_forward), "fft_by_factors");
  EXPECT_EQ(rule_of(2 * 257, K::forward), "fft_by_factors");
  // No matrix of 65537^2 roots.
  Graph g;
  Builder b(g, registry());
  b.output(ops::fft(b.input(c64({65537}), "x"), {K::inverse, 65537}), "y");
  DispatchReport report = compile::open_rows(g, target, {});
  const Graph mir = compile::dispatch(g, registry(), target, {}, {}, report);
  std::int64_t elements = 0;
  for (std::size_t v = 0; v < mir.value_count(); ++v)
    elements = std::max(elements, mir.tensor_type(static_cast<ValueId>(v)).numel().constant());
  EXPECT_LE(elements, 4 * 65537);
}

Graph one_softmax() {
  Graph g("softmax");
  Builder b(g, registry());
  b.output(ops::softmax(b.input(f32({4, 8}), "x"), 1), "y");
  return g;
}
// Why the record is not taken.
std::string refusal(const KernelRecord& record, const Target& on = target) {
  const DispatchReport r = report_of(one_softmax(), {}, std::span(&record, 1), on);
  const ReportRow& row = row_of(r, "softmax");
  return row.refusals.empty() ? "" : row.refusals.front().why;
}

TEST(Dispatch, ARecordThatWantsWhatNoPassGives) {
  EXPECT_EQ(refusal(softmax_record), "");
  const auto columns = std::make_shared<const Layout>(Layout{{0, 1}});
  KernelRecord record = softmax_record;
  record.layouts = {columns};
  EXPECT_EQ(refusal(record), "made_up.softmax: wants operand 0 as f32[4,8]{layout=(0,1)}, and no pass makes layouts");
  record.layouts = {nullptr, columns};
  EXPECT_EQ(refusal(record), "made_up.softmax: leaves result 0 as f32[4,8]{layout=(0,1)}, and no pass makes layouts");
  record.layouts = {nullptr, nullptr};
  EXPECT_EQ(refusal(record), "");
  record.action = Emit{[](const EmitCall&) {}};
  EXPECT_EQ(refusal(record), "made_up.softmax: emits into a graph, which made_up does not take");
}

TEST(Dispatch, ATargetWithoutAHeapTakesNoWorkspace) {
  Target fixed = target;
  fixed.heap = false;
  EXPECT_EQ(refusal(softmax_record, fixed), "");
  KernelRecord record = softmax_record;
  record.workspace = [](const Instance&) -> std::int64_t { return 64; };
  EXPECT_EQ(refusal(record), "");
  EXPECT_EQ(refusal(record, fixed), "made_up.softmax: wants a workspace, and made_up has no heap");
}

TEST(Dispatch, GraphTargetsAreRefused) {
  Target graphs = target;
  graphs.takes = Takes::graphs;
  Graph same("same");
  Builder b(same, registry());
  b.output(b.input(f32({4}), "x"), "y");
  for (const Graph& g : {one_softmax(), same}) try {
      compile_program(g, registry(), graphs, {});
      FAIL();
    } catch (const CompileError& e) {
      EXPECT_NE(std::string(e.what()).find("made_up takes graphs, and no pass cuts subgraphs"), std::string::npos)
          << e.what();
      EXPECT_EQ(e.report().unresolved(), 1u);
    }
}

// tf32 and bf16x3 give leave to lose bits, which nothing here uses; the report says so.
TEST(Dispatch, AnAlgorithmThatIsNotUsedIsNoted) {
  Graph g("contractions");
  Builder b(g, registry());
  const Value x = b.input(f32({8, 8}), "x"), v = b.input(f32({8}), "v"), image = b.input(f32({1, 8, 4}), "image"),
              kernel = b.input(f32({3, 4, 4}), "kernel");
  ops::DotGeneralAttrs product{{}, {}, {1}, {0}}, dot{{}, {}, {0}, {0}};
  product.algorithm = ops::Algorithm::tf32;
  dot.algorithm = ops::Algorithm::bf16x3;
  ops::ConvAttrs conv;
  conv.algorithm = ops::Algorithm::bf16x3;
  b.output(ops::dot_general(x, x, product), "product");
  b.output(ops::dot_general(v, v, dot), "dot");
  b.output(ops::conv(image, kernel, conv), "conv");
  b.output(ops::dot_general(x, x, ops::DotGeneralAttrs{{}, {}, {1}, {0}}), "exact");
  using Notes = std::vector<std::string>;
  DispatchReport r = report_of(g);
  ASSERT_EQ(r.rows.size(), 4u);
  EXPECT_EQ(r.rows[0].notes, Notes{"algorithm tf32: computed exactly"});
  EXPECT_EQ(r.rows[1].notes, Notes{"algorithm bf16x3: computed exactly"});
  EXPECT_EQ(r.rows[2].notes, Notes{"algorithm bf16x3: computed exactly"});
  EXPECT_EQ(r.rows[3].notes, Notes{});
  KernelRecord record{.name = "made_up.dot",
                      .op = "dot_general",
                      .provider = "handwritten",
                      .action = Launch{[](const LaunchCall&) {}}};
  r = report_of(g, {}, std::span(&record, 1));
  EXPECT_EQ(r.rows[0].notes, Notes{"algorithm tf32: computed exactly"});
  record.narrows = true;
  r = report_of(g, {}, std::span(&record, 1));
  EXPECT_EQ(r.rows[0].lowering, "made_up.dot");
  EXPECT_EQ(r.rows[0].notes, Notes{});
}

TEST(Dispatch, WhatATargetCannotStoreIsRefused) {
  Target single = target;
  single.storage = storable - DTypeSet{DType::f64};
  Graph g("same");
  Builder b(g, registry());
  const Value x = b.input(f64({4}), "x");
  b.output(x, "y");
  try {
    compile_program(g, registry(), single, {});
    FAIL();
  } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), "dtype") << e.what(); }
  b.output(ops::add(x, x), "z");
  try {
    compile_program(g, registry(), single, {});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_EQ(row_of(e.report(), "add").refusals.at(0).why, "dtype f64 cannot be stored on made_up");
  }
}

TEST(Dispatch, ValuesOverAMeshAreRefused) {
  Graph g("same");
  Builder b(g, registry());
  b.output(b.input(parse_type("f32[8]{split=((data)),partial=(model)}"), "x"), "y");
  for (const Takes takes : {Takes::steps, Takes::nodes}) {
    Target on = target;
    on.takes = takes;
    try {
      compile_program(g, registry(), on, {});
      FAIL();
    } catch (const VerifyError& e) {
      EXPECT_EQ(e.constraint(), "sharding");
      EXPECT_NE(std::string(e.what()).find("split=((data)),partial=(model)"), std::string::npos) << e.what();
    }
  }
}

TEST(Dispatch, TracedCodeIsLocatedAtTheCallOfJit) {
  const auto f = jit([](const Tensor& x) { return exp(x) + x; });
  const unsigned line = __LINE__ - 1;
  f(Tensor::from(std::vector<float>{1, 2, 3}));
  const DispatchReport report = f.report();
  for (const ReportRow& row : report.rows) {
    EXPECT_EQ(row.location.line, line);
    EXPECT_NE(row.location.file.find("dispatch_test.cpp"), std::string::npos);
  }
}

TEST(Dispatch, AnIllegalNodeKnowsItsPlace) {
  try {
    parse("rlx 1\ngraph g(%0 \"x\": f32[2]) {\n  %1 = add(%0) : f32[2]\n  return\n}\n", registry(), "bad.rlx",
          TextLines::remember);
    FAIL();
  } catch (const LocatedVerifyError& e) {
    EXPECT_EQ(e.site().file, "bad.rlx");
    EXPECT_EQ(e.site().line, 3u);
  } catch (const Error& e) { FAIL() << e.what(); }
}

}  // namespace
}  // namespace rlx::dispatched
