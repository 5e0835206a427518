// What the program must refuse: exit status, type of the error, and one JSON object whatever happens.
#include "program.hpp"

#include <rlx/formats/tensor_file.hpp>

#include <cmath>
#include <complex>

namespace rlx::cli::testing {
namespace {

const std::string matrix = (own_matrices() / "west0067.mtx").string();

class BadInput : public ::testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view text) {
    put(folder / name, text);
    return folder / name;
  }
  std::string tensor(std::string_view name, DType t, std::vector<std::int64_t> shape) {
    formats::write_tensor(folder / name, HostTensor(t, std::move(shape)));
    return folder / name;
  }
  TempFolder folder;
};

TEST_F(BadInput, OfSolve) {
  expect_refusal({"solve", folder / "nowhere.mtx"}, 1, "FormatError", "nowhere.mtx");
  expect_refusal({"solve", file("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n")}, 1,
                 "FormatError", "broken.mtx");
  expect_refusal({"solve", file("text.mtx", "hello\n")}, 1, "FormatError", "text.mtx");
  expect_refusal({"solve", file("empty.mtx", "")}, 1, "FormatError");
  expect_refusal({"solve", file("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")}, 1,
                 "ArgumentError", "empty");
  expect_refusal({"solve", file("nan.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n")}, 1,
                 "FormatError", "nan.mtx");
  expect_refusal({"solve", (own_matrices() / "ls_400x60.mtx").string()}, 1, "ArgumentError", "square");
  expect_refusal({"solve", tensor("cube.npy", DType::f64, {2, 2, 2})}, 1, "ArgumentError", "cube.npy is f64[2,2,2]");
  const std::string own = file("own.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  expect_refusal({"solve", own, "-o", own}, 1, "ArgumentError", "would replace the matrix");
  expect_refusal({"solve", own, "-o", folder / "./own.mtx"}, 1, "ArgumentError", "would replace the matrix");
  expect_refusal({"solve", matrix, tensor("short.npy", DType::f64, {66})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("long.npy", DType::f64, {68})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("row.npy", DType::f64, {1, 67})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("high.npy", DType::f64, {68, 2})}, 1, "ArgumentError",
                 "f64[68,2], expected 67 elements a column: the matrix has 67 rows");
  expect_refusal({"solve", matrix, tensor("deep.npy", DType::f64, {67, 2, 2})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("number.npy", DType::f64, {})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("two.npy", DType::c128, {67, 2})}, 1, "ArgumentError", "real");
  expect_refusal({"solve", matrix, tensor("whole.npy", DType::i64, {67})}, 1, "ArgumentError", "floating");
  expect_refusal({"solve", matrix, tensor("logical.npy", DType::boolean, {67})}, 1, "ArgumentError", "floating");
  expect_refusal({"solve", matrix, tensor("complex.npy", DType::c128, {67})}, 1, "ArgumentError", "real");
  expect_refusal({"solve", matrix, ""}, 1, "ArgumentError", "extension");
  expect_refusal({"solve", matrix, folder / "b.unknown"}, 1, "ArgumentError", "b.unknown");
  expect_refusal({"solve", matrix, "--device", "nonesuch"}, 1, "ArgumentError", "nonesuch");
  expect_refusal({"solve", (own_matrices() / "young1c.mtx").string(), "--method", "cg"}, 1, "ArgumentError", "complex");
}

TEST_F(BadInput, OfSolveNamesTheFileOfWhatIsNotFinite) {
  const std::string two = file("two.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  const auto b = [&](std::string_view name, std::vector<std::int64_t> shape, std::vector<double> v) {
    formats::write_tensor(folder / name, HostTensor::from(DType::f64, std::move(shape), v));
    return folder / name;
  };
  const double nan = std::nan("");
  expect_refusal({"solve", two, b("nan.npy", {2}, {1, nan})}, 1, "ArgumentError",
                 "nan.npy) is f64[2], not finite in element 1 (from 0)");
  expect_refusal({"solve", two, b("inf.npy", {2, 2}, {1, 2, INFINITY, 3})}, 1, "ArgumentError",
                 "inf.npy) is f64[2,2], not finite in row 1, element 0 (from 0)");
  const std::string large = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 1e308\n2 2 1e308\n";
  expect_refusal({"solve", file("large.mtx", large)}, 1, "ArgumentError", "large.mtx is not finite in element 1");
  const std::string repeated =
      "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.7e308\n1 1 1.7e308\n2 2 1\n";
  expect_refusal({"solve", file("repeated.mtx", repeated)}, 1, "ArgumentError",
                 "repeated.mtx has an entry that is not finite (entries of one place are summed): element 0");
}

TEST_F(BadInput, OfOutputsThatWouldReplaceAnInput) {
  const std::string two = file("two.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  const auto ones = [&](std::string_view name) {
    formats::write_tensor(folder / name, HostTensor::from(DType::f64, {2}, std::vector<double>{1, 1}));
    return folder / name;
  };
  const std::string b = ones("b.npy"), old = slurp(b);
  expect_refusal({"solve", two, b, "-o", b}, 1, "ArgumentError", "would replace the right side");
  expect_refusal({"solve", two, b, "-o", folder / "./b.npy"}, 1, "ArgumentError", "would replace the right side");
  fs::create_symlink(b, folder / "link.npy");
  expect_refusal({"solve", two, folder / "link.npy", "-o", b}, 1, "ArgumentError", "would replace the right side");
  const std::string several = ones("several.h5:/b");
  expect_refusal({"solve", two, several, "-o", folder / "several.h5:b"}, 1, "ArgumentError", "the right side");
  EXPECT_EQ(rlx({"solve", two, several, "-o", folder / "several.h5:/x"}).status, 0);  // b stays beside x.
  const std::string named = ones("n.safetensors:b");
  expect_refusal({"solve", two, named, "-o", named}, 1, "ArgumentError", "would replace the right side");
  EXPECT_EQ(rlx({"solve", two, named, "-o", folder / "n.safetensors:x"}).status, 0);
  const std::string graph =
      file("g.rlx", "rlx 1\ngraph main(%0 \"x\": f64[2]) {\n  %1 = exp(%0) : f64[2]\n  return %1 \"z\"\n}\n");
  expect_refusal({"run", graph, "x=" + b, "-o", "z=" + b}, 1, "ArgumentError", "would replace input \"x\"");
  expect_refusal({"run", graph, "x=" + several, "-o", "z=" + several}, 1, "ArgumentError", "would replace input");
  fs::create_symlink(graph, folder / "graph.npy");
  expect_refusal({"run", graph, "x=" + b, "-o", "z=" + (folder / "graph.npy")}, 1, "ArgumentError", "the graph");
  EXPECT_EQ(slurp(b), old);
}

TEST_F(BadInput, OfDenseRequestsBeyondMemory) {
  // The sparse matrix is small, and a factor of it as well; nothing dense of that order may be asked for.
  std::string text = "%%MatrixMarket matrix array real general\n1000000 1000000\n1.0\n";
  const Outcome array = rlx({"solve", file("dense.mtx", text), "--json"});
  EXPECT_EQ(array.status, 1);
  const std::string type = array.json()["error"]["type"];
  EXPECT_TRUE(type == "FormatError" || type == "MemoryError") << type;
  const std::string graph = file("dense.rlx",
                                 "rlx 1\ngraph main(%0 \"x\": f64[1000000]) {\n  %1 = broadcast(%0) {shape = [1000000, "
                                 "1000000], axes = [0]} : f64[1000000,1000000]\n  return %1 \"y\"\n}\n");
  expect_refusal({"run", graph, "x=" + tensor("x.npy", DType::f64, {1000000})}, 1, "MemoryError");
}

TEST_F(BadInput, OfRun) {
  const std::string graph = file(
      "g.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[2], %1 \"y\": f64[2]) {\n  %2 = add(%0, %1) : f64[2]\n  return %2 \"z\"\n}\n");
  const std::string x = tensor("x.npy", DType::f64, {2}), single = tensor("single.npy", DType::f32, {2}),
                    three = tensor("three.npy", DType::f64, {3});
  expect_refusal({"run", folder / "nowhere.rlx"}, 1, "FormatError", "nowhere.rlx");
  expect_refusal({"run", file("syntax.rlx", "rlx 1\ngraph main(\n")}, 1, "FormatError", "syntax.rlx");
  expect_refusal(
      {"run",
       file("op.rlx", "rlx 1\ngraph main(%0 \"x\": f64[2]) {\n  %1 = nonesuch(%0) : f64[2]\n  return %1 \"z\"\n}\n"),
       "x=" + x},
      1, "FormatError", "nonesuch");
  expect_refusal({"run", graph, "x=" + x}, 1, "ArgumentError", "y");
  expect_refusal({"run", graph, "x=" + x, "y=" + x, "x=" + x}, 1, "ArgumentError", "twice");
  expect_refusal({"run", graph, "x=" + x, "y=" + x, "w=" + x}, 1, "ArgumentError", "\"w\"");
  expect_refusal({"run", graph, "x=" + x, "y=" + single}, 1, "ArgumentError", "f32");
  expect_refusal({"run", graph, "x=" + x, "y=" + three}, 1, "ArgumentError", "3");
  expect_refusal({"run", graph, "x=" + x, "y=" + x, "--output", "nothing=" + (folder / "z.npy")}, 1, "ArgumentError",
                 "nothing");
  expect_refusal({"run", graph, "x=" + x, "y=" + x, "-o", "z=" + (folder / "z.npy"), "-o", "z=" + (folder / "w.npy")},
                 1, "ArgumentError", "twice");
  expect_refusal({"run", graph, "x"}, 2, "UsageError", "NAME=FILE");
}

TEST_F(BadInput, OfReport) {
  const std::string graph = file(
      "g.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[n]) symbols(n in [1, 8]) {\n  %1 = exp(%0) : f64[n]\n  return %1 \"z\"\n}\n");
  expect_refusal({"report", graph, "--symbol", "n=9"}, 1, "ArgumentError", "9");
  expect_refusal({"report", graph, "--symbol", "n=4", "--symbol", "n=4"}, 1, "ArgumentError", "twice");
  expect_refusal({"report", graph, "--symbol", "m=4"}, 1, "ArgumentError", "m");
  expect_refusal({"report", graph, "--symbol", "n=x"}, 2, "UsageError", "--symbol n is \"x\", expected a whole number");
  expect_refusal({"report", graph, "--symbol", "n=4", "--policy", "best"}, 2, "UsageError", "best");
  expect_refusal({"report", graph, "--symbol", "n=4", "--override", "nonesuch=force-common"}, 1, "ArgumentError",
                 "nonesuch");
}

TEST_F(BadInput, OfOutputsIsFoundBeforeTheWork) {
  const std::string graph =
      file("g.rlx",
           "rlx 1\ngraph main(%0 \"x\": f64[2]) {\n  %1 = convert(%0) {dtype = bf16} : bf16[2]\n  "
           "return %0 \"same\", %1 \"short\"\n}\n");
  const std::string x = "x=" + tensor("x.npy", DType::f64, {2}), broken = file("broken.safetensors", "no header");
  // The matrix and the input do not exist: what is said is about the output all the same.
  const std::string absent = folder / "absent.mtx";
  const struct {
    std::string place, type, part;
  } rows[] = {{"", "ArgumentError", "extension"},
              {folder / "x.txt", "ArgumentError", "x.txt"},
              {folder / "x.safetensors:", "ArgumentError", "name"},
              {folder / "x.safetensors:__metadata__", "ArgumentError", "__metadata__"},
              {folder / "x.h5:/group/", "ArgumentError", "group"},
              {folder / "nowhere/x.npy", "FormatError", "nowhere"},
              {"/proc/x.npy", "FormatError", "/proc/x.npy"},
              {broken + ":x", "FormatError", "broken.safetensors"}};
  for (const auto& row : rows) {
    expect_refusal({"solve", absent, "-o", row.place}, 1, row.type, row.part);
    if (!row.place.empty())
      expect_refusal({"run", graph, "x=" + absent, "-o", "same=" + row.place}, 1, row.type, row.part);
  }
  expect_refusal({"run", graph, x, "-o", "same="}, 2, "UsageError", "NAME=FILE");
  expect_refusal({"run", graph, x, "-o", "short=" + (folder / "y.npy")}, 1, "ArgumentError", "bf16");
  expect_refusal({"run", graph, x, "-o", "same=" + (folder / "y.npy"), "-o", "short=" + (folder / "./y.npy")}, 1,
                 "ArgumentError", "two outputs");
  EXPECT_FALSE(fs::exists(folder / "y.npy"));
  EXPECT_EQ(rlx({"run", graph, x, "-o", "same=" + (folder / "y.h5:/a"), "-o", "short=" + (folder / "y.h5:/b")}).status,
            0);
}

TEST_F(BadInput, OfOptionsThatDoNotApply) {
  expect_refusal({"solve", matrix, "--library", "klu"}, 2, "UsageError", "--method lu");
  expect_refusal({"solve", matrix, "--library", "klu", "--method", "cg"}, 2, "UsageError", "--method lu");
  expect_refusal({"solve", matrix, "--tolerance", "1e-3"}, 2, "UsageError", "--method cg");
  expect_refusal({"solve", matrix, "--tolerance", "1e-3", "--method", "lu"}, 2, "UsageError", "--method cg");
  expect_refusal({"solve", matrix, "--max-iterations", "3", "--method", "cholesky"}, 2, "UsageError", "--method cg");
  expect_refusal({"solve", matrix, "--refine", "3", "--method", "cg"}, 2, "UsageError", "cholesky");
  for (const char* wrong : {"nan", "inf", "-1", "1e-999", "1e999", "1e-3x", ""})
    expect_refusal({"solve", matrix, "--tolerance", wrong, "--method", "cg"}, 2, "UsageError", "--tolerance");
  for (const char* wrong : {"0", "-1", "1.5", "99999999999999999999"})
    expect_refusal({"solve", matrix, "--max-iterations", wrong, "--method", "cg"}, 2, "UsageError", "--max-iterations");
  EXPECT_LT(rlx({"solve", matrix, "--refine", "-1"}).err.size(), 200u);
  expect_refusal({"ops", "exp", "--lir"}, 2, "UsageError", "--lir");
  expect_refusal({"conformance", "exp", "--unchecked"}, 2, "UsageError", "--unchecked");
  EXPECT_EQ(rlx({"solve", matrix, "--library", "klu", "--method", "lu"}).status, 0);
}

TEST_F(BadInput, SaysWhere) {
  expect_refusal(
      {"report", file("huge.rlx", "rlx 1\ngraph main(%0 \"x\": f64[4294967296,4294967296]) {\n  return %0 \"y\"\n}\n")},
      1, "FormatError", "huge.rlx:2:23: tensor has more than 2^63 elements");
  const std::string graph =
      file("g.rlx", "rlx 1\ngraph main(%0 \"x\": f64[2]) {\n  %1 = add(%0, %0) : f64[3]\n  return %1 \"y\"\n}\n");
  const auto verify = rlx({"report", graph, "--json"}).json()["error"];
  EXPECT_EQ(verify["type"], "VerifyError");
  EXPECT_EQ(verify["file"], graph);
  EXPECT_EQ(verify["line"], 3);
  EXPECT_EQ(verify["node"], "%1");
  EXPECT_EQ(verify["op"], "add");
  const std::string text = file("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1.0\n");
  const auto format = rlx({"solve", text, "--json"}).json()["error"];
  EXPECT_EQ(format["type"], "FormatError");
  EXPECT_EQ(format["file"], text);
  EXPECT_EQ(format["line"], 4);
  EXPECT_EQ(format["offset"], 58);
}

// What was typed, where, and what was expected in its place.
TEST_F(BadInput, IsNamed) {
  const std::string sum = file(
      "sum.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[2], %1 \"y\": f64[n]) symbols(n in [1, 8]) {\n  return %0 \"z\", %1 \"w\"\n}\n");
  const std::string even =
      file("even.rlx", "rlx 1\ngraph main(%0 \"x\": f64[n]) symbols(n in [2, inf] mod 2) {\n  return %0\n}\n");
  const std::string odd = file("odd.rlx", "rlx 1\ngraph main(%0 \"x\": f33[2]) {\n  return %0\n}\n");
  const std::string x = tensor("x.npy", DType::f64, {2}), three = tensor("three.npy", DType::f64, {3});
  const std::string policies = "expected prefer-native, force-common or force-native";
  const struct {
    std::vector<std::string> command;
    std::string says, environment{};
  } rows[] = {
      {{"report", odd}, "FormatError: " + odd + ":2:20: expected a type, found \"f33\" (byte 25)"},
      {{"report", x}, "FormatError: " + x + ":1:1: expected \"rlx\", found \"\x93\" (byte 0)"},
      {{"run", sum, "x=" + three, "y=" + x},
       "ArgumentError: input \"x\" (" + three + "): dimension 0 is 3, expected 2"},
      {{"run", sum, "x=" + x, "y=" + three, "--symbol", "n=2"},
       "ArgumentError: input \"y\" (" + three + "): dimension 0 is 3, expected n = 2"},
      {{"run", sum, "x=" + x, "y=y.txt"},
       "ArgumentError: input \"y\" (y.txt): the extension of 'y.txt' is unknown; known are x.npy, x.mtx, "
       "x.safetensors:NAME, x.h5:/DATASET (also .hdf5 and .he5)"},
      {{"run", sum, "x=" + x}, "ArgumentError: \"main\" lacks inputs: y (NAME=FILE for each)"},
      {{"run", sum, "x=" + x, "y=" + x, "-o", "v=v.npy"},
       "ArgumentError: \"main\" has no output \"v\"; its outputs: z, w"},
      {{"run", sum, "-o", "v"}, "--output: \"v\" is not of the form NAME=FILE"},
      {{"run", sum, "x=" + x, "y=" + x, "--symbol", "m=2"},
       "ArgumentError: \"main\" has no symbol \"m\"; its symbols: n"},
      {{"report", sum, "--symbol", "n=9"}, "ArgumentError: symbol \"n\" is 9, expected 1 to 8"},
      {{"report", even, "--symbol", "n=3"}, "ArgumentError: symbol \"n\" is 3, expected at least 2 in multiples of 2"},
      {{"report", sum, "--symbol", "n"}, "--symbol: \"n\" is not of the form NAME=NUMBER"},
      {{"report", sum, "--symbol", "n=1.5"}, "--symbol n is \"1.5\", expected a whole number"},
      {{"report", sum, "--symbol", "n=2", "--policy", "best"}, "--policy is \"best\", " + policies},
      {{"report", sum, "--symbol", "n=2", "--override", "sort=best"}, "--override sort is \"best\", " + policies},
      {{"report", sum, "--symbol", "n=2", "--override", "sort"}, "--override: \"sort\" is not of the form OP=POLICY"},
      {{"report", sum, "--symbol", "n=2", "--override", "srt=force-common"},
       "ArgumentError: --override: unknown operator \"srt\"; did you mean \"sort\"?"},
      {{"ops", "triangular"},
       "ArgumentError: no operator is called \"triangular\"; those whose names contain it: linalg.triangular_solve"},
      {{"report", sum, "--symbol", "n=2"},
       "ArgumentError: RLX_POLICY: unknown operator \"srt\"; did you mean \"sort\"?",
       "RLX_POLICY=srt=force-common"},
      {{"report", sum, "--symbol", "n=2"},
       "ArgumentError: RLX_CACHE_LIMIT_MB is \"1G\", expected a whole number of megabytes",
       "RLX_CACHE_LIMIT_MB=1G"},
  };
  for (const auto& row : rows) EXPECT_EQ(rlx(row.command, row.environment).err, "rlx: " + row.says + "\n");
  const std::string named = "rlx: ArgumentError: RLX_DEVICE is \"zz\", expected one of reference, null, cpu";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"solve", matrix}, {"report", sum, "--symbol", "n=2"}})
    EXPECT_EQ(rlx(command, "RLX_DEVICE=zz").err.substr(0, named.size()), named);
  EXPECT_EQ(rlx({"report", sum, "--symbol", "n=2", "--device", "cpu"}, "RLX_DEVICE=zz").status, 0);
  EXPECT_EQ(rlx({"run"}).err, "rlx: run: graph is required\nRun rlx --help, or rlx COMMAND --help.\n");
}

TEST_F(BadInput, IsQuotedInShort) {
  const std::string digits(300, '7');
  const std::string texts[] = {"%%MatrixMarket matrix coordinate real general\n" + digits + " 2 1\n1 1 1\n",
                               "%%MatrixMarket matrix coordinate real general\n2 2 2\n" + digits + " 1 1\n",
                               "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 " + digits + digits + "\n",
                               "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 " + digits + "\n"};
  for (const std::string& text : texts) {
    const Outcome done = rlx({"solve", file("A.mtx", text)});
    EXPECT_EQ(done.status, 1);
    EXPECT_LT(done.err.size(), 60 + 2 * (folder / "A.mtx").size() + 120) << done.err;
  }
  const std::string graphs[] = {"rlx " + digits, "rlx 1\ngraph main(%0 \"x\": f64[" + digits + "]) {\n",
                                "rlx 1\ngraph main(%0 \"x\": f64[2]) {\n  %1 = " + digits + "(%0) : f64[2]\n"};
  for (const std::string& text : graphs) {
    const Outcome done = rlx({"report", file("g.rlx", text)});
    EXPECT_EQ(done.status, 1);
    EXPECT_LT(done.err.size(), 60 + 2 * (folder / "g.rlx").size() + 120) << done.err;
  }
}

// Devices that compile through a driver have the same cases in tests/backends, where one program serves all of them.
TEST_F(BadInput, OfIndicesIsReported) {
  const std::string gather = file(
      "gather.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[4], %1 \"i\": i32[3]) {\n  %2 = gather(%0, %1) {collapsed_slice_dims = [0], "
      "start_index_map = [0], index_vector_dim = 1, slice_sizes = [1]} : f64[3]\n  return %2 \"y\"\n}\n");
  const std::string scatter = file(
      "scatter.rlx",
      "rlx 1\ngraph main(%0 \"x\": f64[4], %1 \"i\": i32[3]) {\n  %2 = slice(%0) {start = [0], limit = [3], stride = "
      "[1]} : f64[3]\n  %3 = scatter(%0, %1, %2) {inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1} : f64[4]\n  return %3 \"y\"\n}\n");
  const std::string x = "x=" + tensor("x.npy", DType::f64, {4});
  for (const double wrong : {4.0, -1.0, 16777219.0}) {
    const double indices[] = {0, wrong, 3};
    formats::write_tensor(folder / "i.npy", HostTensor::from(DType::i32, {3}, indices));
    for (const std::string device : {"cpu", "reference"})
      for (const std::string& graph : {gather, scatter}) {
        expect_refusal({"run", graph, x, "i=" + (folder / "i.npy"), "--device", device}, 1, "ArgumentError",
                       "index " + std::to_string(static_cast<int>(wrong)));
        // By meaning it is clamped or dropped.
        EXPECT_EQ(rlx({"run", graph, x, "i=" + (folder / "i.npy"), "--device", device, "--unchecked"}).status, 0);
      }
  }
}

TEST_F(BadInput, OfUsage) {
  expect_refusal({}, 2, "UsageError");
  expect_refusal({"dance"}, 2, "UsageError", "rlx has no command \"dance\"; its commands: solve, run,");
  expect_refusal({"splat", "dance"}, 2, "UsageError", "rlx splat has no command \"dance\"; its commands: info,");
  expect_refusal({"--dance"}, 2, "UsageError", "rlx has no option \"--dance\"");
  expect_refusal({"solve"}, 2, "UsageError");
  expect_refusal({"solve", matrix, "--method", "guess"}, 2, "UsageError", "expected automatic, lu, cholesky or cg");
  expect_refusal({"solve", matrix, "--device", ""}, 2, "UsageError", "--device");
  expect_refusal({"solve", matrix, "--refine", "-1"}, 2, "UsageError");
  expect_refusal({"solve", matrix, "--unknown"}, 2, "UsageError");
  expect_refusal({"ops", "nonesuch"}, 1, "ArgumentError", "nonesuch");
  expect_refusal({"ops", "softmx"}, 1, "ArgumentError", "did you mean \"softmax\"");
  expect_refusal({"solve", matrix, "--device", "cpuu"}, 1, "ArgumentError", "did you mean \"cpu\"");
  EXPECT_EQ(rlx({"solve", matrix, "--device", "cuda"}).err.find("did you mean"), std::string::npos);
  for (std::vector<std::string> arguments : {std::vector<std::string>{"solve"}, {"ops", "nonesuch"}}) {
    const Outcome plain = rlx(arguments);
    arguments.push_back("--json");
    const Outcome json = rlx(arguments);
    EXPECT_EQ(plain.status, json.status);
    EXPECT_EQ(plain.out, "");
    EXPECT_EQ(plain.err, json.err);
  }
}

}  // namespace
}  // namespace rlx::cli::testing
