#include <rlx/formats/image.hpp>
#include <rlx/formats/npy.hpp>

#include <cstring>

#include "gaussians.hpp"

namespace rlx::formats::testing {

namespace {

using Shape = std::vector<std::int64_t>;

std::string image_data(const std::string& name) { return splat_data("images/" + name); }

HostTensor channels(const HostTensor& image, std::int64_t first, std::int64_t count) {
  const Shape& s = image.shape();
  HostTensor out(image.dtype(), {s[0], s[1], count});
  for (std::int64_t i = 0; i < out.numel(); ++i) out.set_i64(i, image.get_i64(i / count * s[2] + first + i % count));
  return out;
}

// Pillow and OpenCV wrote the files; the arrays are what Pillow has in memory.
TEST(Image, PngsOfEveryKind) {
  const HostTensor rgba = read_npy(image_data("rgba.npy"));
  EXPECT_TRUE(read_image(image_data("rgba.png")).identical(rgba));
  EXPECT_TRUE(read_image(image_data("rgb.png")).identical(channels(rgba, 0, 3)));
  EXPECT_TRUE(read_image(image_data("grey.png")).identical(channels(rgba, 0, 1)));
  EXPECT_TRUE(read_image(image_data("grey_alpha.png")).identical(channels(rgba, 0, 2)));
  EXPECT_TRUE(read_image(image_data("palette.png")).identical(read_npy(image_data("palette.png.npy"))));
  EXPECT_TRUE(read_image(image_data("bits.png")).reshaped({5, 7}).identical(read_npy(image_data("bits.png.npy"))));
  const HostTensor grey16 = read_image(image_data("grey16.png")), rgb16 = read_image(image_data("rgb16.png"));
  ASSERT_EQ(grey16.dtype(), DType::u16);
  ASSERT_EQ(grey16.shape(), (Shape{5, 7, 1}));
  ASSERT_EQ(rgb16.shape(), (Shape{5, 7, 3}));
  for (std::int64_t i = 0; i < 35; ++i) {
    EXPECT_EQ(grey16.get_i64(i), (rgba.get_i64(4 * i) * 257 + 1) & 65535);
    for (std::int64_t c = 0; c < 3; ++c)  // OpenCV's arrays are blue, green, red
      EXPECT_EQ(rgb16.get_i64(3 * i + c), rgba.get_i64(4 * i + 2 - c) * 200 + 3);
  }
}

TEST(Image, Jpegs) {
  for (const char* name : {"rgb.jpg", "progressive.jpg", "grey.jpg"}) {
    const HostTensor image = read_image(image_data(name)), wanted = read_npy(image_data(std::string(name) + ".npy"));
    ASSERT_EQ(image.numel(), wanted.numel()) << name;
    // Another build of the same library may round its transforms differently, by one.
    for (std::int64_t i = 0; i < image.numel(); ++i) EXPECT_NEAR(image.get_f64(i), wanted.get_f64(i), 1) << name;
  }
}

TEST(Image, HeadersTellWhatTheReaderMakes) {
  for (const char* name : {"rgba.png", "rgb.png", "grey.png", "grey_alpha.png", "palette.png", "bits.png", "grey16.png",
                           "rgb16.png", "rgb.jpg", "progressive.jpg", "grey.jpg"}) {
    const ImageHeader h = read_image_header(image_data(name));
    const HostTensor image = read_image(image_data(name));
    EXPECT_EQ((Shape{h.height, h.width, h.channels}), image.shape()) << name;
    EXPECT_EQ(h.bits, bit_width(image.dtype())) << name;
  }
}

TEST(Image, PngRoundTrips) {
  const TempFolder temp;
  const HostTensor rgba = read_npy(image_data("rgba.npy"));
  for (std::int64_t c = 1; c <= 4; ++c) {
    const HostTensor image = channels(rgba, 0, c);
    write_png(temp / "x.png", image);
    EXPECT_TRUE(read_image(temp / "x.png").identical(image)) << c;
  }
  for (const char* name : {"grey16.png", "rgb16.png"}) {
    const HostTensor image = read_image(image_data(name));
    write_png(temp / "x.png", image);
    EXPECT_TRUE(read_image(temp / "x.png").identical(image)) << name;
  }
  put(temp / "x.png", "old");
  for (const HostTensor& bad :
       {HostTensor(DType::f32, {2, 2, 3}), HostTensor(DType::u8, {2, 2}), HostTensor(DType::u8, {2, 2, 5}),
        HostTensor(DType::u8, {0, 2, 3}), HostTensor(DType::u8, {2, 2, 0})})
    expect_error<ArgumentError>([&] { write_png(temp / "x.png", bad); }, "a PNG image is u8 or u16[height, width, 1 to 4]");
  expect_error<ArgumentError>([&] { write_png(temp / "x.png", HostTensor(DType::u8, {1, 2000000, 1})); },
                              "PNG cannot hold");
  EXPECT_EQ(get(temp / "x.png"), "old");
  EXPECT_EQ(temp.files(), 1u);
}

TEST(Image, UnitFloats) {
  const HostTensor bytes = unit_floats(HostTensor::from(DType::u8, {1, 3, 1}, std::vector<double>{0, 51, 255}));
  EXPECT_EQ(bytes.dtype(), DType::f32);
  EXPECT_EQ(bytes.get_f64(1), static_cast<double>(0.2f));
  EXPECT_EQ(bytes.get_f64(2), 1);
  EXPECT_EQ(unit_floats(HostTensor::from(DType::u16, {1, 1, 1}, std::vector<double>{65535})).get_f64(0), 1);
  expect_error<ArgumentError>([] { unit_floats(HostTensor(DType::f32, {1, 1, 1})); }, "must be u8 or u16, not f32");
}

TEST(Image, DamagedFilesAreRefused) {
  for (const char* name : {"rgba.png", "palette.png", "grey16.png", "rgb.jpg", "progressive.jpg", "grey.jpg"}) {
    const std::string good = get(image_data(name));
    for (std::size_t cut = 0; cut < good.size(); ++cut) {
      // A JPEG that lacks no more than its end mark has lost no pixel, and libjpeg decodes the last block as it comes.
      if (good[0] == '\xff' && cut + 2 >= good.size()) continue;
      try {
        parse_image(good.substr(0, cut), "x");
        ADD_FAILURE() << name << " cut at " << cut;
      } catch (const FormatError& e) { EXPECT_LE(e.offset(), cut); }
    }
  }
  std::string crc = get(image_data("rgb.png"));
  crc[crc.size() - 20] ^= 1;
  expect_error<FormatError>([&] { parse_image(crc, "x.png"); }, "damaged PNG image");
  expect_error<FormatError>([] { parse_image("", "x.png"); }, "the file is empty");
  expect_error<FormatError>([] { parse_image("GIF89a", "x.gif"); }, "expected a PNG or JPEG image, found 'GIF89a'");
  expect_error<FormatError>([] { read_image(image_data("cmyk.jpg")); }, "4 components (CMYK)");
}

// A width and height of 16 bits each in a few hundred bytes: refused before anything is allocated.
TEST(Image, HugeSizesAreRefused) {
  std::string jpeg = get(image_data("rgb.jpg"));
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  std::memcpy(jpeg.data() + frame + 5, "\xff\xdc\xff\xdc", 4);
  expect_error<FormatError>([&] { parse_image(jpeg, "x.jpg"); }, "65500 x 65500 pixels does not fit in");
  expect_error<FormatError>([&] { parse_image_header(jpeg, "x.jpg"); }, "65500 x 65500 pixels does not fit in");
}

}  // namespace

}  // namespace rlx::formats::testing
