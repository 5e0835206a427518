#include <rlx/formats/npy.hpp>

#include <complex>
#include <vector>

#include "support.hpp"

namespace rlx::formats::testing {

using Shape = std::vector<std::int64_t>;

namespace {

// As NumPy lays it out: magic and version, length, the text, blanks to a total of 128 bytes, a line end, the data.
std::string npy(std::string_view text, std::string_view data_hex, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const std::size_t start = version == 1 ? 10 : 12,
                    length = std::max<std::size_t>(128, start + text.size() + 1) - start;
  bytes += static_cast<char>(length & 255);
  bytes += static_cast<char>(length >> 8);
  if (version > 1) bytes += std::string(2, '\0');
  bytes += text;
  bytes.append(length - text.size() - 1, ' ');
  return bytes + '\n' + from_hex(data_hex);
}

std::string header(std::string_view descr, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

// Bytes by numpy 2.4.6: np.save of np.array([[1, 2, 3], [4, 5, 6.5]], '<f4').
constexpr std::string_view literal_file =
    "934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c"
    "20277368617065273a2028322c2033292c207d20202020202020202020202020202020202020202020202020202020202020"
    "2020202020202020202020202020202020202020202020202020200a0000803f0000004000004040000080400000a0400000"
    "d040";

struct Case {
  const char *descr, *shape;
  bool fortran;
  const char* data;
  DType dtype;
  Shape dims;
  std::vector<double> values;
};

// Data as numpy 2.4.6 wrote it.
const Case cases[] = {
    {"<f4",
     "(2, 3)",
     false,
     "0000803f0000004000004040000080400000a0400000d040",
     DType::f32,
     {2, 3},
     {1, 2, 3, 4, 5, 6.5}},
    {"<f4",
     "(2, 3)",
     true,
     "0000803f00008040000000400000a040000040400000d040",
     DType::f32,
     {2, 3},
     {1, 2, 3, 4, 5, 6.5}},
    {">f8", "(2,)", false, "3ff8000000000000c002000000000000", DType::f64, {2}, {1.5, -2.25}},
    {"<f2", "(3,)", false, "003c00b8ff7b", DType::f16, {3}, {1, -0.5, 65504}},
    {"|i1", "(2,)", false, "ff7f", DType::i8, {2}, {-1, 127}},
    {">i2", "(2,)", false, "fffe012c", DType::i16, {2}, {-2, 300}},
    {">u4", "(1,)", false, "ee6b2800", DType::u32, {1}, {4000000000}},
    {"<i8", "()", false, "fbffffffffffffff", DType::i64, {}, {-5}},
    {"|b1", "(3,)", false, "010001", DType::boolean, {3}, {1, 0, 1}},
    {"<f8", "(0, 3)", false, "", DType::f64, {0, 3}, {}},
    {"<f8", "(0, 3)", true, "", DType::f64, {0, 3}, {}},
    {"|u1",
     "(2, 3, 4)",
     true,
     "000c04100814010d05110915020e06120a16030f07130b17",
     DType::u8,
     {2, 3, 4},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
    {"<u2", "(3L,)", true, "070008000900", DType::u16, {3}, {7, 8, 9}},
    {"=i4", "(1,)", false, "07000000", DType::i32, {1}, {7}},
    {"?", "(1,)", false, "01", DType::boolean, {1}, {1}},
};

TEST(Npy, LiteralFile) {
  const HostTensor t = parse_npy(from_hex(literal_file), "x.npy");
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.get_f64(5), 6.5);
}

TEST(Npy, TypesAndOrders) {
  for (const Case& c : cases) {
    for (int version = 1; version <= 3; ++version) {
      const HostTensor t = parse_npy(npy(header(c.descr, c.shape, c.fortran), c.data, version), "x.npy");
      EXPECT_EQ(t.dtype(), c.dtype) << c.descr;
      EXPECT_EQ(t.shape(), c.dims) << c.descr;
      ASSERT_EQ(t.numel(), static_cast<std::int64_t>(c.values.size()));
      for (std::int64_t i = 0; i < t.numel(); ++i) EXPECT_EQ(t.get_f64(i), c.values[i]) << c.descr << c.shape << i;
    }
  }
  EXPECT_EQ(parse_npy(npy(header("<u8", "(1,)"), "ffffffffffffffff")).get_u64(0), ~std::uint64_t{0});
  EXPECT_EQ(parse_npy(npy(header(">c8", "(1,)"), "3f80000040000000")).get_c128(0), std::complex<double>(1, 2));
  EXPECT_EQ(parse_npy(npy(header("<c16", "(1,)"), "000000000000f83f00000000000000c0")).get_c128(0),
            std::complex<double>(1.5, -2));
}

TEST(Npy, OtherLayoutsOfTheHeader) {
  for (const char* text : {R"({"shape":(1,),"fortran_order":False,"descr":"<u2"})",
                           "{ 'shape' : ( 1 ) , 'descr':'<u2','fortran_order' :True }"})
    EXPECT_EQ(parse_npy(npy(text, "0700")).get_i64(0), 7) << text;
}

TEST(Npy, Refusals) {
  const struct {
    std::string bytes;
    const char* says;
    std::uint64_t offset;
  } bad[] = {
      {"", "the file is empty", 0},
      {"PK\x03\x04", "expected the magic string", 0},
      {"\x93NUMPY", "ends inside its header", 6},
      {std::string("\x93NUMPY\x04\x00\x00\x00\x00\x00", 12), "version 4.0 is unknown", 6},
      {std::string("\x93NUMPY\x01\x01\x00\x00", 10), "version 1.1 is unknown", 6},
      {std::string("\x93NUMPY\x01\x00\xff\xff{", 11), "said to have 65535 bytes, but only 1 follow", 8},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13), "said to have 4294967295 bytes", 8},
      {npy("nothing", ""), "expected '{' in the header", 10},
      {npy("{}", ""), "lacks one of the keys", 128},
      {npy("{'descr': '<f4', 'shape': (1,), }", "00000000"), "lacks one of the keys", 128},
      {npy("{'descr': '<f4', 'descr': '<f4'}", ""), "twice", 34},
      {npy("{'descr': '<f4', 'other': 1}", ""), "the unknown key 'other'", 34},
      {npy("{'descr': '<f4'", ""), "expected '}' in the header", 128},
      {npy("{'descr: ", ""), "does not end", 11},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "00000000"), "structured types", 20},
      {npy(header("<f4", "(1,)") + "x", "00000000"), "expected the end of the header", 67},
      {npy(header("<f4", "(1, -1)"), ""), "expected a dimension", 64},
      {npy(header("<f4", "(1.0,)"), ""), "expected ')'", 62},
      {npy(header("<f4", "5"), ""), "expected '('", 60},
      {npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", ""), "expected True or False", 44},
      {npy(header("<f4", "(99999999999999999999,)"), ""), "a dimension exceeds 63 bits", 79},
      {npy(header("<f4", "(4294967296, 4294967296)"), ""), "exceeds 63 bits", 10},
      {npy(header("<f4", "(0, 4294967296, 4294967296)"), ""), "exceeds 63 bits", 10},
      {npy(header("<f4", "(1000000000000,)"), "00000000"),
       "f32[1000000000000] has 4000000000000 bytes, but the file holds 4", 128},
      {npy(header("<f4", "(2,)"), "00000000"), "has 8 bytes, but the file holds 4", 128},
      {npy(header("<f4", "(1,)"), "0000000000"), "has 4 bytes, but the file holds 5", 128},
      {npy(header("|b1", "(2,)"), "0102"), "a bool must be 0 or 1", 129},
      {npy(header("|f4", "(1,)"), "00000000"), "the type '|f4' is not supported", 25},
  };
  for (const auto& c : bad) {
    expect_error<FormatError>([&] { parse_npy(c.bytes, "x.npy"); }, c.says);
    try {
      parse_npy(c.bytes, "x.npy");
    } catch (const FormatError& e) { EXPECT_EQ(e.offset(), c.offset) << e.what(); }
  }
  for (const char* descr : {"|O", "<U4", "|S3", "<M8[ns]", "<f16", "|V2", "", "<", "f", ">c4"})
    expect_error<FormatError>([&] { parse_npy(npy(header(descr, "(1,)"), "0000")); }, "is not supported", descr);
  const TempFolder temp;
  expect_error<FormatError>([&] { read_npy(temp / "absent.npy"); }, "cannot open");
  expect_error<FormatError>([&] { read_npy(temp.path()); }, "is a directory");
}

TEST(Npy, RoundTrips) {
  const TempFolder temp;
  const std::string path = temp / "x.npy";
  for (const DType t : {DType::f16, DType::f32, DType::f64, DType::c64, DType::c128, DType::i8, DType::i16, DType::i32,
                        DType::i64, DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean}) {
    for (const Shape& shape : {Shape{}, Shape{2}, Shape{2, 1}, Shape{2, 0, 3}, Shape(20, 1)}) {
      HostTensor x(t, shape);
      for (std::int64_t i = 0; i < x.numel(); ++i) x.set_i64(i, i);
      write_npy(path, x);
      EXPECT_TRUE(read_npy(path).identical(x)) << name(t);
    }
  }
  write_npy(path, HostTensor::from(DType::f32, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6.5}));
  EXPECT_EQ(get(path), from_hex(literal_file));
  put(path, "old");
  for (const DType t : {DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::i4})
    expect_error<ArgumentError>([&] { write_npy(path, HostTensor(t, {2})); }, "NumPy has no type");
  expect_error<ArgumentError>([&] { write_npy(path, HostTensor(DType::f32, Shape(65, 1))); }, "65 dimensions");
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(temp.files(), 1u);
}

}  // namespace

}  // namespace rlx::formats::testing
