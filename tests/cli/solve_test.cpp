// rlx solve over every matrix that lies in this tree and in the shared folder, held to what their tables expect.
#include "program.hpp"

#include <rlx/formats/safetensors.hpp>
#include <rlx/formats/tensor_file.hpp>

#include <algorithm>
#include <cmath>

namespace rlx::cli::testing {
namespace {

struct Row {
  std::string name, path, type, expected, reference;
  double condition = 0;  ///< 0: not stated as a number
};

std::string trimmed(const std::string& s) {
  const auto from = s.find_first_not_of(' '), to = s.find_last_not_of(' ');
  return from == std::string::npos ? "" : s.substr(from, to - from + 1);
}

/// The rows of the table in a folder's README.md whose matrix lies beside it.
std::vector<Row> table(const fs::path& folder) {
  std::vector<Row> rows;
  std::ifstream in(folder / "README.md");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string> cells;
    std::istringstream split(line);
    for (std::string cell; std::getline(split, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() < 9 || !fs::exists(folder / (cells[1] + ".mtx"))) continue;
    rows.push_back({cells[1], (folder / (cells[1] + ".mtx")).string(), cells[4], cells[7], cells[8],
                    std::strtod(cells[6].c_str(), nullptr)});
  }
  return rows;
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = table(own_matrices());
  for (Row& r : table(places::shared() / "data/matrices"))
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& own) { return own.name == r.name; }))
      rows.push_back(std::move(r));
  return rows;
}

bool says(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

class EveryMatrix : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Tables, EveryMatrix, ::testing::ValuesIn(all_rows()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryMatrix, IsSolvedOrRefused) {
  const Row& row = GetParam();
  if (says(row.type, "rectangular")) return expect_refusal({"solve", row.path}, 1, "ArgumentError", "square");
  if (says(row.expected, "singular")) return expect_refusal({"solve", row.path}, 1, "NumericalError", "singular");
  const Outcome done = rlx({"solve", row.path, "--json"});
  if (done.status != 0 &&
      says(row.expected, "no digit left")) {  // Singular to working precision: either answer is right.
    EXPECT_EQ(done.json()["error"]["type"], "NumericalError");
    return;
  }
  ASSERT_EQ(done.status, 0) << done.err;
  const auto j = done.json();
  for (const char* key : {"method", "reason", "n", "nnz", "relative_residual", "backward_error", "rcond", "iterations",
                          "seconds", "device", "warnings"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_LE(j["backward_error"].get<double>(), 1e-14);
  EXPECT_GT(j["rcond"].get<double>(), 0);
  EXPECT_EQ(j["reason"].get<std::string>().rfind(j["method"].get<std::string>(), 0), 0u) << j["reason"];
  EXPECT_TRUE(j["rcond"].get<double>() >= 1e-10 || !j["warnings"].empty());
}

std::vector<Row> square_rows() {
  std::vector<Row> rows = all_rows();
  std::erase_if(rows, [](const Row& r) { return says(r.type, "rectangular"); });
  return rows;
}
class EverySquareMatrix : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Tables, EverySquareMatrix, ::testing::ValuesIn(square_rows()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EverySquareMatrix, AnswersWhenCholeskyIsAskedFor) {
  const Row& row = GetParam();
  const Outcome done = rlx({"solve", row.path, "--method", "cholesky", "--json"});
  const bool definite = says(row.type, " PD");
  EXPECT_TRUE(!definite || done.status == 0) << done.err;
  if (says(row.expected, "Cholesky refuses") || says(row.type, "indef") || says(row.type, "ND") ||
      says(row.type, "unsymmetric") || says(row.type, "skew")) {
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(done.json()["error"]["type"], "NumericalError") << done.out;
  }
}

/// The matrices that shared/data/get_matrices.sh makes, in the folder that RLX_MATRICES names: too large to be solved
/// each time.
std::vector<std::string> large_matrices() {
  std::vector<std::string> files;
  if (const char* folder = std::getenv("RLX_MATRICES"))
    for (const auto& file : fs::directory_iterator(folder))
      if (file.path().extension() == ".mtx") files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(LargeMatrices, AreThere) {
  if (large_matrices().empty())
    GTEST_SKIP()
        << "RLX_MATRICES is not set: poisson3d_50 to circuit_50000 and the other large matrices were not solved";
}

class LargeMatrix : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LargeMatrix);
INSTANTIATE_TEST_SUITE_P(Cached, LargeMatrix, ::testing::ValuesIn(large_matrices()),
                         [](const auto& info) { return fs::path(info.param).stem().string(); });

TEST_P(LargeMatrix, IsSolvedOrRefused) {
  const std::string name = fs::path(GetParam()).stem();
  if (name.starts_with("leastsquares")) return expect_refusal({"solve", GetParam()}, 1, "ArgumentError", "square");
  // Of szd_stokes the factors of KLU and of UMFPACK both give a reciprocal condition of 1e-17.
  if (name.starts_with("neumann") || name == "szd_stokes")
    return expect_refusal({"solve", GetParam()}, 1, "NumericalError", "singular");
  const Outcome done = rlx({"solve", GetParam(), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto j = done.json();
  // The iteration stops at a residual of 1e-12, direct methods refine.
  EXPECT_LE(j["backward_error"].get<double>(), j["method"] == "cg" ? 1e-12 : 1e-14) << j["reason"];
}

/// The right sides with exact solutions, through files of the command line.
class EveryReference : public ::testing::TestWithParam<Row> {};
std::vector<Row> rows_with_reference() {
  std::vector<Row> rows;
  for (Row& r : all_rows())
    if (r.reference == "sparse" && fs::exists(places::shared() / "reference/linalg/sparse" / (r.name + ".safetensors")))
      rows.push_back(std::move(r));
  return rows;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryReference);
INSTANTIATE_TEST_SUITE_P(Shared, EveryReference, ::testing::ValuesIn(rows_with_reference()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryReference, IsReachedThroughFiles) {
  const Row& row = GetParam();
  const std::string file = (places::shared() / "reference/linalg/sparse" / (row.name + ".safetensors")).string();
  const TempFolder folder;
  const std::string output = folder / "x.safetensors:x";
  const Outcome done = rlx({"solve", row.path, file + ":random.b", "--output", output, "--json"});
  if (done.status != 0 && says(row.expected, "no digit left")) return;
  ASSERT_EQ(done.status, 0) << done.err;
  const HostTensor x = formats::read_tensor(output), expected = formats::read_tensor(file + ":random.x");
  ASSERT_EQ(x.numel(), expected.numel());
  double difference = 0, size = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    difference = std::max(difference, std::abs(x.get_f64(i) - expected.get_f64(i)));
    size = std::max(size, std::abs(expected.get_f64(i)));
  }
  if (row.condition > 0 && row.condition < 1e12) {
    const double n = static_cast<double>(x.numel());
    EXPECT_LE(difference, 10 * n * 1.1e-16 * row.condition * size) << "condition " << row.condition;
  }
}

TEST(SolveReport, ShowsWhatRan) {
  const std::string path = (own_matrices() / "west0067.mtx").string();
  const Outcome text = rlx({"solve", path, "--report"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(says(text.out, "linalg.sparse_lu")) << text.out;
  EXPECT_TRUE(says(text.out, "native")) << text.out;
  const Outcome json = rlx({"solve", path, "--report", "--json"});
  const auto nodes = json.json()["report"]["nodes"];
  ASSERT_FALSE(nodes.empty());
  for (const auto& node : nodes)
    for (const char* key : {"op", "path", "provider", "lowering"}) EXPECT_TRUE(node.contains(key)) << node;
}

TEST(SolveMethods, AgreeWithEachOther) {
  const std::string path = (own_matrices() / "gr_30_30.mtx").string();
  for (const std::string method : {"lu", "cholesky", "cg"}) {
    const Outcome done = rlx({"solve", path, "--method", method, "--json"});
    ASSERT_EQ(done.status, 0) << method << done.err;
    const auto j = done.json();
    EXPECT_EQ(j["method"], method);
    EXPECT_LE(j["distance_from_ones"].get<double>(), 1e-8) << method;
    EXPECT_EQ(j["iterations"].get<int>() > 0, method == "cg");
  }
}

TEST(SolveMethods, CgWithoutConvergenceKeepsTheIterate) {
  const TempFolder folder;
  const std::string path = (own_matrices() / "biharmonic_40.mtx").string();
  const Outcome done =
      rlx({"solve", path, "--method", "cg", "--max-iterations", "3", "--output", folder / "x.npy", "--json"});
  EXPECT_EQ(done.status, 1);
  const auto error = done.json()["error"];
  EXPECT_EQ(error["type"], "NumericalError");
  EXPECT_EQ(error["iterations"], 3);
  EXPECT_GT(error["residual"].get<double>(), 0);
  EXPECT_EQ(formats::read_tensor(folder / "x.npy").numel(), 1600);
}

/// Right sides that differ in each element.
HostTensor waves(DType t, std::vector<std::int64_t> shape) {
  HostTensor b(t, std::move(shape));
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    const double at = static_cast<double>(i);
    if (is_complex(t)) b.set_c128(i, {std::sin(at), std::cos(2 * at)});
    else b.set_f64(i, std::sin(at));
  }
  return b;
}

TEST(SolveManyRightSides, GivesEachAsAlone) {
  const TempFolder folder;
  for (const auto& [matrix, n, type] :
       {std::tuple{"west0067", 67, DType::f64}, {"gr_30_30", 900, DType::f64}, {"young1c", 841, DType::c128}}) {
    SCOPED_TRACE(matrix);
    const std::string path = (own_matrices() / (std::string(matrix) + ".mtx")).string();
    const HostTensor b = waves(type, {n, 3});
    formats::write_tensor(folder / "b.npy", b);
    formats::write_tensor(folder / "b.mtx", b);
    for (const std::string method : {"automatic", "cg"}) {
      if (method == "cg" && n != 900) continue;
      const auto solve = [&](const std::string& right, const std::string& x) {
        const Outcome done = rlx({"solve", path, folder / right, "-o", folder / x, "--method", method, "--json"});
        EXPECT_EQ(done.status, 0) << done.err;
        EXPECT_LE(done.json()["backward_error"].get<double>(), method == "cg" ? 1e-11 : 1e-14);
        return formats::read_tensor(folder / x);
      };
      const HostTensor x = solve("b.npy", "x.npy"), y = solve("b.mtx", "x.mtx");
      ASSERT_EQ(x.shape(), b.shape());
      ASSERT_EQ(y.shape(), b.shape());
      for (std::int64_t k = 0; k < 3; ++k) {
        HostTensor one(type, {n});
        for (std::int64_t i = 0; i < n; ++i) one.set_c128(i, b.get_c128(i * 3 + k));
        formats::write_tensor(folder / "one.npy", one);
        const HostTensor alone = solve("one.npy", "alone.npy");
        ASSERT_EQ(alone.shape(), one.shape());
        double size = 0, difference = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          size = std::max(size, std::abs(alone.get_c128(i)));
          difference = std::max(difference, std::abs(alone.get_c128(i) - x.get_c128(i * 3 + k)));
          EXPECT_EQ(x.get_c128(i * 3 + k), y.get_c128(i * 3 + k));
        }
        EXPECT_LE(difference, 1e-12 * size);  // The conditions are below 1e3; each is refined.
      }
    }
  }
}

TEST(SolveManyRightSides, TakeTheShapesOfFiles) {
  const TempFolder folder;
  const std::string real = (own_matrices() / "west0067.mtx").string(),
                    complex = (own_matrices() / "young1c.mtx").string();
  const auto shape_of_x = [&](const std::string& matrix, const std::string& b, const HostTensor& values,
                              const std::string& x) {
    formats::write_tensor(folder / b, values);
    const Outcome done = rlx({"solve", matrix, folder / b, "-o", folder / x});
    EXPECT_EQ(done.status, 0) << done.err;
    return formats::read_tensor(folder / x).shape();
  };
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape_of_x(real, "b1.npy", waves(DType::f64, {67}), "x1.npy"), Shape{67});
  EXPECT_EQ(shape_of_x(real, "b2.npy", waves(DType::f64, {67, 1}), "x2.npy"), (Shape{67, 1}));
  EXPECT_EQ(shape_of_x(real, "b3.mtx", waves(DType::f64, {67, 1}), "x3.npy"), Shape{67});
  EXPECT_EQ(shape_of_x(real, "b4.npy", waves(DType::f32, {67, 2}), "x4.npy"), (Shape{67, 2}));
  EXPECT_EQ(shape_of_x(real, "b5.npy", HostTensor(DType::f64, {67, 0}), "x5.npy"), (Shape{67, 0}));
  EXPECT_EQ(shape_of_x(complex, "b6.npy", waves(DType::f64, {841, 3}), "x6.npy"), (Shape{841, 3}));
  EXPECT_EQ(shape_of_x(complex, "b7.npy", waves(DType::f64, {841, 2}), "x7.npy"), Shape{841});  // Pairs.
  EXPECT_EQ(shape_of_x(complex, "b8.safetensors:b", waves(DType::f64, {841, 3, 2}), "x8.safetensors:x"),
            (Shape{841, 3, 2}));
  const Outcome text = rlx({"solve", real, folder / "b4.npy"});
  EXPECT_TRUE(says(text.out, "(the worst of 2 right sides)")) << text.out;
  EXPECT_TRUE(says(text.err, "widened from f32")) << text.err;
}

TEST(SolveMethods, AutomaticSaysThatCholeskyRefused) {
  const Outcome done = rlx({"solve", (own_matrices() / "calore1.mtx").string(), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto j = done.json();
  EXPECT_EQ(j["method"], "lu");
}

}  // namespace
}  // namespace rlx::cli::testing
