// What the other subcommands print, and graphs run from files.
#include "program.hpp"

#include <rlx/formats/tensor_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <set>

namespace rlx::cli::testing {
namespace {

TEST(Commands, SayWhatTheyAre) {
  const Outcome version = rlx({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("rlx ", 0), 0u) << version.out;
  const Outcome help = rlx({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"solve", "run", "report", "ops", "devices", "doctor", "bench", "splat"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
    EXPECT_EQ(rlx({command, "--help"}).status, 0) << command;
  }
}

// Zeros of a device that runs nothing must not be taken for results.
TEST(Commands, ADeviceThatRunsNothingSaysSo) {
  const TempFolder folder;
  put(folder / "g.rlx", "rlx 1\ngraph main() {\n  %0 = iota() {shape = [3]} : i32[3]\n  return %0 \"i\"\n}\n");
  const Outcome idle = rlx({"run", folder / "g.rlx", "--device", "null"});
  EXPECT_EQ(idle.status, 0) << idle.err;
  EXPECT_NE(idle.err.find("warning: the device null runs nothing: results are zeros"), std::string::npos) << idle.err;
  EXPECT_EQ(rlx({"run", folder / "g.rlx", "--device", "reference"}).err, "");
}

TEST(Commands, NumbersHaveTheDigitsOfTheirType) {
  const TempFolder folder;
  put(folder / "g.rlx", "rlx 1\ngraph main(%0 \"x\": f32[1]) {\n  %1 = neg(%0) : f32[1]\n  return %1 \"y\"\n}\n");
  const double tenth[] = {0.1};
  formats::write_tensor(folder / "x.npy", HostTensor::from(DType::f32, {1}, tenth));
  EXPECT_EQ(rlx({"run", folder / "g.rlx", "x=" + (folder / "x.npy")}).out, "y: f32[1] = [-0.1]\n");
}

// A file of bytes is the argument of a quantized input: f16 1, then digits of which 8 is 0.
TEST(Commands, BytesOfAFileAreQuantizedNumbers) {
  const TempFolder folder;
  put(folder / "g.rlx",
      "rlx 1\ngraph main(%0 \"x\": u8[18]{block=q4_0}) {\n  %1 = dequantize(%0) : f32[32]\n"
      "  %2 = slice(%1) {start = [0], limit = [32], stride = [8]} : f32[4]\n  return %2 \"y\"\n}\n");
  HostTensor block(DType::u8, {18});
  for (std::int64_t i = 1; i < 18; ++i) block.set_i64(i, i == 1 ? 60 : 0x70 + i);
  formats::write_tensor(folder / "x.npy", block);
  // Elements 0 and 8 are low digits of bytes 2 and 10, elements 16 and 24 their high ones.
  for (const char* device : {"reference", "cpu"})
    EXPECT_EQ(rlx({"run", folder / "g.rlx", "x=" + (folder / "x.npy"), "--device", device}).out,
              "y: f32[4] = [-6.0,2.0,-1.0,-1.0]\n")
        << device;
  const std::string manual = rlx({"ops", "dequantize"}).out;
  EXPECT_NE(manual.find("\n    q4_0: 32 elements in 18 bytes: f16 d"), std::string::npos) << manual;
}

TEST(Commands, DevicesAndDoctor) {
  const auto devices = rlx({"devices", "--json"}).json()["devices"];
  bool cpu = false;
  for (const auto& d : devices) {
    EXPECT_FALSE(d["looked_for"].get<std::string>().empty()) << d;
    EXPECT_FALSE(d["proves"].get<std::string>().empty()) << d;
    cpu = cpu || (d["name"] == "cpu" && d["available"] == true);
  }
  EXPECT_TRUE(cpu);
  const auto doctor = rlx({"doctor", "--json"}, "RLX_MEMORY_LIMIT=1G").json();
  EXPECT_LE(doctor["memory"]["available_bytes"].get<std::int64_t>(), std::int64_t{1} << 30);
  EXPECT_TRUE(doctor["problems"].empty()) << doctor["problems"];
  EXPECT_EQ(rlx({"doctor"}).status, 0);
  for (const std::string wrong : {"RLX_MEMORY_LIMIT=lots", "RLX_THREADS=many", "RLX_ISA=mmx", "RLX_CHECKED=yes",
                                  "RLX_REPRODUCIBLE=2", "RLX_RECOGNISE=no", "RLX_POLICY=fast", "RLX_CACHE_LIMIT_MB=-1",
                                  "RLX_DEVICE=gpu9", "RLX_PLUGIN_PATH=/nowhere/at/all"}) {
    const auto j = rlx({"doctor", "--json"}, wrong).json();
    const std::string name = wrong.substr(0, wrong.find('='));
    ASSERT_GE(j["problems"].size(), 1u) << wrong;
    EXPECT_NE(j["problems"].dump().find(name), std::string::npos) << j["problems"];
  }
  const auto misspelt = rlx({"doctor", "--json"}, "RLX_TREADS=2").json()["unread"];
  EXPECT_EQ(std::count(misspelt.begin(), misspelt.end(), "RLX_TREADS"), 1) << misspelt;
}

TEST(Commands, WrittenOutOperatorsAreReportedUnlessThatIsOff) {
  const TempFolder folder;
  put(folder / "g.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[3]) {\n  %1 = constant() {value = f64[](0)} : f64[]\n"
      "  %2 = reduce(%0, %1) {axes = [0]} (\n    region(%3: f64[], %4: f64[]) {\n      %5 = add(%3, %4) : f64[]\n"
      "      return %5\n    }\n  ) : f64[]\n  %6 = constant() {value = f64[](3)} : f64[]\n"
      "  %7 = div(%2, %6) : f64[]\n  return %7 \"y\"\n}\n");
  const std::vector<std::string> command{"report", folder / "g.rlx", "--json"};
  const auto nodes = rlx(command).json()["nodes"];
  EXPECT_EQ(nodes[3]["op"], "mean") << nodes;
  EXPECT_EQ(nodes[3]["recognised"]["written"], "div");
  EXPECT_EQ(nodes[1]["path"], "recognised");
  EXPECT_NE(rlx({"report", folder / "g.rlx"}).out.find("recognised: mean from 4 nodes"), std::string::npos);
  auto off = command;
  off.push_back("--no-recognise");
  EXPECT_EQ(rlx(off).json()["nodes"][3]["op"], "div");
  EXPECT_EQ(rlx(command, "RLX_RECOGNISE=0").json()["nodes"][3]["op"], "div");
}

TEST(Commands, ElementsWithoutJsonNumberAreWords) {
  const TempFolder folder;
  put(folder / "g.rlx", "rlx 1\ngraph main(%0 \"x\": f64[4]) {\n  %1 = neg(%0) : f64[4]\n  return %1 \"y\"\n}\n");
  const double inf = std::numeric_limits<double>::infinity(), values[] = {1, inf, -inf, std::nan("")};
  formats::write_tensor(folder / "x.npy", HostTensor::from(DType::f64, {4}, values));
  const std::vector<std::string> command{"run", folder / "g.rlx", "x=" + (folder / "x.npy")};
  EXPECT_NE(rlx(command).out.find("[-1.0,-inf,inf,nan]"), std::string::npos) << rlx(command).out;
  auto json = command;
  json.push_back("--json");
  EXPECT_EQ(rlx(json).json()["outputs"][0]["first_values"], nlohmann::json::array({-1.0, "-inf", "inf", "nan"}));
}

TEST(Commands, ManualsOfAllOperators) {
  const auto list = rlx({"ops", "--lir", "--json"}).json()["operators"];
  EXPECT_GT(list.size(), 100u);
  for (const auto& op : list) {
    EXPECT_FALSE(op["doc"].get<std::string>().empty()) << op;
    for (const char* rule : {"vjp", "jvp", "batch", "shard", "cost"})
      EXPECT_TRUE(op["rules"][rule]["kind"] != "never" || !op["rules"][rule]["why"].get<std::string>().empty())
          << op["name"];
  }
  const Outcome softmax = rlx({"ops", "softmax"});
  EXPECT_EQ(softmax.status, 0);
  for (const char* part : {"axis = 0", "C1", "composite", "operands"})
    EXPECT_NE(softmax.out.find(part), std::string::npos) << part << softmax.out;
}

TEST(Commands, RunReadsAndWritesEveryFormat) {
  const TempFolder folder;
  put(folder / "g.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[n], %1 \"y\": f64[n]) symbols(n in [1, 64]) {\n  %2 = add(%0, %1) : f64[n]\n  "
      "%3 = mul(%0, %1) : f64[n]\n  return %2 \"sum\", %3 \"product\"\n}\n");
  const double xs[] = {1, 2, 3}, ys[] = {10, 20, 30};
  const HostTensor x = HostTensor::from(DType::f64, {3}, xs), y = HostTensor::from(DType::f64, {3}, ys);
  for (const std::string ending : {".npy", ".safetensors:v", ".h5:/v", ".mtx"}) {
    formats::write_tensor(folder / ("x" + ending), x);
    formats::write_tensor(folder / ("y" + ending), y);
    const std::string sum = folder / ("sum" + ending);
    const Outcome done = rlx({"run", folder / "g.rlx", "x=" + (folder / ("x" + ending)),
                              "y=" + (folder / ("y" + ending)), "--output", "sum=" + sum, "--json"});
    ASSERT_EQ(done.status, 0) << ending << done.err;
    EXPECT_EQ(formats::read_tensor(sum).get_f64(2), 33) << ending;
    const auto outputs = done.json()["outputs"];
    EXPECT_EQ(outputs[0]["file"], sum);
    EXPECT_EQ(outputs[1]["first_values"][1], 40);
  }
  EXPECT_EQ(rlx({"run", folder / "g.rlx", "x=" + (folder / "x.npy"), "y=" + (folder / "y.npy"), "--report"}).status, 0);
}

TEST(Commands, RunTakesSparseInputs) {
  const TempFolder folder;
  put(folder / "A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 4\n");
  put(folder / "g.rlx",
      "rlx 1\ngraph main(%0 \"A\": csr<f64,i32>[2,2]{nnz}, %1 \"x\": f64[2]) symbols(nnz) {\n  %2 = linalg.spmv(%0, "
      "%1) : f64[2]\n  return %2 \"y\"\n}\n");
  const double ones[] = {1, 1};
  formats::write_tensor(folder / "x.npy", HostTensor::from(DType::f64, {2}, ones));
  const Outcome done = rlx({"run", folder / "g.rlx", "A=" + (folder / "A.mtx"), "x=" + (folder / "x.npy"), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.json()["outputs"][0]["first_values"], nlohmann::json::array({3.0, 4.0}));
}

TEST(Commands, ReportShowsEveryNode) {
  const TempFolder folder;
  put(folder / "g.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[n,4]) symbols(n in [1, 64]) {\n  %1 = softmax(%0) {axis = 1} : f64[n,4]\n  "
      "return %1 \"y\"\n}\n");
  const auto j = rlx({"report", folder / "g.rlx", "--symbol", "n=8", "--json"}).json();
  ASSERT_EQ(j["nodes"].size(), 1u);
  EXPECT_EQ(j["nodes"][0]["op"], "softmax");
  for (const char* key : {"path", "provider", "lowering"}) EXPECT_TRUE(j["nodes"][0].contains(key)) << key;
  EXPECT_EQ(j["unresolved"], 0);
  EXPECT_TRUE(j["planned_for"].empty());
  // Without a value it is the program of all of them, planned for one: 1024, or the nearest that n may be.
  const auto all = rlx({"report", folder / "g.rlx", "--json"}).json();
  EXPECT_EQ(all["planned_for"], (nlohmann::json{{"n", 64}}));
  EXPECT_EQ(all["nodes"][0]["path"], j["nodes"][0]["path"]);
  EXPECT_EQ(all["nodes"][0]["types"], "f64[64,4]");
  const Outcome forced = rlx({"report", folder / "g.rlx", "--symbol", "n=8", "--policy", "force-native", "--json"});
  EXPECT_EQ(forced.status, 1);
  EXPECT_EQ(forced.json()["unresolved"], 1);
  EXPECT_EQ(forced.json()["error"]["type"], "CompileError");
}

void collect_keys(const nlohmann::json& j, std::set<std::string>& keys) {
  if (j.is_object())
    for (const auto& [key, value] : j.items()) {
      keys.insert(key);
      if (key != "skipped") collect_keys(value, keys);  // Whose keys are reasons.
    }
  if (j.is_array())
    for (const auto& value : j) collect_keys(value, keys);
}

TEST(Commands, EveryKeyIsInTheReadme) {
  const TempFolder folder;
  put(folder / "g.rlx", "rlx 1\ngraph main(%x: f64[2]) {\n  %y = softmax(%x) : f64[2]\n  return %y\n}\n");
  formats::write_tensor(folder / "x.npy", HostTensor(DType::f64, {2}));
  const std::string matrix = (own_matrices() / "west0067.mtx").string(),
                    readme = slurp((places::source() / "README.md").string());
  std::set<std::string> keys;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"solve", matrix, "--report", "-o", folder / "y.npy"},
        {"solve", folder / "nowhere.mtx"},
        {"solve", (own_matrices() / "biharmonic_40.mtx").string(), "--method", "cg", "--max-iterations", "1"},
        {"run", folder / "g.rlx", "x=" + (folder / "x.npy"), "-o", "y=" + (folder / "y.npy"), "--report"},
        {"report", folder / "g.rlx"},
        {"report", folder / "g.rlx", "--policy", "force-native"},
        {"ops", "linalg.sparse_lu_solve"},
        {"devices"},
        {"doctor"},
        {"conformance", "softmax"},
        {"bench"}}) {
    std::vector<std::string> with_json = command;
    with_json.push_back("--json");
    collect_keys(rlx(with_json).json(), keys);
  }
  EXPECT_GT(keys.size(), 80u);
  for (const std::string& key : keys) EXPECT_NE(readme.find("`" + key + "`"), std::string::npos) << key;
}

TEST(Commands, PoliciesOfTheEnvironment) {
  const TempFolder folder;
  put(folder / "g.rlx", "rlx 1\ngraph main(%x: f64[8]) {\n  %y = sort(%x) : f64[8]\n  return %y\n}\n");
  const auto provider = [&](const std::string& policy) -> std::string {
    return rlx({"report", folder / "g.rlx", "--json"}, "RLX_POLICY=" + policy).json()["nodes"][0]["provider"];
  };
  EXPECT_EQ(provider("prefer-native"), "handwritten");
  EXPECT_EQ(provider("sort=force-common"), "generated");
  EXPECT_EQ(provider("force-common,sort=prefer-native"), "handwritten");
  EXPECT_EQ(provider("force-common"), "generated");
  for (const std::string wrong : {"sort=fast", "=force-common", "sort", "force-common,", "force-common,prefer-native"})
    expect_refusal({"report", folder / "g.rlx"}, 1, "ArgumentError", "RLX_POLICY", "RLX_POLICY=" + wrong);
  expect_refusal({"report", folder / "g.rlx"}, 1, "ArgumentError", "did you mean \"sort\"",
                 "RLX_POLICY=srt=force-common");
}

TEST(Solve, PromotesRealRightSidesAndReadsPairs) {
  const TempFolder folder;
  const std::string matrix = (own_matrices() / "tiny_hermitian_3.mtx").string();
  const double real[] = {1, 2, 3}, pairs[] = {1, 0, 2, 0, 3, 0};
  formats::write_tensor(folder / "real.npy", HostTensor::from(DType::f64, {3}, real));
  formats::write_tensor(folder / "pairs.npy", HostTensor::from(DType::f64, {3, 2}, pairs));
  ASSERT_EQ(rlx({"solve", matrix, folder / "real.npy", "-o", folder / "x.npy"}).status, 0);
  ASSERT_EQ(rlx({"solve", matrix, folder / "pairs.npy", "-o", folder / "y.npy"}).status, 0);
  const HostTensor x = formats::read_tensor(folder / "x.npy"), y = formats::read_tensor(folder / "y.npy");
  EXPECT_EQ(x.dtype(), DType::c128);
  EXPECT_TRUE(x == y);
}

}  // namespace
}  // namespace rlx::cli::testing
