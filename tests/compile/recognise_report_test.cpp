// What the recognition pass makes of sizes, of regions and under policies, and what the report says.
#include "written_out.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

namespace rlx::written_out {
namespace {

// --- Sizes.

TEST(Recognise, SymbolsOnWhichNoConstraintDepends) {
  const auto softmax = [](int axis, SymbolTable symbols) {
    return graph_of(
        std::vector<Type>{f32({Dim::symbol("n"), 5})}, [&](ValuesIn v) { return Values{softmax_by_hand(v[0], axis)}; },
        std::move(symbols));
  };
  const SymbolTable any{{"n", {}}}, some{{"n", {.lower = 1}}};
  EXPECT_EQ(recognised(softmax(1, any)), Nodes{"softmax{axis = 1}"});
  // softmax refuses an empty dimension; the nodes do not.
  EXPECT_TRUE(stays(softmax(0, any)));
  EXPECT_EQ(recognised(softmax(0, some)), Nodes{"softmax"});
}

TEST(Recognise, SizesThatResultsIntroduce) {
  EXPECT_EQ(recognised(parsed(mean_of_places_text())),
            (Nodes{"nonzero{size = k}", "convert{dtype = f64}", "mean{axes = [0]}"}));
}

// --- Regions.

TEST(Recognise, InsideLoopsBranchesAndCheckpoints) {
  Graph g("loop");
  Builder b(g, registry());
  const Value x = b.input(f32({4, 8}), "x"), p = b.input(TensorType{DType::boolean}, "p");
  const auto i64 = [&](double v) { return ops::scalar(b, DType::i64, v); };
  const Value looped = ops::while_(
      std::array{i64(0), x}, {}, [&](ValuesIn v) { return Values{ops::compare(v[0], i64(3), ops::Direction::lt)}; },
      [&](ValuesIn v) { return Values{ops::add(v[0], i64(1)), softmax_by_hand(v[1], 1)}; })[1];
  const Value branched = ops::if_(
      p, std::array{looped}, [](ValuesIn v) { return Values{log_softmax_by_hand(v[0], 0)}; },
      [](ValuesIn v) { return Values{ops::sin(v[0])}; })[0];
  b.output(branched, "y");
  const Looked l = look(g);
  std::map<std::string, Nodes> inside;
  for (NodeId id : l.graph.region(Graph::top).nodes)
    for (RegionId r : l.graph.node(id).regions)
      for (const std::string& n : nodes_of(l.graph, r)) inside[std::string(l.graph.node(id).op->name())].push_back(n);
  EXPECT_EQ(inside["while"].back(), "softmax{axis = 1}");
  EXPECT_EQ(inside["if"], (Nodes{"log_softmax", "sin"}));
  const auto row =
      std::find_if(l.report.rows.begin(), l.report.rows.end(), [](const ReportRow& r) { return r.op == "softmax"; });
  ASSERT_NE(row, l.report.rows.end());
  EXPECT_TRUE(row->region.starts_with("while/")) << row->region;
  for (int part : row->recognised.from) EXPECT_EQ(l.report.rows[static_cast<std::size_t>(part)].region, row->region);
}

// A checkpoint's nodes have no rows: its own says it.
TEST(Recognise, InsideACheckpoint) {
  const Looked l = look(graph_of(f32({4, 8}), [](Value x) {
    return ops::checkpoint(std::array{x}, [](ValuesIn v) { return Values{softmax_by_hand(v[0], 1)}; })[0];
  }));
  const Node& n = l.graph.node(l.graph.region(Graph::top).nodes.at(0));
  EXPECT_EQ(nodes_of(l.graph, n.regions.at(0)), Nodes{"softmax{axis = 1}"});
  ASSERT_EQ(l.report.rows.size(), 1u);
  ASSERT_EQ(l.report.rows[0].notes.size(), 1u);
  EXPECT_TRUE(l.report.rows[0].notes[0].starts_with("recognised: softmax from ")) << l.report.rows[0].notes[0];
}

// --- Policies.

const KernelRecord softmax_record{
    .name = "made_up.softmax", .op = "softmax", .provider = "handwritten", .action = Launch{[](const LaunchCall&) {}}};
Graph one_softmax() {
  return graph_of(f32({4, 8}), [](Value x) { return softmax_by_hand(x, 1); });
}
DispatchReport compiled(const CompileOptions& options, std::span<const KernelRecord> records = {}) {
  return compile_program(one_softmax(), registry(), Target{.device = "made_up"}, records, options).report;
}
const std::span<const KernelRecord> with_record(&softmax_record, 1);

TEST(Recognise, ARecordOfTheOperatorIsTaken) {
  const DispatchReport r = compiled({}, with_record);
  EXPECT_EQ(r.rows.back().path, Path::native);
  EXPECT_EQ(r.rows.back().lowering, "made_up.softmax");
  EXPECT_EQ(r.rows.back().steps, std::vector<std::string>{"made_up.softmax"});
  EXPECT_EQ(r.steps.size(), 1u);
  EXPECT_EQ(r.unresolved(), 0u);
}

TEST(Recognise, PoliciesHoldForWhatIsRecognised) {
  const DispatchReport common = compiled({.preference = Preference::force_common}, with_record);
  EXPECT_EQ(common.rows.back().op, "softmax");
  EXPECT_EQ(common.rows.back().path, Path::common);
  EXPECT_EQ(common.rows.back().lowering, "decomposition");
  EXPECT_EQ(compiled({.per_operator = {{"softmax", Preference::force_common}}}, with_record).rows.back().path,
            Path::common);
  EXPECT_EQ(compiled({.preference = Preference::force_native}, with_record).rows.back().lowering, "made_up.softmax");
  // Primitives are native as they stand; the operator would not be.
  const DispatchReport native = compiled({.preference = Preference::force_native});
  EXPECT_EQ(native.unresolved(), 0u);
  EXPECT_EQ(native.rows.back().op, "div");
}

TEST(Recognise, IsSwitchedOff) {
  for (const CompileOptions& off : {CompileOptions{.recognise = false}, CompileOptions{.check_numerics = true}}) {
    const DispatchReport r = compiled(off, with_record);
    for (const ReportRow& row : r.rows) {
      EXPECT_NE(row.path, Path::recognised);
      EXPECT_EQ(row.recognised.written, "");
    }
    EXPECT_EQ(r.rows.back().op, "div");
  }
}

// One node either way: only a record makes a difference.
TEST(Recognise, AMatrixProductForARecord) {
  const KernelRecord matmul{.name = "made_up.matmul",
                            .op = "linalg.matmul",
                            .provider = "handwritten",
                            .dtypes = {DTypeSet{DType::f64}},
                            .action = Launch{[](const LaunchCall&) {}}};
  const auto product = [](DType t, std::vector<int> of_right) {
    return graph_of(std::vector<Type>{tensor(t, {4, 4}), tensor(t, {4, 4})},
                    [&](ValuesIn v) { return Values{ops::dot_general(v[0], v[1], {{}, {}, {1}, of_right})}; });
  };
  EXPECT_EQ(nodes_of(look(product(DType::f64, {0}), {}, std::span(&matmul, 1)).graph), Nodes{"linalg.matmul"});
  EXPECT_TRUE(stays(product(DType::f64, {0})));
  for (const Graph& other : {product(DType::f32, {0}), product(DType::f64, {1})})
    EXPECT_EQ(nodes_of(look(other, {}, std::span(&matmul, 1)).graph), nodes_of(other));
}

// --- The report.

TEST(Recognise, RowsOfTheReport) {
  const Program p = compile_program(parsed(softmax_text()), registry(), Target{.device = "made_up"}, {});
  const DispatchReport& r = p.report;
  ASSERT_EQ(r.rows.size(), 9u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(r.rows[i].path, Path::recognised);
    EXPECT_EQ(r.rows[i].recognised.into, 8);
    EXPECT_TRUE(r.rows[i].steps.empty());
  }
  EXPECT_EQ(r.rows[8].path, Path::common);
  EXPECT_FALSE(r.rows[8].steps.empty());
  EXPECT_GT(r.rows[8].flops, 0);
  EXPECT_EQ(r.unresolved(), 0u);
  const std::string table = r.to_table();
  EXPECT_NE(table.find("softmax of %15"), std::string::npos) << table;
  EXPECT_NE(table.find("      note: recognised: softmax from 9 nodes: %1 constant, %2 constant, %3 reduce, %7 "
                       "broadcast, %8 sub, %9 exp, %10 reduce, %14 broadcast, %15 div\n"),
            std::string::npos)
      << table;
  const auto nodes = nlohmann::json::parse(r.to_json())["nodes"];
  EXPECT_EQ(nodes[2]["path"], "recognised");
  EXPECT_EQ(nodes[2]["op"], "reduce");
  EXPECT_EQ(nodes[2]["lowering"], "softmax");
  EXPECT_EQ(nodes[2]["recognised_in"], "%15");
  EXPECT_TRUE(nodes[2]["recognised"].is_null());
  EXPECT_EQ(nodes[8]["op"], "softmax");
  EXPECT_EQ(nodes[8]["recognised"]["written"], "div");
  EXPECT_EQ(nodes[8]["recognised"]["pattern"], "softmax");
  EXPECT_EQ(nodes[8]["recognised"]["from"], nlohmann::json({"%1", "%2", "%3", "%7", "%8", "%9", "%10", "%14"}));
  EXPECT_TRUE(nodes[8]["recognised_in"].is_null());
}

}  // namespace
}  // namespace rlx::written_out
