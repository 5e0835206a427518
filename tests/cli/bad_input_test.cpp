// What the program must refuse: exit status, type of the error, and one JSON object whatever happens.
#include "program.hpp"

#include <rlx/formats/tensor_file.hpp>

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
  expect_refusal({"solve", matrix, tensor("short.npy", DType::f64, {66})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("long.npy", DType::f64, {68})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("row.npy", DType::f64, {1, 67})}, 1, "ArgumentError", "67");
  expect_refusal({"solve", matrix, tensor("whole.npy", DType::i64, {67})}, 1, "ArgumentError", "floating");
  expect_refusal({"solve", matrix, tensor("logical.npy", DType::boolean, {67})}, 1, "ArgumentError", "floating");
  expect_refusal({"solve", matrix, tensor("complex.npy", DType::c128, {67})}, 1, "ArgumentError", "real");
  expect_refusal({"solve", matrix, folder / "b.unknown"}, 1, "ArgumentError", "b.unknown");
  expect_refusal({"solve", matrix, "--device", "nonesuch"}, 1, "ArgumentError", "nonesuch");
  expect_refusal({"solve", (own_matrices() / "young1c.mtx").string(), "--method", "cg"}, 1, "ArgumentError", "complex");
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
  expect_refusal({"report", graph}, 1, "ArgumentError", "n");
  expect_refusal({"report", graph, "--symbol", "n=9"}, 1, "ArgumentError", "9");
  expect_refusal({"report", graph, "--symbol", "n=4", "--symbol", "n=4"}, 1, "ArgumentError", "twice");
  expect_refusal({"report", graph, "--symbol", "m=4"}, 1, "ArgumentError", "m");
  expect_refusal({"report", graph, "--symbol", "n=x"}, 2, "UsageError", "n=x");
  expect_refusal({"report", graph, "--symbol", "n=4", "--policy", "best"}, 2, "UsageError", "best");
  expect_refusal({"report", graph, "--symbol", "n=4", "--override", "nonesuch=force-common"}, 1, "ArgumentError",
                 "nonesuch");
}

TEST_F(BadInput, OfUsage) {
  expect_refusal({}, 2, "UsageError");
  expect_refusal({"dance"}, 2, "UsageError");
  expect_refusal({"solve"}, 2, "UsageError");
  expect_refusal({"solve", matrix, "--method", "guess"}, 2, "UsageError", "guess");
  expect_refusal({"solve", matrix, "--refine", "-1"}, 2, "UsageError");
  expect_refusal({"solve", matrix, "--unknown"}, 2, "UsageError");
  expect_refusal({"ops", "nonesuch"}, 1, "ArgumentError", "nonesuch");
}

}  // namespace
}  // namespace rlx::cli::testing
