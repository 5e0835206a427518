// Conversions to compressed columns: order, sums, zeros, and entries that are refused by their place.
#include "linalg/csc_matrix.hpp"

#include <rlx/ir/error.hpp>

#include "shared_matrices.hpp"

namespace rlx::linalg::testing {
namespace {

using Indices = std::vector<std::int32_t>;

/// Row 0: columns 2, 0, 2 (summed 4 + 1), row 1: a stored zero and an entry, row 2: entries that cancel.
OwnedCsr<double> untidy() { return {3, 3, {0, 3, 5, 8}, {2, 0, 2, 0, 1, 1, 2, 1}, {4, 3, 1, 0, 7, 6, 9, -6}}; }

TEST(CscMatrix, ColumnsOfTheTransposeAreTheRowsTidied) {
  const auto m = to_csc_transposed<std::int32_t>("test", untidy().view());
  EXPECT_EQ(m.start, (Indices{0, 2, 3, 4}));
  EXPECT_EQ(m.row, (Indices{0, 2, 1, 2}));
  EXPECT_EQ(m.value, (std::vector<double>{3, 5, 7, 9}));
}

TEST(CscMatrix, TheTransposeIsTheTransposeOfTheColumns) {
  const OwnedCsr<double> tidy{2, 3, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}};
  for (const auto& a : {untidy(), tidy}) {
    const CscMatrix<double> expected = transposed(to_csc("test", a.view())),
                            found = to_csc_transposed<std::int64_t>("test", a.view());
    EXPECT_EQ(found.rows, a.cols);
    EXPECT_EQ(found.cols, a.rows);
    EXPECT_EQ(found.start, expected.start);
    EXPECT_EQ(found.row, expected.row);
    EXPECT_EQ(found.value, expected.value);
  }
}

TEST(CscMatrix, StoredZerosOfSortedRowsAreDropped) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    // Row 0: nothing but zeros; row 1: zeros around an entry; row 2: empty; row 3: no zero.
    const OwnedCsr<T> a{4, 4, {0, 2, 5, 5, 7}, {1, 3, 0, 2, 3, 0, 3}, {zero, -zero, zero, T(5), zero, T(6), T(7)}};
    const auto m = to_csc_transposed<std::int32_t>("test", a.view());
    EXPECT_EQ(m.start, (Indices{0, 0, 1, 1, 3}));
    EXPECT_EQ(m.row, (Indices{2, 0, 3}));
    EXPECT_EQ(m.value, (std::vector<T>{5, 6, 7}));
  };
  check(0.0);
  check(std::complex<double>(0));
}

TEST(CscMatrix, EntriesThatAreNotFiniteAreNamedByTheirPlace) {
  for (const double bad : {NAN, INFINITY}) {
    OwnedCsr<double> a{2, 3, {0, 2, 3}, {0, 2, 1}, {1, bad, 3}};
    const auto message = [&](auto convert) {
      try {
        convert();
        return std::string("accepted");
      } catch (const NumericalError& e) { return std::string(e.what()); }
    };
    EXPECT_NE(message([&] { to_csc("test", a.view()); }).find("row 1, column 3"), std::string::npos);
    EXPECT_NE(message([&] { to_csc_transposed<std::int32_t>("test", a.view()); }).find("row 1, column 3"),
              std::string::npos);
  }
}

TEST(CscMatrix, TooFewRowOffsetsAreRefusedForAnyNumberOfRows) {
  OwnedCsr<double> a{std::numeric_limits<std::int64_t>::max(), 3, {0}, {}, {}};
  try {
    check_csr("test", a.view());
    ADD_FAILURE();
  } catch (const ArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("expected 9223372036854775808"), std::string::npos) << e.what();
  }
}

TEST(CscMatrix, ColumnsOutsideAreRefused) {
  for (const std::int32_t bad : {3, -1}) {
    const OwnedCsr<double> a{2, 3, {0, 2, 3}, {0, bad, 1}, {1, 2, 3}};
    try {
      check_csr("test", a.view());
      ADD_FAILURE() << bad;
    } catch (const ArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find("column " + std::to_string(bad) + " lies outside 0..2"), std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace rlx::linalg::testing
