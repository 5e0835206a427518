#include <rlx/formats/matrix_market.hpp>

#include <sys/stat.h>

#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

#include "support.hpp"

namespace rlx::formats::testing {

using Complex = std::complex<double>;
using Indices = std::vector<std::int64_t>;

namespace {

CooMatrix coo(std::string_view text) { return std::get<CooMatrix>(parse_matrix_market(text, "t.mtx").matrix); }
CsrMatrix csr(std::string_view text) { return to_csr(coo(text)); }
HostTensor dense(std::string_view text) { return std::get<HostTensor>(parse_matrix_market(text, "t.mtx").matrix); }
std::vector<double> values(const HostTensor& t) {
  const auto v = t.as<double>();
  return {v.begin(), v.end()};
}
std::vector<Complex> complex_values(const HostTensor& t) {
  const auto v = t.as<Complex>();
  return {v.begin(), v.end()};
}

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, GeneralWithRepeatsAndExplicitZero) {
  const CsrMatrix m = csr(real_general + "3 4 6\n2 4 1.5\n1 1 1\n2 1 -0.25\n1 1 2\n3 3 5\n3 3 -5\n");
  EXPECT_EQ(m.row_offsets, (Indices{0, 1, 3, 4}));
  EXPECT_EQ(m.columns, (Indices{0, 0, 3, 2}));
  EXPECT_EQ(values(m.values), (std::vector<double>{3, -0.25, 1.5, 0}));
  EXPECT_EQ(narrowest_index(m), DType::i32);
  EXPECT_EQ(index_tensor(m.columns, DType::i32).get_i64(2), 3);
}

TEST(MatrixMarket, AsPeopleWriteIt) {
  const CsrMatrix want = csr(real_general + "2 2 3\n1 1 100000\n1 2 -1500\n2 2 0.5\n");
  for (const std::string text :
       {"%%MatrixMarket MATRIX Coordinate REAL General  \r\n% c\r\n\r\n2 2 3\r\n1 1 1.0D+05\r\n\r\n1 2 -1.5d3\r\n2 2 "
        ".5\r\n",
        "%%matrixmarket\tmatrix\tcoordinate\treal\tgeneral\n\n%x\n\t2\t2\t3 \n 1\t1  1.0+5 \n% in between\n1 2 "
        "-15.E+2\n2 2 +0.5",
        "\xef\xbb\xbf\n \n%%MatrixMarket matrix coordinate real general % late\n2 2 3 % counts\n+1 +1 1e5 % e\n1 2 "
        "-1500%f\n2 2 5-1\n\n\n%end",
        "%%MatrixMarket matrix coordinate double general\r2 2 3\r1 1 1Q5\r1 2 -1.5E03\r2 2 5.D-1\r"}) {
    const CsrMatrix m = csr(text);
    EXPECT_EQ(m.row_offsets, want.row_offsets) << text;
    EXPECT_EQ(m.columns, want.columns) << text;
    EXPECT_TRUE(m.values.identical(want.values)) << text;
  }
}

TEST(MatrixMarket, ValuesAtTheLimits) {
  const std::vector<double> v =
      values(coo(real_general +
                 "9 1 9\n1 1 1e-400\n2 1 -1d-999999999999999999999\n3 1 5e-324\n4 1 1.7976931348623157e308\n5 1 0e999\n"
                 "6 1 -0\n7 1 0.00000000000000000000000000000000001e340\n8 1 123456789012345678901234567890\n"
                 "9 1 1000000000000000000000000000000e-400\n")
                 .values);
  EXPECT_EQ(
      v, (std::vector<double>{0, 0, 5e-324, 1.7976931348623157e308, 0, 0, 1e305, 123456789012345678901234567890.0, 0}));
  EXPECT_TRUE(std::signbit(v[1]));
  EXPECT_TRUE(std::signbit(v[5]));
}

TEST(MatrixMarket, Symmetries) {
  const CooMatrix s = coo("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 1 3\n");
  EXPECT_EQ(s.symmetry, MatrixSymmetry::symmetric);
  EXPECT_EQ(s.row_indices, (Indices{0, 1, 1, 0, 0}));
  EXPECT_EQ(s.col_indices, (Indices{0, 0, 0, 1, 1}));
  EXPECT_EQ(values(to_csr(s).values), (std::vector<double>{1, 5, 5}));
  EXPECT_EQ(values(csr("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 2\n1 1 0\n").values),
            (std::vector<double>{0, -2, 2}));
  EXPECT_EQ(complex_values(csr("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 2\n").values),
            (std::vector<Complex>{4, {1, -2}, {1, 2}}));
  EXPECT_EQ(complex_values(csr("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n").values),
            (std::vector<Complex>{{-1, -2}, {1, 2}}));
  EXPECT_EQ(values(csr("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 2\n2 1\n").values),
            (std::vector<double>{1, 1, 1}));
}

TEST(MatrixMarket, UpperTriangleOfASymmetricFile) {
  // Only the upper one; both, agreeing after each is summed; both with a sign or conjugate.
  EXPECT_EQ(values(csr("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 3\n2 2 1\n").values),
            (std::vector<double>{3, 3, 1}));
  EXPECT_EQ(values(csr("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 2 3\n2 1 1\n2 1 2\n").values),
            (std::vector<double>{3, 3}));
  EXPECT_EQ(values(csr("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 2 3\n2 1 -3\n").values),
            (std::vector<double>{3, -3}));
  EXPECT_EQ(
      complex_values(csr("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 2 3 1\n2 1 3 -1\n").values),
      (std::vector<Complex>{{3, 1}, {3, -1}}));
  try {
    coo("%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n1 1 1 % d\n\n2 1 4\n1 2 5\n");
    ADD_FAILURE();
  } catch (const FormatError& e) {
    EXPECT_EQ(e.line(), 7u);
    EXPECT_EQ(e.offset(), 75u);
    EXPECT_EQ(e.file(), "t.mtx");
    EXPECT_NE(std::string(e.what()).find("entry (1, 2) of a symmetric matrix contradicts entry (2, 1)"),
              std::string::npos);
  }
}

TEST(MatrixMarket, Arrays) {
  const HostTensor g = dense("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3 4\n5\n6");
  EXPECT_EQ(g.shape(), (Indices{2, 3}));
  EXPECT_EQ(values(g), (std::vector<double>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(values(dense("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")),
            (std::vector<double>{1, 2, 2, 3}));
  EXPECT_EQ(values(dense("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n")),
            (std::vector<double>{0, -7, 7, 0}));
  EXPECT_EQ(complex_values(dense("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n\n4\n0\n")),
            (std::vector<Complex>{1, {2, -3}, {2, 3}, 4}));
  EXPECT_EQ(dense("%%MatrixMarket matrix array real general\n0 9223372036854775807\n").numel(), 0);
  const CooMatrix c = to_coo(g);
  EXPECT_EQ(c.row_indices, (Indices{0, 0, 0, 1, 1, 1}));
  EXPECT_TRUE(to_dense(c).identical(g));
}

TEST(MatrixMarket, Integers) {
  EXPECT_EQ(
      values(coo("%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 -3\n1 2 9007199254740992\n1 3 2.0\n")
                 .values),
      (std::vector<double>{-3, 9007199254740992.0, 2}));
}

struct Bad {
  std::string text;
  const char* says;
  std::uint64_t line;
};

TEST(MatrixMarket, Refusals) {
  const std::string g = real_general, a = "%%MatrixMarket matrix array real general\n";
  const std::string s = "%%MatrixMarket matrix coordinate real symmetric\n";
  const Bad cases[] = {
      {"", "the file is empty", 1},
      {"\n\n", "expected the banner", 3},
      {std::string("\x89HDF\r\n\x1a\n\0\0", 10), "expected the banner '%%MatrixMarket', found '\\x89HDF", 1},
      {"%%MatrixMarkt matrix coordinate real general\n1 1 0\n", "expected the banner", 1},
      {"%%MatrixMarket\n", "expected an object (matrix), found the end of the line", 1},
      {"%%MatrixMarket vector coordinate real general\n", "expected an object (matrix), found 'vector'", 1},
      {"%%MatrixMarket matrix sparse real general\n", "expected a storage (coordinate or array), found 'sparse'", 1},
      {"%%MatrixMarket matrix coordinate quaternion general\n", "expected a field (real or integer", 1},
      {"%%MatrixMarket matrix coordinate real\n1 1 0\n", "expected a symmetry", 1},
      {"%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", "after the banner, found 'extra'", 1},
      {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", "a hermitian matrix must be complex", 1},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "a pattern cannot be skew-symmetric", 1},
      {"%%MatrixMarket matrix array pattern general\n1 1\n", "cannot have the field pattern", 1},
      {g, "expected a count line 'rows columns entries', found the end of the file", 2},
      {g + "% only a comment", "expected a count line", 2},
      {g + "3 3\n1 1 1\n", "expected the number of entries, an integer, found the end of the line", 2},
      {g + "3 3 1 1\n", "after the count line, found '1'", 2},
      {g + "-3 3 0\n", "negative", 2},
      {g + "3 3 -1\n", "negative", 2},
      {g + "3 x 1\n", "expected the number of columns, an integer, found 'x'", 2},
      {g + "3.0 3 1\n", "expected the number of rows, an integer, found '3.0'", 2},
      {g + "99999999999999999999 3 1\n", "exceeds 63 bits", 2},
      {g + "3 3 1000000000000\n1 1 1\n",
       "promises 1000000000000 entries, but there is room for 1 in the remaining 7 bytes", 2},
      {a + "1000000 1000000\n1\n", "promises 1000000000000 elements", 2},
      {a + "9223372036854775807 9223372036854775807\n1\n", "exceeds 62 bits", 2},
      {g + "2 2 1\n0 1 1\n", "row index 0 is not in 1..2", 3},
      {g + "2 2 1\n1 3 1\n", "column index 3 is not in 1..2", 3},
      {g + "2 2 1\n-1 1 1\n", "row index -1 is not in 1..2", 3},
      {g + "0 2 1\n1 1 1\n", "row index 1 is not in 1..0", 3},
      {g + "2 2 1\n1 2 nan\n", "entry (1, 2) is not finite", 3},
      {g + "2 2 1\n1 2 -Inf\n", "entry (1, 2) is not finite", 3},
      {g + "2 2 1\n1 2 1e999\n", "exceeds the range of f64", 3},
      {g + "2 2 1\n1 2 0.001D+3000000000000000000000\n", "exceeds the range of f64", 3},
      {g + "2 2 1\n1 2 ****\n", "expected a value, a number, found '****'", 3},
      {g + "2 2 1\n1 2 1.0.0\n", "expected a value", 3},
      {g + "2 2 1\n1 2 0x1p3\n", "expected a value", 3},
      {g + "2 2 1\n1 2 +-1\n", "expected a value", 3},
      {g + "2 2 1\n1 2 1e\n", "expected a value", 3},
      {g + "2 2 1\n1 2 1,5\n", "expected a value", 3},
      {g + "2 2 1\n1 2        \n", "expected a value, a number, found the end of the line", 3},
      {g + "2 2 1\n1 2 3 4\n", "after an entry, found '4'", 3},
      {g + "2 2 1\n1.5 2 3\n", "expected a row index, an integer, found '1.5'", 3},
      {g + "2 2 2\n1 2 3\n      %\n", "the file ends after 1 of the 2 entries", 5},
      {g + "2 2 1\n1 2 3\n\n2 2 1\n", "expected the end of the file after the 1 entry", 5},
      {a + "2 2\n1 2 3      \n", "the file ends after 3 of the 4 elements", 4},
      {a + "2 2\n1 2 3 4 5\n", "expected the end of the file after the 4 elements", 3},
      {a + "2 2\n1 2 nan 4\n", "entry (1, 2) is not finite", 3},
      {s + "2 3 1\n1 1 1\n", "a symmetric matrix must be square, but this one is 2 x 3", 2},
      {s + "2 2 2\n1 2 1\n2 1 2\n", "contradicts entry (2, 1)", 3},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1\n1 2 1\n", "contradicts entry (2, 1)", 4},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", "lies on the diagonal and is not zero",
       3},
      {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 2 1 1\n", "has an imaginary part", 3},
      {"%%MatrixMarket matrix array complex hermitian\n1 1\n1 1\n", "has an imaginary part", 3},
      {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n",
       "entry (1, 1) of an integer matrix is '1.5'", 3},
      {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 9007199254740993\n", "has no exact f64", 3},
  };
  for (const Bad& c : cases) {
    expect_error<FormatError>([&] { parse_matrix_market(c.text, "t.mtx"); }, c.says, c.text);
    try {
      parse_matrix_market(c.text, "t.mtx");
    } catch (const FormatError& e) {
      EXPECT_EQ(e.line(), c.line) << e.what();
      EXPECT_LE(e.offset(), c.text.size());
      EXPECT_EQ(e.file(), "t.mtx");
    }
  }
}

TEST(MatrixMarket, WhatCannotBeRead) {
  const TempFolder temp;
  expect_error<FormatError>([&] { read_matrix_market(temp / "absent.mtx"); }, "cannot open: No such file");
  expect_error<FormatError>([&] { read_matrix_market(temp.path()); }, "is a directory");
  put(temp / "secret.mtx", real_general + "1 1 0\n");
  ::chmod((temp / "secret.mtx").c_str(), 0);
  if (::geteuid() != 0)
    expect_error<FormatError>([&] { read_matrix_market(temp / "secret.mtx"); }, "Permission denied");
}

TEST(MatrixMarket, RowsThatNoMemoryHolds) {
  const CooMatrix m = coo(real_general + "4611686018427387904 4611686018427387904 1\n1 1 1\n");
  EXPECT_EQ(m.entries(), 1);
  EXPECT_THROW(to_csr(m), MemoryError);
  EXPECT_THROW(to_dense(m), MemoryError);
}

TEST(MatrixMarket, ArgumentsOfConversions) {
  CooMatrix m = coo(real_general + "2 2 1\n1 1 1\n");
  m.row_indices[0] = 2;
  expect_error<ArgumentError>([&] { to_csr(m); }, "entry 0 at (2, 0) lies outside of 2 x 2");
  m.row_indices.push_back(0);
  expect_error<ArgumentError>([&] { to_csr(m); }, "has 2 row indices");
  CsrMatrix c = csr(real_general + "2 2 1\n1 1 1\n");
  c.row_offsets = {0, 2, 1};
  expect_error<ArgumentError>([&] { to_coo(c); }, "row offsets");
  expect_error<ArgumentError>([&] { index_tensor({1ll << 31}, DType::i32); }, "exceeds i32");
  expect_error<ArgumentError>([&] { index_tensor({1}, DType::f32); }, "i32 or i64");
}

TEST(MatrixMarket, WritesWhatItReads) {
  const TempFolder temp;
  const std::string path = temp / "m.mtx";
  for (const std::string& text :
       {real_general + "2 3 4\n1 1 0.1\n2 3 -1e-320\n2 3 1e300\n1 2 -0.0\n",
        std::string("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 0.3333333333333333\n2 1 2\n2 1 0.1\n"),
        std::string("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n"),
        std::string("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 1 2\n"),
        std::string("%%MatrixMarket matrix coordinate complex general\n2 1 1\n2 1 0.1 -0.2\n"),
        std::string("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -9007199254740992\n"),
        std::string("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 2\n2 1\n"),
        std::string("%%MatrixMarket matrix coordinate real general\n1 1 0\n")}) {
    const CooMatrix m = coo(text);
    write_matrix_market(path, m, "one\n\ntwo");
    EXPECT_NE(get(path).find("% one\n% two\n"), std::string::npos);
    const CooMatrix back = read_matrix_market_coo(path);
    EXPECT_EQ(back.row_indices, m.row_indices);
    EXPECT_EQ(back.col_indices, m.col_indices);
    EXPECT_TRUE(back.values.identical(m.values)) << text;
    EXPECT_EQ(back.field, m.field);
    EXPECT_EQ(back.symmetry, m.symmetry);
    EXPECT_EQ(temp.files(), 1u);
  }
  write_matrix_market(path, csr(real_general + "2 2 2\n2 1 1\n1 1 3\n"));
  EXPECT_EQ(get(path), real_general + "2 2 2\n1 1 3\n2 1 1\n");
  const HostTensor t = HostTensor::from(DType::f64, {2, 2}, std::vector<double>{1, 2, 3, 0.1});
  write_matrix_market(path, t);
  EXPECT_EQ(get(path), "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n0.1\n");
  EXPECT_TRUE(read_matrix_market_dense(path).identical(t));
}

TEST(MatrixMarket, RefusesToWriteAndKeepsTheFile) {
  const TempFolder temp;
  const std::string path = temp / "m.mtx";
  put(path, "old");
  CooMatrix m = coo(real_general + "2 2 2\n1 2 1\n2 1 2\n");
  m.symmetry = MatrixSymmetry::symmetric;
  expect_error<ArgumentError>([&] { write_matrix_market(path, m); }, "as symmetric: it differs from its mirror image");
  m.symmetry = MatrixSymmetry::general;
  m.field = MatrixField::pattern;
  expect_error<ArgumentError>([&] { write_matrix_market(path, m); }, "in the field pattern: it is not 1");
  m.field = MatrixField::complex;
  expect_error<ArgumentError>([&] { write_matrix_market(path, m); }, "cannot have values of type f64");
  m.field = MatrixField::integer;
  m.values.set_f64(0, 0.5);
  expect_error<ArgumentError>([&] { write_matrix_market(path, m); }, "in the field integer");
  m.field = MatrixField::real;
  m.values.set_f64(0, std::numeric_limits<double>::infinity());
  expect_error<ArgumentError>([&] { write_matrix_market(path, m); }, "it is not finite");
  expect_error<ArgumentError>([&] { write_matrix_market(path, HostTensor(DType::f64, {2, 2, 2})); },
                              "a vector or a matrix");
  expect_error<ArgumentError>([&] { write_matrix_market(path, HostTensor(DType::boolean, {2})); }, "cannot hold bool");
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(temp.files(), 1u);
  expect_error<FormatError>([&] { write_matrix_market(temp / "none/m.mtx", HostTensor(DType::f64, {2})); },
                            "cannot create");
  expect_error<FormatError>([&] { write_matrix_market("/dev/full", HostTensor(DType::f64, {2})); }, "No space left");
  write_matrix_market("/dev/null", HostTensor(DType::f64, {2}));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(MatrixMarket, ReplacesBehindALinkAndKeepsTheMode) {
  const TempFolder temp;
  put(temp / "real.mtx", "old");
  ::chmod((temp / "real.mtx").c_str(), 0640);
  std::filesystem::create_symlink("real.mtx", temp / "link.mtx");
  write_matrix_market(temp / "link.mtx", HostTensor(DType::f64, {1}));
  EXPECT_TRUE(std::filesystem::is_symlink(temp / "link.mtx"));
  EXPECT_EQ(read_matrix_market_dense(temp / "real.mtx").numel(), 1);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(temp / "real.mtx").permissions()), 0640);
  EXPECT_EQ(temp.files(), 2u);
}

// Every matrix of the shared set against the table in its README: size and entries of both triangles after summing.
TEST(MatrixMarket, SharedMatrices) {
  RLX_NEED_SHARED("data/matrices/README.md");
  const std::string folder = shared_folder() + "/data/matrices";
  std::istringstream readme(get(folder + "/README.md"));
  int checked = 0;
  for (std::string line; std::getline(readme, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) {
      const auto from = cell.find_first_not_of(' '), to = cell.find_last_not_of(' ');
      cells.push_back(from == std::string::npos ? "" : cell.substr(from, to - from + 1));
    }
    if (cells.size() < 5 || cells[1] == "name" || cells[1].starts_with("--")) continue;
    const std::string path = folder + "/" + cells[1] + ".mtx";
    std::int64_t rows = std::stoll(cells[2]), cols = rows;
    if (const auto x = cells[2].find(" x "); x != std::string::npos) cols = std::stoll(cells[2].substr(x + 3));
    const CsrMatrix m = read_matrix_market_csr(path);
    EXPECT_EQ(m.rows, rows) << path;
    EXPECT_EQ(m.cols, cols) << path;
    EXPECT_EQ(m.entries(), std::stoll(cells[3])) << path;
    EXPECT_EQ(m.row_offsets.back(), m.entries());
    EXPECT_EQ(is_complex(m.values.dtype()), cells[4].starts_with("complex")) << path;
    ++checked;
  }
  EXPECT_EQ(checked, 53);
}

}  // namespace

}  // namespace rlx::formats::testing
