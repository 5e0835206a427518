#include <formats/gzip.hpp>
#include <rlx/formats/ply.hpp>
#include <rlx/formats/spz.hpp>

#include <cstring>
#include <limits>

#include "gaussians.hpp"

namespace rlx::formats::testing {

namespace {

// Both decode the same bytes, in f32.
constexpr Tolerances same_codes{
    .mean = 0, .log_scale = 0, .quaternion = 5e-4, .opacity = 2e-6, .colour = 1e-6, .harmonic = 0};
// Half a step of each code: 12 fractional bits, 16ths, 10 bits over -0.71 to 0.71, 8 bits, 4 bits of harmonics.
constexpr Tolerances half_a_step{.mean = 0.51 / 4096,
                                 .log_scale = 0.51 / 16,
                                 .quaternion = 3e-3,
                                 .opacity = 0.51 / 255,
                                 .colour = 0.51 / 255 / 0.15,
                                 .harmonic = 8.6 / 128};

// The format's own library packed degree3.ply and unpacked it again, both with the axes of PLY outside.
TEST(Spz, ReadsAllVersions) {
  const GaussianCloud source = read_ply(splat_data("degree3.ply"));
  for (const char* version : {"2", "3", "4"}) {
    const GaussianCloud c = read_spz(splat_data(std::string("degree3_v") + version + ".spz"));
    ASSERT_EQ(c.size(), 12) << version;
    expect_close(c, read_ply(splat_data(std::string("degree3_v") + version + ".ply")), same_codes);
    Tolerances t = half_a_step;
    if (*version == '2') t.quaternion = 0.06;  // w is what is left of the length: worst where it is near zero
    t.colour = 1;                              // some colours are outside what the format holds
    expect_close(c, source, t);
    EXPECT_EQ(summarize(c).not_finite, 0);
  }
}

// That library takes the basis function of degree 4 and order 4, x^4 - 6 x^2 y^2 + y^4, to be odd in y; it is even.
TEST(Spz, ReadsDegree4) {
  const GaussianCloud c = read_spz(splat_data("degree4_v4.spz"));
  GaussianCloud theirs = read_ply(splat_data("degree4_v4.ply"));
  for (std::int64_t i = 0; i < theirs.size(); ++i)
    for (std::int64_t k = 72; k < 75; ++k) theirs.sh.set_f64(75 * i + k, -theirs.sh.get_f64(75 * i + k));
  expect_close(c, theirs, same_codes);
}

TEST(Spz, AxesAreAFlip) {
  const std::string path = splat_data("degree3_v3.spz");
  const GaussianCloud c = read_spz(path), raw = read_spz(path, SpzAxes::right_down_front);
  const std::vector<float> point{0.3f, -0.5f, 0.81f};
  for (std::int64_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(c.means.get_f64(3 * i), raw.means.get_f64(3 * i));
    EXPECT_EQ(c.means.get_f64(3 * i + 1), -raw.means.get_f64(3 * i + 1));
    EXPECT_EQ(c.means.get_f64(3 * i + 2), -raw.means.get_f64(3 * i + 2));
    // The colour seen along a direction is that seen along the flipped one: degree 2, by its polynomials.
    const auto seen = [&](const GaussianCloud& g, double x, double y, double z) {
      const auto k = [&](std::int64_t j) { return g.sh.get_f64(48 * i + 3 * j); };
      return k(1) * y + k(2) * z + k(3) * x + k(4) * x * y + k(5) * y * z + k(6) * (2 * z * z - x * x - y * y) +
             k(7) * x * z + k(8) * (x * x - y * y);
    };
    EXPECT_NEAR(seen(c, 0.3, -0.5, 0.81), seen(raw, 0.3, 0.5, -0.81), 1e-6);
  }
}

TEST(Spz, RoundTrips) {
  const TempFolder temp;
  const std::string path = temp / "x.spz";
  for (int degree = 0; degree <= 4; ++degree) {
    for (int version = degree == 4 ? 4 : 2; version <= 4; ++version) {
      for (const SpzAxes axes : {SpzAxes::right_up_back, SpzAxes::right_down_front}) {
        GaussianCloud c = random_cloud(50, degree);
        c.antialiased = version == 3;
        write_spz(path, c, {.version = version, .axes = axes});
        const GaussianCloud back = read_spz(path, axes);
        Tolerances t = half_a_step;
        if (version == 2) t.quaternion = 0.13;
        expect_close(back, c, t);
        EXPECT_EQ(back.antialiased, c.antialiased);
        // What lies on its codes comes back as it is.
        write_spz(path, back, {.version = version, .axes = axes});
        const GaussianCloud again = read_spz(path, axes);
        EXPECT_TRUE(again.means.identical(back.means));
        EXPECT_TRUE(again.log_scales.identical(back.log_scales));
        EXPECT_TRUE(again.opacity_logits.identical(back.opacity_logits));
        EXPECT_TRUE(again.sh.identical(back.sh));
      }
    }
  }
  write_spz(path, random_cloud(3, 1), {.degree_1_bits = 8, .other_bits = 8});
  expect_close(read_spz(path), random_cloud(3, 1),
               {.mean = 0.51 / 4096,
                .log_scale = 0.51 / 16,
                .quaternion = 3e-3,
                .opacity = 0.51 / 255,
                .colour = 0.51 / 255 / 0.15,
                .harmonic = 0.51 / 128});
  write_spz(path, GaussianCloud{});
  EXPECT_EQ(read_spz(path).size(), 0);
  write_spz(path, GaussianCloud{}, {.version = 4});
  EXPECT_EQ(read_spz(path).size(), 0);
}

TEST(Spz, FarMeansGetFewerFractionalBits) {
  const TempFolder temp;
  GaussianCloud c = random_cloud(2, 0);
  c.means.as_mutable<float>()[0] = -8388607;
  c.means.as_mutable<float>()[1] = 100.4f;
  write_spz(temp / "x.spz", c);
  EXPECT_EQ(read_spz(temp / "x.spz").means.get_f64(0), -8388607);
  EXPECT_EQ(read_spz(temp / "x.spz").means.get_f64(1), 100);
  c.means.as_mutable<float>()[0] = 2100;
  write_spz(temp / "x.spz", c);
  EXPECT_NEAR(read_spz(temp / "x.spz").means.get_f64(1), 100.4, 0.51 / 2048);
  c.means.as_mutable<float>()[0] = 1e7f;
  expect_error<ArgumentError>([&] { write_spz(temp / "x.spz", c); }, "means up to 8388607");
}

TEST(Spz, WhatItCannotHold) {
  const TempFolder temp;
  const std::string path = temp / "x.spz";
  expect_error<ArgumentError>([&] { write_spz(path, random_cloud(1, 4), {.version = 3}); }, "choose version 4");
  expect_error<ArgumentError>([&] { write_spz(path, random_cloud(1, 0), {.version = 1}); }, "is not written");
  expect_error<ArgumentError>([&] { write_spz(path, random_cloud(1, 0), {.degree_1_bits = 9}); }, "1 to 8 bits");
  GaussianCloud c = random_cloud(3, 1);
  c.sh.as_mutable<float>()[13] = std::nanf("");
  expect_error<ArgumentError>([&] { write_spz(path, c); }, "the harmonics of Gaussian 1, which are not finite");
  EXPECT_EQ(temp.files(), 0u);
  c = random_cloud(3, 0);
  c.opacity_logits.as_mutable<float>()[0] =
      std::numeric_limits<float>::infinity();  // opaque: as other programs decode 255
  for (std::size_t k = 0; k < 4; ++k) c.quaternions.as_mutable<float>()[k] = 0;
  write_spz(path, c);
  EXPECT_NEAR(read_spz(path).quaternions.get_f64(0), 1, 1e-6);
  EXPECT_GT(read_spz(path).opacity_logits.get_f64(0), 13);
}

std::string legacy(std::uint32_t version, std::uint32_t count, int degree, int bits, int flags, std::string_view rest) {
  std::string h = "NGSP";
  h.append(reinterpret_cast<const char*>(&version), 4).append(reinterpret_cast<const char*>(&count), 4);
  h += {static_cast<char>(degree), static_cast<char>(bits), static_cast<char>(flags), '\0'};
  return gzip(h + std::string(rest));
}

TEST(Spz, Version1HasHalfPrecision) {
  // Mean 1 -2 0.5 as f16, opacity 255, colour, scales 160 = 0, quaternion 0 0 0.
  const GaussianCloud c = parse_spz(legacy(1, 1, 0, 12, 1,
                                           from_hex("003c00c00038"
                                                    "ff"
                                                    "808080"
                                                    "a0a0a0"
                                                    "7f7f7f")),
                                    "x.spz", SpzAxes::right_down_front);
  ASSERT_EQ(c.size(), 1);
  EXPECT_TRUE(c.antialiased);
  EXPECT_EQ(c.means.get_f64(0), 1);
  EXPECT_EQ(c.means.get_f64(1), -2);
  EXPECT_EQ(c.means.get_f64(2), 0.5);
  EXPECT_EQ(c.log_scales.get_f64(0), 0);
  EXPECT_NEAR(c.quaternions.get_f64(0), 1, 1e-4);
}

TEST(Spz, ExtensionsAreSkippedButForTheAxes) {
  const std::string one = from_hex(
      "001000"
      "002000"
      "004000"
      "ff"
      "808080"
      "a0a0a0"
      "00000000");
  const auto y = [&](const std::string& extensions) {
    return parse_spz(legacy(3, 1, 0, 12, 2, one + extensions), "x.spz").means.get_f64(1);
  };
  EXPECT_EQ(y(""), -2);  // right, up, back
  const std::string origin = from_hex(
                                 "000000"
                                 "000000"
                                 "000000") +
                             one.substr(9);
  EXPECT_FALSE(std::signbit(parse_spz(legacy(3, 1, 0, 12, 0, origin)).means.get_f64(1)));
  EXPECT_EQ(y(from_hex("0100cdab"
                       "03000000"
                       "010203")),
            -2);  // another's
  EXPECT_EQ(y(from_hex("0300bead"
                       "04000000"
                       "06000000")),
            2);  // right, down, front
  EXPECT_EQ(y(from_hex("0300bead"
                       "04000000"
                       "04000000")),
            -2);
  expect_error<FormatError>(
      [&] {
        y(
            from_hex("0300bead"
                     "04000000"
                     "0a000000"));
      },
      "have y and z exchanged");
  expect_error<FormatError>(
      [&] {
        y(
            from_hex("0300bead"
                     "04000000"
                     "11000000"));
      },
      "axes 17 are unknown");
  expect_error<FormatError>(
      [&] {
        y(
            from_hex("0300bead"
                     "02000000"
                     "1100"));
      },
      "must have 4 bytes");
  expect_error<FormatError>(
      [&] {
        y(
            from_hex("0300bead"
                     "04000000"
                     "11"));
      },
      "ends after 1 of 4 bytes of an extension");
  expect_error<FormatError>(
      [&] {
        y(
            from_hex("0300bead"
                     "ffffffff"
                     "11"));
      },
      "is longer than the file");
}

TEST(Spz, Refusals) {
  const std::string v3 = get(splat_data("degree3_v3.spz")), v4 = get(splat_data("degree3_v4.spz"));
  const std::string one(20, '\0');
  auto patched = [&](std::size_t at, char value) {
    std::string s = v4;
    s[at] = value;
    return s;
  };
  const struct {
    std::string bytes;
    const char* says;
  } bad[] = {
      {"", "the file is empty"},
      {"PK\x03\x04", "expected an SPZ file"},
      {"\x1f\x8b", "cut short"},
      {"NGSP", "ends inside its header"},
      {gzip("NGSX" + std::string(12, '\0')), "expected the magic number 'NGSP'"},
      {gzip("NGSP"), "ends after 4 of 16 bytes of its header"},
      {legacy(5, 1, 0, 12, 0, one), "version 5 of SPZ is unknown within gzip"},
      {legacy(4, 1, 0, 12, 0, one), "version 4 of SPZ is unknown within gzip"},
      {legacy(3, 1, 5, 12, 0, one), "degree 5: known are 0 to 4"},
      {legacy(3, 1, 0, 25, 0, one), "25 fractional bits"},
      {legacy(3, 4000000000u, 3, 12, 0, one), "which no gzip stream of"},
      {legacy(3, 2, 0, 12, 0, one), "ends before colours"},
      {legacy(3, 3, 0, 12, 0, one), "ends after 20 of 27 bytes of means"},
      {legacy(3, 1, 0, 12, 0, one + "x"), "holds more than its header says"},
      {legacy(3, 1, 0, 12, 0, one) + "x", "1 byte beyond the compressed stream"},
      {v3.substr(0, v3.size() - 9), "cut short"},
      {v3.substr(0, v3.size() - 1), "cut short"},
      {patched(4, 3), "version 3 of SPZ is unknown without gzip"},
      {patched(12, 5), "degree 5: known are 0 to 4"},
      {patched(8, 13), "is said to hold 108 bytes, but 13 Gaussians have 117"},
      {patched(11, 127), "is said to hold 108 bytes"},
      {patched(15, 5), ""},
      {patched(15, 7), ""},
      {patched(16, 0), "the table of 6 streams at 0 does not lie in the file"},
      {patched(19, 127), "does not lie in the file"},
      {patched(34, 127), "the stream of means reaches beyond the file"},
      {patched(130, 0x55), "does not decompress"},
      {v4 + "x", "1 byte beyond the last stream"},
      {v4.substr(0, v4.size() - 1), "reaches beyond the file"},
  };
  for (const auto& c : bad) {
    expect_error<FormatError>([&] { parse_spz(c.bytes, "x.spz"); }, c.says);
    try {
      parse_spz(c.bytes, "x.spz");
    } catch (const FormatError& e) { EXPECT_LE(e.offset(), c.bytes.size()) << e.what(); }
  }
}

}  // namespace

}  // namespace rlx::formats::testing
