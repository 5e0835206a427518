// What the program tells of a run and of a failure: traces, checked numbers, memory, places.
#include "program.hpp"

#include <rlx/formats/tensor_file.hpp>

#include <algorithm>
#include <set>

namespace rlx::cli::testing {
namespace {

// x doubles until it is not below 100, then the logarithm of its negative is taken.
constexpr std::string_view loop = R"(rlx 1
graph main(%0 "x": f64[]) {
  %1 = while(%0) {carried = 1} (
    region(%2: f64[]) {
      %3 = constant() {value = f64[](100)} : f64[]
      %4 = compare(%2, %3) {direction = lt} : bool[]
      return %4
    },
    region(%5: f64[]) {
      %6 = add(%5, %5) : f64[]
      return %6
    }
  ) : f64[]
  %7 = neg(%1) : f64[]
  %8 = log(%7) : f64[]
  return %8 "y"
}
)";

struct Files {
  TempFolder folder;
  std::string graph = folder / "g.rlx", x = folder / "x.npy";
  explicit Files(std::string_view text, double value = 3) {
    put(graph, text);
    formats::write_tensor(x, HostTensor::scalar(DType::f64, value));
  }
};

TEST(Observe, TraceHasAnEventAStep) {
  const Files f(loop);
  const std::string trace = f.folder / "trace.json";
  ASSERT_EQ(rlx({"run", f.graph, "x=" + f.x}, "RLX_TRACE=" + quoted(trace)).status, 0);
  const auto json = nlohmann::json::parse(slurp(trace));
  double loop_start = -1, loop_end = -1;
  int inside = 0;
  std::set<std::string> kinds;
  const auto& events = json["traceEvents"];
  for (const auto& e : events)
    if (e["name"] == "while") loop_start = e["ts"], loop_end = loop_start + e["dur"].get<double>();
  for (const auto& e : events) {
    EXPECT_EQ(e["ph"], "X");
    EXPECT_GE(e["dur"].get<double>(), 0);
    EXPECT_EQ(e["args"]["program"], "main");
    kinds.insert(e["cat"]);
    const double start = e["ts"];
    if (e["name"] != "while" && start >= loop_start && start + e["dur"].get<double>() <= loop_end) ++inside;
  }
  EXPECT_TRUE(kinds.contains("while") && kinds.contains("kernel")) << json;
  EXPECT_GE(inside, 2 * 6) << "3 doubles 6 times before it exceeds 100: a comparison and a sum each";
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const auto& e) {
    return e["args"]["op"] == "log" && e["args"]["location"].template get<std::string>().ends_with("g.rlx:15");
  })) << json;
  for (const auto& file : fs::directory_iterator(fs::path(trace).parent_path()))
    EXPECT_EQ(file.path().string().find(".tmp."), std::string::npos) << file.path();
}

TEST(Observe, ATraceThatCannotBeWrittenIsRefused) {
  const Files f(loop);
  const Outcome o = rlx({"run", f.graph, "x=" + f.x, "--json"}, "RLX_TRACE=" + quoted(f.folder / "none/trace.json"));
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.json()["error"]["type"], "ArgumentError") << o.out;
}

TEST(Observe, CheckNumericsNamesNodeAndLine) {
  const Files f(loop);
  EXPECT_EQ(rlx({"run", f.graph, "x=" + f.x}).status, 0);
  const Outcome o = rlx({"run", f.graph, "x=" + f.x, "--json"}, "RLX_CHECK_NUMERICS=1");
  EXPECT_EQ(o.status, 1);
  const auto error = o.json()["error"];
  EXPECT_EQ(error["type"], "NumericalError");
  EXPECT_EQ(error["op"], "log");
  EXPECT_EQ(error["node"], "%8");
  EXPECT_EQ(error["line"], 15);
  EXPECT_EQ(error["file"], f.graph);
}

TEST(Observe, RunTellsItsPeak) {
  const Files f(loop);
  const auto json = rlx({"run", f.graph, "x=" + f.x, "--json"}).json();
  EXPECT_GE(json["peak_bytes"].get<std::int64_t>(), 8);
  EXPECT_LE(json["peak_bytes"].get<std::int64_t>(), 4096);
}

TEST(Observe, ErrorsKnowTheirPlace) {
  const Files wrong("rlx 1\ngraph main(%0 \"x\": f64[]) {\n  %1 = add(%0) : f64[]\n  return %1 \"y\"\n}\n");
  const auto verify = rlx({"run", wrong.graph, "x=" + wrong.x, "--json"}).json()["error"];
  EXPECT_EQ(verify["type"], "VerifyError");
  EXPECT_EQ(verify["file"], wrong.graph);
  EXPECT_EQ(verify["line"], 3);

  const Files composite(
      "rlx 1\ngraph main(%0 \"x\": f64[4]) {\n  %1 = softmax(%0) {axis = 0} : f64[4]\n  return %1 \"y\"\n}\n");
  const auto compile = rlx({"report", composite.graph, "--json"}, "RLX_POLICY=force-native").json()["error"];
  EXPECT_EQ(compile["type"], "CompileError");
  EXPECT_EQ(compile["file"], composite.graph);
  EXPECT_EQ(compile["line"], 3);
  EXPECT_EQ(compile["node"], "%1");
}

TEST(Observe, ReportShowsNodesOfLoops) {
  const Files f(loop);
  const auto nodes = rlx({"report", f.graph, "--json"}).json()["nodes"];
  std::set<std::string> places;
  for (const auto& n : nodes) places.insert(n["region"].get<std::string>() + " " + n["op"].get<std::string>());
  EXPECT_TRUE(places.contains("while/1.condition compare") && places.contains("while/1.body add")) << nodes;
}

}  // namespace
}  // namespace rlx::cli::testing
