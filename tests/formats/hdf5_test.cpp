#include <rlx/formats/hdf5.hpp>

#include <cfenv>
#include <vector>

#include "support.hpp"

namespace rlx::formats::testing {

using Shape = std::vector<std::int64_t>;

namespace {

HostTensor counted(DType t, Shape shape) {
  HostTensor x(t, std::move(shape));
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set_i64(i, t == DType::boolean ? i % 2 : i);
  return x;
}

constexpr DType types[] = {DType::f16, DType::bf16, DType::f32,     DType::f64,      DType::c64,   DType::c128,
                           DType::i8,  DType::i16,  DType::i32,     DType::i64,      DType::u8,    DType::u16,
                           DType::u32, DType::u64,  DType::boolean, DType::f8e4m3fn, DType::f8e5m2};

TEST(Hdf5, RoundTrips) {
  const TempFolder temp;
  const std::string path = temp / "x.h5";
  std::map<std::string, HostTensor> content;
  for (const DType t : types) {
    content.emplace("/matrix/" + std::string(name(t)), counted(t, {2, 3}));
    content.emplace("/scalar/" + std::string(name(t)), counted(t, {}));
    content.emplace("/empty/" + std::string(name(t)), counted(t, {0, 3}));
  }
  // Every bit pattern of the small floats survives, NaN payloads too.
  HostTensor patterns(DType::f8e4m3fn, {256});
  for (int i = 0; i < 256; ++i) patterns.mutable_data()[i] = static_cast<std::byte>(i);
  content.emplace("/patterns", patterns);
  write_hdf5(path, content);
  EXPECT_EQ(list_hdf5(path).size(), content.size());
  for (const auto& [name, tensor] : content) EXPECT_TRUE(read_hdf5(path, name).identical(tensor)) << name;
  EXPECT_EQ(temp.files(), 1u);
}

TEST(Hdf5, UpdateKeepsTheRest) {
  const TempFolder temp;
  const std::string path = temp / "x.h5";
  write_hdf5(path, {{"a", counted(DType::f32, {3})}, {"g/b", counted(DType::i32, {2})}});
  update_hdf5(path, "a", counted(DType::f64, {4}));
  update_hdf5(path, "/g/h/c", counted(DType::u8, {1}));
  EXPECT_EQ(list_hdf5(path), (std::vector<std::string>{"/a", "/g/b", "/g/h/c"}));
  EXPECT_TRUE(read_hdf5(path, "/a").identical(counted(DType::f64, {4})));
  EXPECT_TRUE(read_hdf5(path, "g/b").identical(counted(DType::i32, {2})));
  const std::string before = get(path);
  expect_error<ArgumentError>([&] { update_hdf5(path, "g", counted(DType::u8, {1})); }, "is a group");
  expect_error<ArgumentError>([&] { update_hdf5(path, "d", counted(DType::i4, {2})); }, "hold no i4");
  expect_error<FormatError>([&] { update_hdf5(path, "a/b", counted(DType::u8, {1})); }, "cannot create the dataset");
  EXPECT_EQ(get(path), before);
  EXPECT_EQ(temp.files(), 1u);
}

TEST(Hdf5, Refusals) {
  const TempFolder temp;
  const std::string path = temp / "x.h5";
  write_hdf5(path, {{"a", counted(DType::f32, {300})}, {"g/b", counted(DType::i32, {2})}});
  expect_error<ArgumentError>([&] { read_hdf5(path, "/c"); }, "holds no dataset '/c'; it holds: /a /g/b");
  expect_error<ArgumentError>([&] { read_hdf5(path, "/g"); }, "holds no dataset '/g'");
  expect_error<ArgumentError>([&] { read_hdf5(path, ""); }, "cannot be called");
  expect_error<ArgumentError>([&] { write_hdf5(temp / "y.h5", {{"a/", counted(DType::f32, {1})}}); },
                              "cannot be called");
  expect_error<ArgumentError>([&] { write_hdf5(temp / "y.h5", {{"a", HostTensor(DType::f32, Shape(33, 1))}}); },
                              "33 dimensions");
  expect_error<FormatError>([&] { read_hdf5(temp / "absent.h5", "a"); }, "cannot open: No such file");
  expect_error<FormatError>([&] { read_hdf5(temp.path(), "a"); }, "is a directory");
  put(temp / "empty.h5", "");
  expect_error<FormatError>([&] { read_hdf5(temp / "empty.h5", "a"); }, "the file is empty");
  put(temp / "text.h5", "this is no HDF5 file");
  expect_error<FormatError>([&] { read_hdf5(temp / "text.h5", "a"); }, "cannot open as HDF5: ");
  const std::string whole = get(path);
  put(temp / "cut.h5", whole.substr(0, whole.size() / 2));
  expect_error<FormatError>([&] { read_hdf5(temp / "cut.h5", "a"); }, "cannot open as HDF5: ");
  expect_error<FormatError>([&] { write_hdf5(temp / "none/x.h5", {}); }, "cannot create");
  EXPECT_FALSE(std::filesystem::exists(temp / "y.h5"));
}

TEST(Hdf5, LeavesTheProcessAsFound) {
  const TempFolder temp;
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_UNDERFLOW);
  ::testing::internal::CaptureStderr();
  write_hdf5(temp / "x.h5", {{"a", counted(DType::f64, {3})}});
  EXPECT_THROW(read_hdf5(temp / "x.h5", "nope"), ArgumentError);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(std::fetestexcept(FE_UNDERFLOW));
  EXPECT_FALSE(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW));
}

TEST(Hdf5, SharedPoints) {
  RLX_NEED_SHARED("data/splat/garden_points.h5");
  const std::string path = shared_folder() + "/data/splat/garden_points.h5";
  const HostTensor means = read_hdf5(path, "means3d");
  EXPECT_EQ(means.dtype(), DType::f32);
  EXPECT_EQ(means.shape(), (Shape{138766, 3}));
  const HostTensor colors = read_hdf5(path, "/colors");
  EXPECT_EQ(colors.dtype(), DType::u8);
  EXPECT_EQ(colors.shape(), means.shape());
  EXPECT_EQ(read_hdf5(path, "Ks").rank(), 3);
  EXPECT_GE(list_hdf5(path).size(), 4u);
}

}  // namespace

}  // namespace rlx::formats::testing
