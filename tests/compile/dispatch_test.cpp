// How nodes are resolved and what the report says of them, inside loops and branches too. Targets and records are made
// up: nothing runs.
#include "compile/dispatch.hpp"
#include "catalog.hpp"
#include "compile/open_rows.hpp"

#include <rlx/ir/located.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/rlx.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace rlx {
namespace {

const Target target{.device = "made_up"};
const KernelRecord softmax_record{.name = "made_up.softmax",
                                  .op = "softmax",
                                  .provider = "handwritten",
                                  .action = Launch{[](const LaunchCall&) {}},
                                  .deterministic = false,
                                  .synchronises = true};

DispatchReport report_of(Graph g, const CompileOptions& options = {}, std::span<const KernelRecord> records = {},
                         const Target& on = target) {
  DispatchReport report = compile::open_rows(g, on, options);
  compile::dispatch(g, registry(), on, records, options, report);
  return report;
}

// "region value op" of each row.
std::vector<std::string> places(const DispatchReport& r) {
  std::vector<std::string> out;
  for (const ReportRow& row : r.rows) out.push_back(row.region + " " + row.value + " " + row.op);
  return out;
}
const ReportRow& row_of(const DispatchReport& r, std::string_view op) {
  for (const ReportRow& row : r.rows)
    if (row.op == op) return row;
  throw InternalError("no row of " + std::string(op));
}

// x = softmax(x) until i is 3, in text, so that every node has a line.
Graph loop_with_softmax() {
  Graph g("loop");
  Builder b(g, registry());
  const auto i64 = [&](double x) { return ops::scalar(b, DType::i64, x); };
  const Value x = b.input(f32({4, 8}), "x");
  const Values out = ops::while_(
      std::array{i64(0), x}, {}, [&](ValuesIn v) { return Values{ops::compare(v[0], i64(3), ops::Direction::lt)}; },
      [&](ValuesIn v) { return Values{ops::add(v[0], i64(1)), ops::softmax(v[1], 1)}; });
  b.output(out[1], "y");
  return parse(print(g), registry(), "loop.rlx", TextLines::remember);
}

TEST(Dispatch, NodesOfRegionsHaveRows) {
  const Graph g = loop_with_softmax();
  const std::vector<std::string> rows = places(report_of(g));
  // Numbers are those of the text.
  const std::string text = print(g);
  const auto number = [&](const std::string& op) {
    const std::size_t start = text.find('%', text.rfind('\n', text.find("= " + op + "(")));
    return text.substr(start, text.find_first_of(" ,:", start) - start);
  };
  const std::string loop = number("while").substr(1);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[1], " %" + loop + " while");
  EXPECT_EQ(rows[2].substr(0, rows[2].find(' ')), "while/" + loop + ".condition");
  EXPECT_EQ(rows[3], "while/" + loop + ".condition " + number("compare") + " compare");
  EXPECT_EQ(rows[6], "while/" + loop + ".body " + number("softmax") + " softmax");
}

TEST(Dispatch, RowsOfRegionsHaveTheirOwnPathAndLine) {
  const DispatchReport r = report_of(loop_with_softmax(), {}, std::span(&softmax_record, 1));
  const ReportRow& softmax = row_of(r, "softmax");
  EXPECT_EQ(softmax.path, Path::native);
  EXPECT_EQ(softmax.lowering, "made_up.softmax");
  EXPECT_EQ(softmax.provider, "handwritten");
  EXPECT_EQ(softmax.location.file, "loop.rlx");
  EXPECT_GT(softmax.location.line, row_of(r, "while").location.line);
  EXPECT_EQ(softmax.notes,
            (std::vector<std::string>{"not reproducible: made_up.softmax", "waits for the device: made_up.softmax"}));
  // The loop itself is generated code and nothing else.
  EXPECT_EQ(row_of(r, "while").provider, "generated");
  EXPECT_TRUE(row_of(r, "while").notes.empty());
}

TEST(Dispatch, ForceNativeHoldsInsideALoop) {
  const CompileOptions options{.preference = Preference::force_native};
  EXPECT_EQ(report_of(loop_with_softmax(), options, std::span(&softmax_record, 1)).unresolved(), 0u);
  try {
    compile_program(loop_with_softmax(), registry(), target, {}, options);
    FAIL();
  } catch (const CompileError& e) {
    const ReportRow& row = row_of(e.report(), "softmax");
    EXPECT_EQ(row.path, Path::unresolved);
    EXPECT_EQ(e.report().unresolved(), 1u);
    const std::string text = e.what();
    EXPECT_NE(text.find(row.region + " " + row.value + " softmax"), std::string::npos) << text;
    EXPECT_NE(text.find("loop.rlx:" + std::to_string(row.location.line)), std::string::npos) << text;
    EXPECT_NE(text.find("policy force-native"), std::string::npos) << text;
  }
}

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

TEST(Dispatch, AnOverrideHoldsInsideALoop) {
  const CompileOptions options{.per_operator = {{"softmax", Preference::force_common}}};
  const ReportRow row = row_of(report_of(loop_with_softmax(), options, std::span(&softmax_record, 1)), "softmax");
  EXPECT_EQ(row.path, Path::common);
  ASSERT_FALSE(row.refusals.empty());
  EXPECT_EQ(row.refusals[0].why, "made_up.softmax: policy force-common");
}

Graph scan_of_softmax(std::int64_t length) {
  Graph g("scan");
  Builder b(g, registry());
  const Value x = b.input(f32({length, 8}), "x"), s = b.input(f32({8}), "s");
  b.set_location({"scan.cpp", 5});
  const Values out = ops::scan(std::array{s}, std::array{x}, {}, [&](ValuesIn v) {
    b.set_location({"scan.cpp", 6});
    const Value next = ops::softmax(ops::add(v[0], v[1]), 0);
    return Values{next, next};
  });
  b.output(out[0], "y");
  b.output(out[1], "ys");
  return g;
}

// A rule turns the scan into a loop; its body keeps the rows of the scan's.
TEST(Dispatch, NodesThatARuleMovesKeepTheirRowsAndPolicies) {
  const DispatchReport r = report_of(scan_of_softmax(4), {}, std::span(&softmax_record, 1));
  ASSERT_EQ(r.rows.size(), 3u);
  EXPECT_EQ(r.rows[0].path, Path::rewritten);
  EXPECT_EQ(r.rows[0].lowering, "scan_to_while");
  EXPECT_EQ(r.rows[0].provider, "generated");
  EXPECT_EQ(r.rows[2].region, "scan/" + r.rows[0].value.substr(1) + ".body");
  EXPECT_EQ(r.rows[2].provider, "handwritten");
  EXPECT_EQ(r.rows[2].location.line, 6u);
  EXPECT_EQ(report_of(scan_of_softmax(4), {.preference = Preference::force_native}).unresolved(), 1u);
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

TEST(Dispatch, ABodyThatNeverRunsIsNotUnresolved) {
  const DispatchReport r = report_of(scan_of_softmax(0));
  EXPECT_EQ(r.unresolved(), 0u);
  EXPECT_EQ(row_of(r, "softmax").notes, std::vector<std::string>{"not part of the program: never reached"});
}

TEST(Dispatch, BranchesAreNamed) {
  Graph g("branch");
  Builder b(g, registry());
  const Value p = b.input(TensorType{DType::boolean}, "p"), x = b.input(f32({4}), "x");
  const Values out = ops::if_(
      p, std::array{x}, [](ValuesIn v) { return Values{ops::exp(v[0])}; },
      [](ValuesIn v) { return Values{ops::sin(v[0])}; });
  b.output(out[0], "y");
  const DispatchReport r = report_of(g);
  const std::string owner = "if/" + r.rows[0].value.substr(1);
  EXPECT_EQ(row_of(r, "exp").region, owner + ".then");
  EXPECT_EQ(row_of(r, "sin").region, owner + ".else");
}

TEST(Dispatch, CombinationsOfReductionsArePartOfTheirNode) {
  Graph g("sum");
  Builder b(g, registry());
  b.output(ops::sum_all(b.input(f32({4}), "x")), "y");
  const DispatchReport r = report_of(g);
  EXPECT_TRUE(std::all_of(r.rows.begin(), r.rows.end(), [](const ReportRow& row) { return row.region.empty(); }));
}

TEST(Dispatch, TableAndJsonShowRegionsAndPlaces) {
  const DispatchReport r = report_of(loop_with_softmax());
  const ReportRow& softmax = row_of(r, "softmax");
  const std::string table = r.to_table();
  EXPECT_NE(table.find(softmax.region + " " + softmax.value + " "), std::string::npos) << table;
  EXPECT_NE(table.find(softmax.location.to_string()), std::string::npos) << table;
  const auto json = nlohmann::json::parse(r.to_json());
  const auto& node = json["nodes"].back();
  EXPECT_EQ(node["region"], softmax.region);
  EXPECT_EQ(node["file"], "loop.rlx");
  EXPECT_EQ(node["line"], softmax.location.line);
}

TEST(Dispatch, StepsOfALoopBodyStandInItsRows) {
  const Program p = compile_program(loop_with_softmax(), registry(), target, std::span(&softmax_record, 1));
  EXPECT_EQ(row_of(p.report, "softmax").steps, std::vector<std::string>{"made_up.softmax"});
  const auto& steps = row_of(p.report, "while").steps;
  EXPECT_NE(std::find(steps.begin(), steps.end(), "while"), steps.end());
  EXPECT_EQ(row_of(p.report, "while").notes, std::vector<std::string>{"loop: 3 trips"});
  for (const StepRow& s : p.report.steps)
    if (s.kind == "call") { EXPECT_EQ(s.provider, "handwritten"); }
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
}  // namespace rlx
