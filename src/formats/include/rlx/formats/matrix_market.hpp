// Matrix Market files (.mtx), all qualifiers, as people write them and not only as the standard says.
//
// Beyond the standard these are read: comments, also behind an entry, and blank lines anywhere; CRLF and CR line ends;
// tabs; upper case; Fortran exponents (1.0D+05, 1.5d3, 1.0+5); plus signs; a byte order mark; a missing last newline;
// entries of the upper triangle of a symmetric file; a number too small for f64 (1e-999) as zero, as strtod reads it.
// What contradicts itself is refused with FormatError, and so are a number beyond f64, infinities and NaN.
#pragma once
#include <rlx/formats/sparse.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace rlx::formats {

enum class MatrixStorage : std::uint8_t { coordinate, array };

struct MatrixMarketHeader {
  MatrixStorage storage = MatrixStorage::coordinate;
  MatrixField field = MatrixField::real;
  MatrixSymmetry symmetry = MatrixSymmetry::general;
  std::int64_t rows = 0, cols = 0;
  std::int64_t stored = 0;  ///< Entries or elements that the file itself must list, before expansion.
};

/// A coordinate file is a CooMatrix, an array file a dense [rows, cols] tensor, f64 or c128; both expanded to both
/// triangles. In a symmetric file repeats of an entry are summed before they are mirrored. Where both an entry and its
/// mirror are listed they must agree and count once: a symmetric flag on an unsymmetric file is an error.
struct MatrixMarket {
  MatrixMarketHeader header{};
  std::variant<CooMatrix, HostTensor> matrix{};
};

/// `file` names the text in errors.
RLX_API MatrixMarket parse_matrix_market(std::string_view bytes, std::string file = {});
RLX_API MatrixMarket read_matrix_market(const std::string& path);
/// Banner and count line only.
RLX_API MatrixMarketHeader read_matrix_market_header(const std::string& path);

// Either storage, as the caller wants it.
RLX_API CooMatrix read_matrix_market_coo(const std::string& path);
RLX_API CsrMatrix read_matrix_market_csr(const std::string& path);
RLX_API HostTensor read_matrix_market_dense(const std::string& path);

/// Writes exactly: reading back gives the same bits. Each line of `comment` becomes a comment line. Throws
/// ArgumentError where the matrix cannot be written as it states itself: an entry that is not finite, a field `integer`
/// or `pattern` with other values, a symmetry that the entries do not have. The file is replaced whole or not at all.
RLX_API void write_matrix_market(const std::string& path, const CooMatrix& matrix, std::string_view comment = {});
RLX_API void write_matrix_market(const std::string& path, const CsrMatrix& matrix, std::string_view comment = {});
/// Array storage, general. Rank 1 is written as one column; real, integer and complex types.
RLX_API void write_matrix_market(const std::string& path, const HostTensor& dense, std::string_view comment = {});

RLX_API std::string_view name(MatrixField f);
RLX_API std::string_view name(MatrixSymmetry s);

}  // namespace rlx::formats
