// What a machine may deny: memory, disk, the cache's folder. Each ends in a typed error, or in the work done without
// it.
#include "program.hpp"

#include <rlx/formats/tensor_file.hpp>

namespace rlx::cli::testing {
namespace {

const std::string west = (own_matrices() / "west0067.mtx").string(), grid = (own_matrices() / "gr_30_30.mtx").string();

/// n x n with ones on the diagonal, of which the first `entries` are there.
std::string diagonal(std::int64_t n, std::int64_t entries) {
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + std::to_string(n) + " " +
                     std::to_string(n) + " " + std::to_string(entries) + "\n";
  for (std::int64_t i = 1; i <= entries; ++i) text += std::to_string(i) + " " + std::to_string(i) + "\n";
  return text;
}

TEST(Limits, OfMemoryHoldForReading) {
  const TempFolder folder;
  const std::string graph = folder / "g.rlx", x = folder / "x.npy", matrix = folder / "A.mtx";
  put(graph, "rlx 1\ngraph main(%0 \"x\": f64[8000000]) {\n  %1 = exp(%0) : f64[8000000]\n  return %1 \"y\"\n}\n");
  formats::write_tensor(x, HostTensor(DType::f64, {8'000'000}));  // 61 MiB
  put(matrix, diagonal(1'000'000, 1'000'000));
  expect_refusal({"run", graph, "x=" + x}, 1, "MemoryError", "f64[8000000]", "RLX_MEMORY_LIMIT=60M");
  // The input fits; the result besides it does not.
  expect_refusal({"run", graph, "x=" + x}, 1, "MemoryError", "main", "RLX_MEMORY_LIMIT=120M");
  EXPECT_EQ(rlx({"run", graph, "x=" + x}, "RLX_MEMORY_LIMIT=400M").status, 0);
  expect_refusal({"solve", matrix}, 1, "MemoryError", "A.mtx", "RLX_MEMORY_LIMIT=30M");
  expect_refusal({"solve", west}, 1, "ArgumentError", "RLX_MEMORY_LIMIT", "RLX_MEMORY_LIMIT=60X");
}

TEST(Limits, EndlessInputStops) {
  const TempFolder folder;
  const std::string graph = folder / "g.rlx";
  put(graph, "rlx 1\ngraph main(%0 \"x\": f64[8]) {\n  return %0 \"y\"\n}\n");
  ASSERT_EQ(::symlink("/dev/zero", (folder / "x.npy").c_str()), 0);
  expect_refusal({"run", graph, "x=" + (folder / "x.npy")}, 1, "MemoryError", "x.npy", "RLX_MEMORY_LIMIT=200M");
  expect_refusal({"report", "/dev/zero"}, 1, "MemoryError", "/dev/zero", "RLX_MEMORY_LIMIT=200M");
}

TEST(Limits, OfAddressSpaceAreJudgedBeforeTheWork) {
#ifdef RLX_ADDRESS_SANITIZER
  GTEST_SKIP() << "the address sanitizer's own map is more than these limits";
#endif
  // OpenBLAS' threads wait for ever for memory that this denies.
  for (const int kib : {350'000, 400'000}) {
    const std::string limit = "ulimit -v " + std::to_string(kib) + "; OPENBLAS_NUM_THREADS=2";
    expect_refusal({"doctor"}, 1, "MemoryError", "ulimit -v", limit);
    expect_refusal({"solve", west}, 1, "MemoryError", "ulimit -v", limit);
  }
  EXPECT_EQ(rlx({"solve", west}, "ulimit -v 4000000;").status, 0);
}

TEST(Limits, OfFileSizeAreWriteErrors) {
  const TempFolder folder;
  // Two blocks are what LLVM's OpenMP runtime writes of itself to shared memory. Where it cannot, it leaves an empty
  // file there, and a later process of the same number dies of that.
  const std::string cache = "ulimit -f 2; RLX_CACHE_DIR=" + (folder / "cache");
  for (const std::string ending : {"x.npy", "x.mtx", "x.safetensors:x", "x.h5:/x"}) {
    expect_refusal({"solve", grid, "-o", folder / ending}, 1, "FormatError", "File too large", cache);
    EXPECT_FALSE(fs::exists(folder / ending.substr(0, ending.find(':')))) << ending;
  }
  EXPECT_EQ(rlx({"solve", grid, "--method", "cg"}, cache).status, 0);  // The cache keeps nothing; nothing else does.
}

TEST(Limits, OutputThatCannotBeWrittenIsAFailure) {
  for (const std::string& command : {"solve " + quoted(west), "solve " + quoted(west) + " --json", std::string("ops"),
                                     std::string("devices"), std::string("doctor --json")}) {
    const int status = std::system((quoted(places::program()) + " " + command + " >/dev/full 2>/dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << command;
  }
}

TEST(Limits, CacheFoldersThatCannotBeUsed) {
  const TempFolder folder;
  put(folder / "file", "no folder");
  const std::string warning = "rlx: warning: the cache folder ";
  const auto solved = [&](const std::string& place, bool kept = true) {
    const Outcome o = rlx({"solve", grid, "--method", "cg"}, "RLX_CACHE_DIR=" + place);
    EXPECT_EQ(o.err.find(warning) == std::string::npos, kept) << place << "\n" << o.err;
    if (!kept) { EXPECT_NE(o.err.find(warning + place + " cannot be written ("), std::string::npos) << o.err; }
    return o.status;
  };
  EXPECT_EQ(solved(folder / "file", false), 0);
  EXPECT_EQ(solved((folder / "file") + "/below", false), 0);
  EXPECT_EQ(solved("/proc/rlx", false), 0);
  // The doctor tries what no permission tells: root may write everywhere, and /proc takes nothing.
  const auto problems = [&](const std::string& place) {
    return rlx({"doctor", "--json"}, "RLX_CACHE_DIR=" + place).json()["problems"].dump();
  };
  for (const std::string& place : {folder / "file", (folder / "file") + "/below", std::string("/proc/rlx")})
    EXPECT_NE(problems(place).find("the cache folder " + place + " cannot be written ("), std::string::npos) << place;
  EXPECT_EQ(problems(folder / "new/deep").find("cache folder"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_EQ(solved(folder / "cache"), 0);
  // Every entry damaged: made again.
  int entries = 0;
  for (const auto& f : fs::directory_iterator(folder / "cache")) {
    put(f.path(), slurp(f.path()).substr(0, 100));
    ++entries;
  }
  EXPECT_GT(entries, 0);
  EXPECT_EQ(solved(folder / "cache"), 0);
}

TEST(Limits, ProcessesShareACache) {
  const TempFolder folder;
  const std::string one = "RLX_CACHE_DIR=" + (folder / "cache") + " " + quoted(places::program()) + " solve " +
                          quoted(grid) + " --method cg >/dev/null";
  std::string all;
  for (int i = 0; i < 6; ++i) all += "(" + one + " || touch " + quoted(folder / "failed") + ") & ";
  ASSERT_EQ(std::system((all + "wait").c_str()), 0);
  EXPECT_FALSE(fs::exists(folder / "failed"));
  for (const auto& f : fs::directory_iterator(folder / "cache"))
    EXPECT_EQ(f.path().extension(), ".rlxcode") << f.path();  // No unfinished file stays.
}

TEST(Limits, ManyRowsAndFewEntriesAreSingularAtOnce) {
  const TempFolder folder;
  put(folder / "A.mtx", diagonal(100'000'000, 3));
  expect_refusal({"solve", folder / "A.mtx"}, 1, "NumericalError", "singular", "RLX_MEMORY_LIMIT=100M");
}

}  // namespace
}  // namespace rlx::cli::testing
