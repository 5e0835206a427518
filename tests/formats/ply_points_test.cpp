#include <rlx/formats/ply.hpp>
#include <rlx/formats/ply_points.hpp>
#include <rlx/formats/reconstruction.hpp>

#include <cmath>
#include <cstring>

#include "support.hpp"

namespace rlx::formats::testing {
namespace {

std::string ascii(const std::string& properties, const std::string& rows, int count = 2) {
  return "ply\nformat ascii 1.0\nelement vertex " + std::to_string(count) + "\n" + properties + "end_header\n" + rows;
}
constexpr const char* xyz = "property float x\nproperty double y\nproperty float z\n";

TEST(PlyPoints, PositionsAndColours) {
  const std::string rgb = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
  const SparsePoints p = parse_ply_points(
      ascii(std::string(xyz) + "property float nx\n" + rgb, "1 2 3 9 10 20 30\n-4 5.5 6 9 255 0 128\n"));
  ASSERT_EQ(p.size(), 2);
  EXPECT_EQ(p.positions.get_f64(4), 5.5);
  EXPECT_EQ(p.colours.get_i64(2), 30);
  EXPECT_EQ(p.colours.get_i64(3), 255);
  EXPECT_EQ(p.ids, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_NO_THROW(check(Reconstruction{.points = p}));

  // Floats are from 0 to 1, shortened names are known, and what is out of range is the nearest colour.
  const std::string short_names = "property float r\nproperty float g\nproperty float b\n";
  const SparsePoints f = parse_ply_points(ascii(xyz + short_names, "1 2 3 0.5 1 0\n1 2 3 2 -1 nan\n"));
  const std::int64_t expected[] = {128, 255, 0, 255, 0, 0};
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(f.colours.get_i64(i), expected[i]) << i;
  EXPECT_EQ(parse_ply_points(ascii(xyz, "1 2 3\n4 5 6\n")).colours.get_i64(0), 128);
  EXPECT_EQ(parse_ply_points(ascii(xyz, "", 0)).size(), 0);
}

TEST(PlyPoints, Binary) {
  std::string file =
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\n"
      "property list uchar int vertex_indices\nend_header\n";
  const float at[] = {1.5f, -2, 3};
  file.append(reinterpret_cast<const char*>(at), sizeof at);
  file += "\x01\x02\xff";
  const std::string face("\x01\x00\x00\x00\x00", 5);
  const SparsePoints p = parse_ply_points(file + face);
  EXPECT_EQ(p.positions.get_f64(0), 1.5);
  EXPECT_EQ(p.colours.get_i64(2), 255);
  expect_error<FormatError>([&] { parse_ply_points(file.substr(0, file.size() - 1)); }, "");
  expect_error<FormatError>([&] { parse_ply_points(file + face + "x"); }, "");
}

TEST(PlyPoints, WhatIsThere) {
  const TempFolder temp;
  put(temp / "points.ply", ascii(xyz, "1 2 3\n4 5 6\n"));
  EXPECT_TRUE(is_ply_of_points(temp / "points.ply"));
  EXPECT_EQ(read_ply_points(temp / "points.ply").size(), 2);
  write_ply(temp / "gaussians.ply", make_gaussian_cloud(2, 0));
  EXPECT_FALSE(is_ply_of_points(temp / "gaussians.ply"));
  put(temp / "x.ply", "ply");
  expect_error<FormatError>([&] { is_ply_of_points(temp / "x.ply"); }, "");
}

TEST(PlyPoints, Refusals) {
  const auto refused = [](const std::string& text, const char* says) {
    expect_error<FormatError>([&] { parse_ply_points(text, "p.ply"); }, says);
  };
  refused(ascii("property float x\nproperty float y\n", ""), "has no property 'z'");
  refused(ascii(std::string(xyz) + "property uchar red\nproperty uchar green\n", ""), "has no property 'blue'");
  refused(ascii(std::string(xyz) + "property list uchar float red\nproperty uchar green\nproperty uchar blue\n", ""),
          "must be one number, not a list");
  refused(ascii(xyz, "1 2 3\n"), "");
  refused(ascii(xyz, "1 2 3\n", 2000000000), "");
  refused("ply\nformat ascii 1.0\nelement face 0\nend_header\n", "no element 'vertex'");
}

}  // namespace
}  // namespace rlx::formats::testing
