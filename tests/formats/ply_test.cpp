#include <rlx/formats/ply.hpp>

#include <cstring>
#include <limits>

#include "gaussians.hpp"

namespace rlx::formats::testing {

namespace {

const char* const names0[] = {"x",       "y",       "z",       "f_dc_0", "f_dc_1", "f_dc_2", "opacity",
                              "scale_0", "scale_1", "scale_2", "rot_0",  "rot_1",  "rot_2",  "rot_3"};

std::string properties(const char* type = "float") {
  std::string text;
  for (const char* name : names0) text += "property " + std::string(type) + " " + name + "\n";
  return text;
}

std::string ascii_file(const std::string& elements, const std::string& rows) {
  return "ply\nformat ascii 1.0\n" + elements + "end_header\n" + rows;
}

constexpr const char* row0 = "1 2 3 4 5 6 7 8 9 10 11 12 13 14\n";

void expect_row0(const GaussianCloud& c, std::int64_t i = 0) {
  ASSERT_GT(c.size(), i);
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(c.means.get_f64(3 * i + k), 1 + k);
    EXPECT_EQ(c.sh.get_f64(3 * i + k), 4 + k);
    EXPECT_EQ(c.log_scales.get_f64(3 * i + k), 8 + k);
  }
  EXPECT_EQ(c.opacity_logits.get_f64(i), 7);
  for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(c.quaternions.get_f64(4 * i + k), 11 + k);
}

// plyfile wrote the three encodings of one cloud of degree 3.
TEST(Ply, ReadsAllEncodings) {
  const GaussianCloud c = read_ply(splat_data("degree3.ply"));
  ASSERT_EQ(c.size(), 12);
  EXPECT_EQ(c.sh_degree, 3);
  expect_identical(c, read_ply(splat_data("degree3_ascii.ply")));
  expect_identical(c, read_ply(splat_data("degree3_big_endian.ply")));
  // Read from the bytes by hand: rows of 62 floats behind the header, in the order of make_gaussians.py.
  const std::string bytes = get(splat_data("degree3.ply"));
  const std::string_view end = "end_header\n";
  const std::size_t data = bytes.find(end) + end.size();
  ASSERT_EQ(bytes.size() - data, 12u * 62 * 4);
  const auto at = [&](std::size_t row, std::size_t column) {
    float x = 0;
    std::memcpy(&x, bytes.data() + data + 4 * (62 * row + column), 4);
    return x;
  };
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(c.means.as<float>()[3 * i + 2], at(i, 2));
    EXPECT_EQ(c.opacity_logits.as<float>()[i], at(i, 54));
    EXPECT_EQ(c.log_scales.as<float>()[3 * i + 1], at(i, 56));
    EXPECT_EQ(c.quaternions.as<float>()[4 * i + 3], at(i, 61));
    EXPECT_EQ(c.sh.as<float>()[48 * i + 1], at(i, 7));
    // All coefficients of a channel lie together: coefficient 5 of blue is f_rest_(2 * 15 + 4).
    EXPECT_EQ(c.sh.as<float>()[48 * i + 3 * 5 + 2], at(i, 9 + 34));
  }
}

// splat-transform wrote the packed file and unpacked it; its opacities 0 and 1 have infinite logits.
TEST(Ply, ReadsThePackedLayout) {
  const GaussianCloud packed = read_ply(splat_data("degree1.compressed.ply")),
                      plain = read_ply(splat_data("degree1_unpacked.ply"));
  ASSERT_EQ(packed.size(), 260);  // two chunks
  EXPECT_EQ(packed.sh_degree, 1);
  // It computes in f64 and stores f32: a few roundings of values of at most 10.
  expect_close(packed, plain,
               {.mean = 4e-6, .log_scale = 4e-6, .quaternion = 1e-3, .opacity = 2e-6, .colour = 4e-6, .harmonic = 0});
  EXPECT_EQ(summarize(packed).not_finite, 0);
}

TEST(Ply, LiteralsAndLayoutsOfTheHeader) {
  const std::string element = "element vertex 1\n" + properties();
  expect_row0(parse_ply(ascii_file(element, row0)));
  expect_row0(parse_ply(ascii_file("comment a\nobj_info b c\n\n" + element, std::string("\n  ") + row0 + "\n")));
  std::string crlf = ascii_file(element, row0), cr;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.replace(at, 1, "\r\n");
  expect_row0(parse_ply(crlf));
  for (const char c : ascii_file(element, row0)) cr += c == '\n' ? '\r' : c;
  expect_row0(parse_ply(cr));
  std::string no_end = ascii_file(element, row0);
  no_end.pop_back();
  expect_row0(parse_ply(no_end));
  EXPECT_EQ(parse_ply(ascii_file("element vertex 0\n" + properties(), "")).size(), 0);
  EXPECT_EQ(parse_ply("ply\nformat ascii 1.0\nelement vertex 0\n" + properties() + "end_header").size(), 0);
}

TEST(Ply, SkipsWhatItDoesNotKnow) {
  const std::string vertex =
      "element vertex 2\nproperty list uchar int ring\nproperty uchar red\n" + properties() + "property double time\n";
  const std::string elements = "element face 2\nproperty list uchar int vertex_indices\n" + vertex +
                               "element camera 1\nproperty float fov\nelement nothing 9000000000000000000\n";
  const std::string row = row0, inner = row.substr(0, row.size() - 1);
  const GaussianCloud c =
      parse_ply(ascii_file(elements, "3 0 1 2\n0\n2 5 6 255 " + inner + " 0.5\n0 255 " + inner + " 1e300\n0.7\n"));
  ASSERT_EQ(c.size(), 2);
  expect_row0(c, 0);
  expect_row0(c, 1);

  for (const bool big : {false, true}) {
    std::string b =
        "ply\nformat binary_" + std::string(big ? "big" : "little") + "_endian 1.0\n" + elements + "end_header\n";
    const auto put_number = [&](auto x) {
      std::string bytes(sizeof x, '\0');
      std::memcpy(bytes.data(), &x, sizeof x);
      if (big) bytes.assign(bytes.rbegin(), bytes.rend());
      b += bytes;
    };
    put_number(std::uint8_t{3});
    for (int i = 0; i < 3; ++i) put_number(i);
    put_number(std::uint8_t{0});
    for (const int ring : {2, 0}) {
      put_number(static_cast<std::uint8_t>(ring));
      for (int i = 0; i < ring; ++i) put_number(i);
      put_number(std::uint8_t{255});
      for (int i = 1; i <= 14; ++i) put_number(static_cast<float>(i));
      put_number(0.5);
    }
    put_number(0.7f);
    const GaussianCloud same = parse_ply(b);
    expect_identical(same, c);
    for (std::size_t cut = b.find("end_header") + 11; cut < b.size(); ++cut)
      EXPECT_THROW(parse_ply(b.substr(0, cut), "x.ply"), FormatError) << cut;
    expect_error<FormatError>([&] { parse_ply(b + "x", "x.ply"); }, "1 byte beyond the last row");
  }
}

TEST(Ply, ConvertsTheTypesOfProperties) {
  for (const char* type : {"char", "uchar", "short", "ushort", "int", "uint", "float", "double", "int8", "uint8",
                           "int16", "uint16", "int32", "uint32", "float32", "float64"}) {
    expect_row0(parse_ply(ascii_file("element vertex 1\n" + properties(type), row0)));
    std::string b = "ply\nformat binary_little_endian 1.0\nelement vertex 1\n" + properties(type) + "end_header\n";
    const std::string_view t(type);
    for (int i = 1; i <= 14; ++i) {
      const auto put_as = [&](auto x) { b.append(reinterpret_cast<const char*>(&x), sizeof x); };
      if (t == "float" || t == "float32") put_as(static_cast<float>(i));
      else if (t.starts_with("double") || t == "float64") put_as(static_cast<double>(i));
      else
        b.append(1, static_cast<char>(i))
            .append(t.find("char") != t.npos || t.find("int8") != t.npos  ? 0
                    : t.find("short") != t.npos || t.find("16") != t.npos ? 1
                                                                          : 3,
                    '\0');
    }
    expect_row0(parse_ply(b));
  }
}

TEST(Ply, NumbersThatAreNotFiniteAreKept) {
  const GaussianCloud c =
      parse_ply(ascii_file("element vertex 1\n" + properties(), "nan inf -inf 4 5 6 1e99 8 9 10 0 0 0 0\n"));
  EXPECT_TRUE(std::isnan(c.means.get_f64(0)));
  EXPECT_EQ(c.means.get_f64(2), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(summarize(c).not_finite, 1);
}

TEST(Ply, Refusals) {
  const std::string element = "element vertex 1\n" + properties();
  std::string lacking = element, no_z = element;
  lacking.replace(lacking.find("opacity"), 7, "opacity_");
  const std::string little = "ply\nformat binary_little_endian 1.0\n";
  const struct {
    std::string bytes;
    const char* says;
  } bad[] = {
      {"", "the file is empty"},
      {"plx\n", "expected a first line 'ply'"},
      {"ply\nformat ascii 1.0\n", "ends inside its header"},
      {"ply\n" + element + "end_header\n" + row0, "states no format"},
      {"ply\nformat ascii 2.0\n", "expected version 1.0"},
      {"ply\nformat text 1.0\n", "expected the format ascii"},
      {"ply\nformat ascii 1.0\nformat ascii 1.0\n", "states its format twice"},
      {"ply\nformat ascii 1.0\nproperty float x\n", "before any element"},
      {"ply\nformat ascii 1.0\nelements vertex 1\n", "expected one of format, element"},
      {ascii_file("element vertex -1\n", ""), "expected the number of rows of element 'vertex'"},
      {ascii_file("element vertex 1e3\n", ""), "found '1e3'"},
      {ascii_file("element vertex 99999999999999999999\n", ""), "exceeds 63 bits"},
      {ascii_file("element vertex 1 2\n", ""), "expected the end of the line"},
      {ascii_file("element vertex 1\nproperty float16 x\n", ""), "the type 'float16' is unknown"},
      {ascii_file("element vertex 1\nproperty list float int x\n", ""), "must be of an integer type"},
      {ascii_file("element vertex 1\nproperty float\n", ""), "has no name"},
      {ascii_file(element + "property float x\n", row0), "has the property 'x' twice"},
      {ascii_file(element + "element vertex 1\n", row0), "the element 'vertex' is there twice"},
      {ascii_file("element point 1\n" + properties(), row0), "no element 'vertex'"},
      {ascii_file(lacking, row0), "has no property 'opacity': these are points, not 3D Gaussians"},
      {ascii_file("element vertex 1\nproperty list uchar float x\n", "0\n"), "must be one number, not a list"},
      {ascii_file(element + "property float f_rest_0\n", row0), "has 1 properties f_rest_*"},
      {ascii_file("element vertex 2\n" + properties(), row0), "need at least"},
      {ascii_file("element vertex 2\n" + properties(), "1 2 3 4 5 6 7 8 9 10 11 12 13 14" + std::string(40, '\n')),
       "expected x"},
      {ascii_file("element vertex 1000000000000000000\n" + properties(), row0),
       "1000000000000000000 rows of element 'vertex'"},
      {ascii_file(element, "1 2 3 4 5 6 7 8 9 10 11 12 13\n14\n"),
       "expected rot_3, a number, found the end of the line"},
      {ascii_file(element, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"), "expected the end of the line after a row"},
      {ascii_file(element, "1 2 3 four 5 6 7 8 9 10 11 12 13 14\n"), "expected f_dc_0, a number, found 'four'"},
      {ascii_file(element, std::string(row0) + "15\n"), "expected the end of the file after the last row"},
      {ascii_file("element e 1\nproperty list int int a\n" + element, std::string("-1\n") + row0), "has the length -1"},
      {little + "element e 1\nproperty list char int a\n" + element + "end_header\n\xff" + std::string(56, '\0'),
       "has the length -1"},
      {little + "element vertex 1\n" + properties() + "end_header\n" + std::string(55, '\0'),
       "1 row of element 'vertex' need at least 56 bytes each, but only 55 are left"},
      {little + "element vertex 4000000000000000000\n" + properties() + "end_header\n", "4000000000000000000 rows"},
  };
  for (const auto& c : bad) {
    expect_error<FormatError>([&] { parse_ply(c.bytes, "x.ply"); }, c.says);
    try {
      parse_ply(c.bytes, "x.ply");
    } catch (const FormatError& e) {
      EXPECT_EQ(e.file(), "x.ply");
      EXPECT_LE(e.offset(), c.bytes.size());
    }
  }
}

TEST(Ply, PackedRefusals) {
  const std::string good = get(splat_data("degree1.compressed.ply"));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = good;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  EXPECT_EQ(parse_ply(good).size(), 260);
  const struct {
    std::string bytes;
    const char* says;
  } bad[] = {
      {with("element chunk 2", "element chunk 3"), "260 packed Gaussians need 2 chunks, the header says 3"},
      {with("element chunk 2", "element chunks 2"), "needs an element 'chunk'"},
      {with("float min_y", "float min_w"), "needs a property 'min_y' of type float in element 'chunk'"},
      {with("uint packed_scale", "int packed_scale"), "needs a property 'packed_scale' of type uint"},
      {with("element sh 260", "element sh 259"), "element 'sh' has 259 rows for 260 Gaussians"},
      {with("uchar f_rest_3", "char f_rest_3"), "'f_rest_3' of type uchar"},
      {good.substr(0, good.size() - 1), "need at least 9 bytes each"},
      {good + "x", "1 byte beyond"},
  };
  for (const auto& c : bad) expect_error<FormatError>([&] { parse_ply(c.bytes, "x.ply"); }, c.says);
}

TEST(Ply, RoundTripsAreExact) {
  const TempFolder temp;
  const std::string path = temp / "x.ply";
  for (int degree = 0; degree <= 4; ++degree) {
    for (const std::int64_t count : {0, 1, 300}) {
      GaussianCloud c = random_cloud(count, degree);
      if (count > 1) c.means.as_mutable<float>()[4] = std::numeric_limits<float>::infinity();
      for (const PlyEncoding encoding : {PlyEncoding::binary, PlyEncoding::ascii}) {
        c.antialiased = degree == 1;
        write_ply(path, c, encoding);
        const GaussianCloud back = read_ply(path);
        expect_identical(back, c);
        EXPECT_EQ(back.antialiased, c.antialiased);
      }
    }
  }
  // The file of another program comes out as it went in, but for its comments.
  write_ply(path, read_ply(splat_data("degree3.ply")));
  EXPECT_EQ(get(path), get(splat_data("degree3.ply")));
  GaussianCloud broken = random_cloud(2, 0);
  broken.means = HostTensor(DType::f32, {3, 3});
  expect_error<ArgumentError>([&] { write_ply(path, broken); }, "means must be");
  EXPECT_EQ(get(path), get(splat_data("degree3.ply")));
  EXPECT_EQ(temp.files(), 1u);
  expect_error<FormatError>([&] { read_ply(temp / "absent.ply"); }, "cannot open");
}

}  // namespace

}  // namespace rlx::formats::testing
