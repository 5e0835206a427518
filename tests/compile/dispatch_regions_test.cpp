// How nodes inside of loops and branches are resolved, and what the report says of them.
#include "dispatched.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/ops/build.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace rlx::dispatched {
namespace {

// "region value op" of each row.
std::vector<std::string> places(const DispatchReport& r) {
  std::vector<std::string> out;
  for (const ReportRow& row : r.rows) out.push_back(row.region + " " + row.value + " " + row.op);
  return out;
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

}  // namespace
}  // namespace rlx::dispatched
