#include <rlx/formats/dot_splat.hpp>
#include <rlx/formats/ply.hpp>

#include <algorithm>
#include <numeric>

#include "gaussians.hpp"

namespace rlx::formats::testing {

namespace {

// By hand: mean 1 2 3, scales 1 1 e, colours 0 128 255, opacity 255, quaternion 1 0 0 0 as 255 128 128 128.
constexpr std::string_view literal =
    "0000803f0000004000004040"
    "0000803f0000803f54f82d40"
    "0080ffff"
    "ff808080";

TEST(DotSplat, Literal) {
  const GaussianCloud c = parse_dot_splat(from_hex(literal));
  ASSERT_EQ(c.size(), 1);
  EXPECT_EQ(c.sh_degree, 0);
  EXPECT_EQ(c.means.get_f64(2), 3);
  EXPECT_EQ(c.log_scales.get_f64(0), 0);
  EXPECT_NEAR(c.log_scales.get_f64(2), 1, 1e-6);
  EXPECT_NEAR(c.sh.get_f64(0) * 0.28209479, -0.5, 1e-6);
  EXPECT_NEAR(c.sh.get_f64(2) * 0.28209479, 0.5, 1e-6);
  EXPECT_NEAR(c.opacity_logits.get_f64(0), std::log(1e6), 1e-3);
  EXPECT_EQ(c.quaternions.get_f64(0), 127.0 / 128);
  EXPECT_EQ(c.quaternions.get_f64(1), 0);
}

// The converter of the format's author sorts by size times opacity and rounds down.
TEST(DotSplat, ReadsAnotherProgramsFile) {
  const GaussianCloud source = read_ply(splat_data("degree3.ply")), c = read_dot_splat(splat_data("degree3.splat"));
  ASSERT_EQ(c.size(), source.size());
  std::vector<std::int64_t> order(12);
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = 0; i < 12; ++i)  // by the means, which are exact
    for (std::int64_t j = 0; j < 12; ++j)
      if (c.means.get_f64(3 * i) == source.means.get_f64(3 * j)) order[static_cast<std::size_t>(i)] = j;
  GaussianCloud sorted = select(source, order), flat = make_gaussian_cloud(12, 0);
  for (std::int64_t i = 0; i < 36; ++i)  // Colours outside 0 to 1 are cut off.
    flat.sh.set_f64(i, std::clamp(sorted.sh.get_f64(48 * (i / 3) + i % 3), -0.5 / 0.28209479, 0.5 / 0.28209479));
  sorted.sh = flat.sh;
  sorted.sh_degree = 0;
  expect_close(
      c, sorted,
      {.mean = 0, .log_scale = 1e-6, .quaternion = 2.0 / 128, .opacity = 1.0 / 255, .colour = 1.0 / 255 / 0.282});
}

TEST(DotSplat, RoundTrip) {
  const TempFolder temp;
  const std::string path = temp / "x.splat";
  const GaussianCloud c = random_cloud(100, 3);
  write_dot_splat(path, c);
  EXPECT_EQ(get(path).size(), 3200u);
  const GaussianCloud back = read_dot_splat(path);
  GaussianCloud flat = c;
  flat.sh_degree = 0;
  flat.sh = HostTensor(DType::f32, {100, 1, 3});
  for (std::int64_t i = 0; i < 300; ++i) flat.sh.set_f64(i, c.sh.get_f64(48 * (i / 3) + i % 3));
  // Half a step of each code; the largest component of a quaternion may also be cut from 1 to 127/128.
  expect_close(
      back, flat,
      {.mean = 0, .log_scale = 1e-6, .quaternion = 1.5 / 128, .opacity = 0.51 / 255, .colour = 0.51 / 255 / 0.282});
  write_dot_splat(temp / "y.splat", back);  // What is in its codes already stays.
  std::string first = get(path), second = get(temp / "y.splat");
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); i += 32) EXPECT_EQ(first.substr(i + 24, 4), second.substr(i + 24, 4));
  write_dot_splat(path, GaussianCloud{});
  EXPECT_EQ(read_dot_splat(path).size(), 0);
}

TEST(DotSplat, QuaternionsWithoutDirectionBecomeZero) {
  const TempFolder temp;
  GaussianCloud c = random_cloud(2, 0);
  for (std::size_t k = 0; k < 8; ++k) c.quaternions.as_mutable<float>()[k] = k < 4 ? 0 : std::nanf("");
  write_dot_splat(temp / "x.splat", c);
  EXPECT_EQ(summarize(read_dot_splat(temp / "x.splat")).zero_quaternions, 2);
}

TEST(DotSplat, Refusals) {
  expect_error<FormatError>([] { parse_dot_splat(std::string(33, '\0'), "x.splat"); }, "but 1 are left at the end");
  for (std::size_t cut = 1; cut < 96; ++cut) {  // Cut anywhere but between Gaussians, of which no file tells the count.
    if (cut % 32 == 0) continue;
    EXPECT_THROW(parse_dot_splat(std::string(cut, '\0'), "x.splat"), FormatError) << cut;
  }
  try {
    parse_dot_splat(std::string(95, '\0'), "x.splat");
    ADD_FAILURE();
  } catch (const FormatError& e) { EXPECT_EQ(e.offset(), 64u); }
}

}  // namespace

}  // namespace rlx::formats::testing
