#include <rlx/formats/colmap.hpp>

#include <cmath>
#include <cstring>
#include <sstream>

#include "lenses.hpp"

namespace rlx::formats::testing {

namespace {

struct Files {
  std::string cameras, images, points;
  ColmapFiles view() const { return {cameras, images, points}; }
};

Files files_of(const std::string& folder, const char* suffix) {
  return {get(folder + "/cameras" + suffix), get(folder + "/images" + suffix), get(folder + "/points3D" + suffix)};
}

void expect_same(const Reconstruction& a, const Reconstruction& b) {
  ASSERT_EQ(a.cameras.size(), b.cameras.size());
  for (std::size_t i = 0; i < a.cameras.size(); ++i) {
    EXPECT_EQ(a.cameras[i].id, b.cameras[i].id);
    EXPECT_EQ(a.cameras[i].model, b.cameras[i].model);
    EXPECT_EQ(a.cameras[i].width, b.cameras[i].width);
    EXPECT_EQ(a.cameras[i].height, b.cameras[i].height);
    EXPECT_EQ(a.cameras[i].parameters, b.cameras[i].parameters);
  }
  ASSERT_EQ(a.images.size(), b.images.size());
  for (std::size_t i = 0; i < a.images.size(); ++i) {
    EXPECT_EQ(a.images[i].id, b.images[i].id);
    EXPECT_EQ(a.images[i].name, b.images[i].name);
    EXPECT_EQ(a.images[i].camera, b.images[i].camera);
    EXPECT_EQ(a.images[i].rotation, b.images[i].rotation);
    EXPECT_EQ(a.images[i].translation, b.images[i].translation);
    ASSERT_EQ(a.images[i].observations.size(), b.images[i].observations.size());
    for (std::size_t k = 0; k < a.images[i].observations.size(); ++k) {
      EXPECT_EQ(a.images[i].observations[k].x, b.images[i].observations[k].x);
      EXPECT_EQ(a.images[i].observations[k].y, b.images[i].observations[k].y);
      EXPECT_EQ(a.images[i].observations[k].point, b.images[i].observations[k].point);
    }
  }
  EXPECT_EQ(a.points.ids, b.points.ids);
  EXPECT_TRUE(a.points.positions.identical(b.points.positions));
  EXPECT_TRUE(a.points.colours.identical(b.points.colours));
  EXPECT_TRUE(a.points.errors.identical(b.points.errors));
  EXPECT_EQ(a.points.track_offsets, b.points.track_offsets);
  ASSERT_EQ(a.points.tracks.size(), b.points.tracks.size());
  for (std::size_t i = 0; i < a.points.tracks.size(); ++i) {
    EXPECT_EQ(a.points.tracks[i].image, b.points.tracks[i].image);
    EXPECT_EQ(a.points.tracks[i].observation, b.points.tracks[i].observation);
  }
}

// pycolmap wrote the same model both ways.
TEST(Colmap, ReadsColmapsFiles) {
  const Reconstruction r = read_colmap(splat_data("colmap_binary"));
  expect_same(r, read_colmap(splat_data("colmap_text")));
  EXPECT_NO_THROW(check(r));
  ASSERT_EQ(r.cameras.size(), 9u);
  for (const Camera& c : r.cameras) {
    const Camera wanted = example_camera(c.model);
    EXPECT_EQ(c.id, wanted.id);
    EXPECT_EQ(c.parameters, wanted.parameters);
  }
  std::istringstream poses(get(splat_data("poses.txt")));
  ASSERT_EQ(r.images.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const PosedImage& image = r.images[i];
    std::string name;
    poses >> name;
    name.replace(name.find('_'), 1, " ");
    EXPECT_EQ(image.name, name);
    EXPECT_EQ(r.cameras[static_cast<std::size_t>(image.camera)].id, 10 + 2 * i);
    EXPECT_EQ(image.observations.size(), 2 * i);
    const auto matrix = world_to_camera(image);
    for (std::size_t k = 0; k < 12; ++k) {
      double wanted = 0;
      poses >> wanted;
      EXPECT_NEAR(matrix[k], wanted, 1e-14) << i << " " << k;
    }
  }
  ASSERT_EQ(r.points.size(), 3);
  EXPECT_EQ(r.points.track_offsets, (std::vector<std::int64_t>{0, 3, 6, 8}));
  EXPECT_EQ(r.points.tracks[1].image, 2u);
  EXPECT_EQ(r.images[3].observations[2].point, 2);
  EXPECT_EQ(r.images[3].observations[5].point, -1);
}

TEST(Colmap, RoundTripsAreExact) {
  const TempFolder temp;
  const Reconstruction r = read_colmap(splat_data("colmap_binary"));
  write_colmap(temp / "new/binary", r);
  for (const char* name : {"cameras.bin", "images.bin", "points3D.bin"})
    EXPECT_EQ(get(temp / "new/binary/" + name), get(splat_data("colmap_binary/") + name)) << name;
  write_colmap(temp / "new/text", r, ColmapEncoding::text);
  expect_same(read_colmap(temp / "new/text"), r);
  write_colmap(temp / "empty", Reconstruction{});
  expect_same(read_colmap(temp / "empty"), Reconstruction{});
  write_colmap(temp / "empty", Reconstruction{}, ColmapEncoding::text);
  std::filesystem::remove(temp / "empty/cameras.bin");
  expect_same(read_colmap(temp / "empty"), Reconstruction{});

  Reconstruction bad = r;
  bad.images[0].name = "a\nb";
  expect_error<ArgumentError>([&] { write_colmap(temp / "bad", bad); }, "cannot hold an image of the name 'a\\x0ab'");
  bad.images[0].name = "a ";
  EXPECT_NO_THROW(write_colmap(temp / "blank", bad));
  expect_error<ArgumentError>([&] { write_colmap(temp / "bad", bad, ColmapEncoding::text); }, "of the name 'a '");
  bad = r;
  bad.images[0].camera = 77;
  expect_error<ArgumentError>([&] { write_colmap(temp / "bad", bad); }, "has no camera 77");
  put(temp / "file", "");
  expect_error<FormatError>([&] { write_colmap(temp / "file/x", r); }, "cannot create the folder");
  expect_error<FormatError>([&] { read_colmap(temp / "nowhere"); }, "cannot open");
}

TEST(Colmap, LayoutsOfTheText) {
  const char* const cameras = "\xef\xbb\xbf# a comment\n\n  1 PINHOLE 4 3 2 2 2 1.5  \r\n# the end";
  const Files f{std::string(cameras).substr(3),
                "# c\r\n1 2 0 0 0 1 2 3 1 my photo.png \r\n\r\n2 1 0 0 0 0 0 0 1 b.png\n1 2 -1 3 4 9\n",
                "9 1 2 3 255 0 7 0.5 2 1"};
  const Reconstruction r = parse_colmap(f.view(), ColmapEncoding::text);
  ASSERT_EQ(r.images.size(), 2u);
  EXPECT_EQ(r.images[0].name, "my photo.png");
  EXPECT_EQ(r.images[0].rotation[0], 1);  // normalised
  for (const char* size : {"1e-300", "5e-324", "1e300"}) {
    Files scaled = f;
    scaled.images.replace(scaled.images.find("2 0 0 0"), 7, std::string(size) + " 0 0 -" + size);
    const auto rotation = parse_colmap(scaled.view(), ColmapEncoding::text).images[0].rotation;
    EXPECT_NEAR(rotation[0], std::sqrt(0.5), 1e-15) << size;
    EXPECT_NEAR(rotation[3], -std::sqrt(0.5), 1e-15) << size;
  }
  EXPECT_EQ(r.images[1].observations[1].point, 0);
  EXPECT_EQ(r.points.colours.get_i64(2), 7);
}

TEST(Colmap, TextRefusals) {
  const Files good{"1 PINHOLE 4 3 2 2 2 1\n", "5 1 0 0 0 0 0 0 1 a\n1 2 9\n", "9 0 0 0 1 2 3 0 5 0\n"};
  EXPECT_EQ(parse_colmap(good.view(), ColmapEncoding::text).points.size(), 1);
  const auto refused = [&](std::string Files::* which, const char* text, const char* says, const char* file) {
    Files f = good;
    f.*which = text;
    expect_error<FormatError>([&] { parse_colmap(f.view(), ColmapEncoding::text, "m"); }, says, text);
    try {
      parse_colmap(f.view(), ColmapEncoding::text, "m");
    } catch (const FormatError& e) {
      EXPECT_EQ(e.file(), file);
      EXPECT_LE(e.offset(), (f.*which).size());
    }
  };
  refused(&Files::cameras, "1 FOV 4 3 2 2 2 1 1\n", "the camera model 'FOV' is not supported", "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 3 2 2 2\n", "expected a parameter", "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 3 2 2 2 1 5\n", "expected the end of the line after a camera", "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 3 0 2 2 1\n", "a focal length must be positive", "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 3 1e-300 2 2 1\n", "camera 1 (PINHOLE): its intrinsics are singular",
          "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 0 1 2 2 1\n", "a size of 4 x 0", "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 3 2 2 2 nan\n", "a parameter is not finite", "m/cameras.txt");
  refused(&Files::cameras, "-1 PINHOLE 4 3 2 2 2 1\n", "camera id -1 is not within", "m/cameras.txt");
  refused(&Files::cameras, "1 PINHOLE 4 3 2 2 2 1\n1 PINHOLE 4 3 2 2 2 1\n", "camera 1 is there twice",
          "m/cameras.txt");
  refused(&Files::cameras, "2 PINHOLE 4 3 2 2 2 1\n", "there is no camera 1", "m/images.txt");
  refused(&Files::images, "5 1 0 0 0 0 0 0 1 a\n1 2\n", "expected point id", "m/images.txt");
  refused(&Files::images, "5 1 0 0 0 0 0 0 1 a\n1 2 8\n", "there is no point 8", "m/images.txt");
  refused(&Files::images, "5 0 0 0 0 0 0 0 1 a\n1 2 9\n", "has no rotation", "m/images.txt");
  refused(&Files::images, "5 nan 0 0 0 0 0 0 1 a\n1 2 9\n", "has no rotation", "m/images.txt");
  refused(&Files::images, "5 1 0 0 0 0 inf 0 1 a\n1 2 9\n", "a translation that is not finite", "m/images.txt");
  refused(&Files::images, "5 1 0 0 0 0 0 0 1 a\n\n6 1 0 0 0 0 0 0 1 a\n\n", "the image 'a' is there twice",
          "m/images.txt");
  refused(&Files::images, "", "there is no image 5", "m/points3D.txt");
  refused(&Files::images, "5 1 0 0 0 0 0 0 1 a\n\n", "has no observation 0", "m/points3D.txt");
  refused(&Files::points, "9 0 0 0 1 2 256 0 5 0\n", "colour 256 is not within 0 to 255", "m/points3D.txt");
  refused(&Files::points, "9 0 0 0 1 2 3 0 5\n", "expected observation", "m/points3D.txt");
}

TEST(Colmap, BinaryRefusals) {
  const Files good = files_of(splat_data("colmap_binary"), ".bin");
  EXPECT_EQ(parse_colmap(good.view(), ColmapEncoding::binary).points.size(), 3);
  // Cut anywhere, each file is refused.
  for (std::string Files::* which : {&Files::cameras, &Files::images, &Files::points}) {
    for (std::size_t cut = 0; cut < (good.*which).size(); ++cut) {
      Files f = good;
      (f.*which).resize(cut);
      EXPECT_THROW(parse_colmap(f.view(), ColmapEncoding::binary, "m"), FormatError) << cut;
    }
    Files f = good;
    f.*which += '\0';
    expect_error<FormatError>([&] { parse_colmap(f.view(), ColmapEncoding::binary, "m"); },
                              "1 byte beyond the last record");
    // Counts that the rest cannot hold.
    f = good;
    std::memset((f.*which).data(), 0xff, 8);
    expect_error<FormatError>([&] { parse_colmap(f.view(), ColmapEncoding::binary, "m"); }, "18446744073709551615");
  }
  const auto with_model = [&](int number) {
    Files f = good;
    std::memcpy(f.cameras.data() + 12, &number, 4);
    return parse_colmap(f.view(), ColmapEncoding::binary, "m");
  };
  expect_error<FormatError>([&] { with_model(7); }, "the camera model FOV is not supported");
  expect_error<FormatError>([&] { with_model(10); }, "the camera model THIN_PRISM_FISHEYE is not supported");
  expect_error<FormatError>([&] { with_model(99); }, "the camera model 99 is unknown");
  expect_error<FormatError>([&] { with_model(-1); }, "the camera model -1 is unknown");
}

}  // namespace

}  // namespace rlx::formats::testing
