#include <rlx/formats/tensor_file.hpp>

#include <filesystem>
#include <vector>

#include "support.hpp"

namespace rlx::formats::testing {

namespace {

const HostTensor x = HostTensor::from(DType::f64, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 0.1});
const HostTensor y = HostTensor::from(DType::f64, {2, 1}, std::vector<double>{7, 8});

TEST(TensorFile, EveryFormat) {
  const TempFolder temp;
  for (const char* place : {"x.npy", "x.mtx", "x.safetensors:a", "x.safetensors:b/c:d.npy", "y.safetensors",
                            "x.h5:/g/a", "x.h5:b.npy", "x.hdf5:a", "x.he5:a", "y.h5"}) {
    write_tensor(temp / place, x);
    EXPECT_TRUE(read_tensor(temp / place).identical(x)) << place;
  }
}

TEST(TensorFile, OthersInTheFileAreKept) {
  const TempFolder temp;
  for (const std::string file : {"x.safetensors", "x.h5"}) {
    write_tensor(temp / file + ":a", x);
    EXPECT_TRUE(read_tensor(temp / file).identical(x));  // the only one
    write_tensor(temp / file + ":b", y);
    write_tensor(temp / file + ":a", y);
    EXPECT_TRUE(read_tensor(temp / file + ":a").identical(y));
    EXPECT_TRUE(read_tensor(temp / file + ":b").identical(y));
    expect_error<ArgumentError>([&] { read_tensor(temp / file); }, "needs the name of a tensor behind a colon");
    expect_error<ArgumentError>([&] { read_tensor(temp / file + ":c"); }, "it holds");
    expect_error<ArgumentError>([&] { read_tensor(temp / file + ":"); }, "");
  }
  EXPECT_EQ(temp.files(), 2u);
}

TEST(TensorFile, WhatWouldBeReplaced) {
  const TempFolder temp;
  for (const char* place : {"x.npy", "one.h5:/a", "two.h5:a", "two.h5:b", "x.safetensors:a"})
    write_tensor(temp / place, x);
  const struct {
    const char *written, *read;
    bool replaced;
  } rows[] = {{"x.npy", "x.npy", true},
              {"./x.npy", "x.npy", true},
              {"y.npy", "x.npy", false},
              {"y.npy", "y.npy", false},  // not there
              {"one.h5:a", "one.h5:/a", true},
              {"one.h5:a", "one.h5", true},
              {"one.h5:x", "one.h5", false},
              {"two.h5:b", "two.h5:a", false},
              {"two.h5:b", "two.h5:b", true},
              {"x.safetensors:a", "x.safetensors", true},
              {"x.safetensors", "x.safetensors:a", false}};
  for (const auto& row : rows)
    EXPECT_EQ(would_replace(temp / row.written, temp / row.read), row.replaced) << row.written << " " << row.read;
  put(temp / "graph", "a text");
  std::filesystem::create_symlink(temp / "graph", temp / "graph.npy");
  EXPECT_TRUE(would_replace(temp / "graph.npy", temp / "graph"));
  EXPECT_FALSE(would_replace(temp / "x.npy", temp / "graph"));
}

TEST(TensorFile, UnknownExtensions) {
  for (const char* place : {"x.txt", "x", "", ".npy", "x.npy:a", "x.mtx.gz", "x.safetensor:a"}) {
    expect_error<ArgumentError>([&] { read_tensor(place); },
                                "known are x.npy, x.mtx, x.safetensors:NAME, x.h5:/DATASET", place);
    expect_error<ArgumentError>([&] { write_tensor(place, x); }, "known are", place);
  }
}

TEST(TensorFile, SparseFiles) {
  const TempFolder temp;
  put(temp / "v.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 5\n3 1 1\n");
  EXPECT_TRUE(
      read_tensor(temp / "v.mtx").identical(HostTensor::from(DType::f64, {3, 1}, std::vector<double>{0, 0, 6})));
  put(temp / "m.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 1\n3 1 5\n");
  expect_error<ArgumentError>([&] { read_tensor(temp / "m.mtx"); }, "holds a sparse matrix");
}

TEST(TensorFile, DamagedFilesStayAsTheyAre) {
  const TempFolder temp;
  for (const std::string file : {"x.safetensors", "x.h5"}) {
    put(temp / file, "damaged");
    expect_error<FormatError>([&] { write_tensor(temp / file + ":a", x); }, file);
    EXPECT_EQ(get(temp / file), "damaged");
    expect_error<FormatError>([&] { read_tensor(temp / file + ":a"); }, file);
  }
  expect_error<FormatError>([&] { read_tensor(temp / "absent.npy"); }, "cannot open");
  EXPECT_EQ(temp.files(), 2u);
}

}  // namespace

}  // namespace rlx::formats::testing
