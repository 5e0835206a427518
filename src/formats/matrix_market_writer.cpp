#include <rlx/formats/matrix_market.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>

#include "matrix_market_symmetry.hpp"
#include "pending_file.hpp"
#include "sizes.hpp"
#include "sparse_check.hpp"
#include "writable.hpp"

namespace rlx::formats {

using Complex = std::complex<double>;

namespace {

class Line {
 public:
  explicit Line(PendingFile& file) : file_(file) {}
  Line& text(std::string_view s) {
    file_.write(s);
    return *this;
  }
  Line& number(std::int64_t v) { return printed(v); }
  // The shortest text that reads back as the same bits: at most 17 digits.
  Line& number(double v) { return printed(v); }

 private:
  template <class T>
  Line& printed(T v) {
    char buffer[32];
    const auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, v);
    file_.write(buffer, static_cast<std::size_t>(end - buffer));
    return *this;
  }
  PendingFile& file_;
};

void write_banner(Line& out, std::string_view storage, MatrixField field, MatrixSymmetry symmetry,
                  std::string_view comment) {
  out.text("%%MatrixMarket matrix ")
      .text(storage)
      .text(" ")
      .text(name(field))
      .text(" ")
      .text(name(symmetry))
      .text("\n");
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find_first_of("\r\n"), comment.size());
    if (end > 0) out.text("% ").text(comment.substr(0, end)).text("\n");
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
}

[[noreturn]] void refuse(std::int64_t i, std::int64_t j, const std::string& why) {
  throw ArgumentError("cannot write entry (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) + ") " + why);
}

void check_value(MatrixField field, std::int64_t i, std::int64_t j, Complex v) {
  if (!std::isfinite(v.real()) || !std::isfinite(v.imag())) refuse(i, j, "to a Matrix Market file: it is not finite");
  if (field == MatrixField::integer && (v.real() != std::floor(v.real()) || std::abs(v.real()) >= 0x1p63))
    refuse(i, j, "in the field integer: it is none of 63 bits");
  if (field == MatrixField::pattern && v.real() != 1.0) refuse(i, j, "in the field pattern: it is not 1");
}

void write_value(Line& out, MatrixField field, Complex v) {
  switch (field) {
    case MatrixField::pattern:
      break;
    case MatrixField::integer:
      out.text(" ").number(static_cast<std::int64_t>(v.real()));
      break;
    case MatrixField::complex:
      out.text(" ").number(v.real()).text(" ").number(v.imag());
      break;
    case MatrixField::real:
      out.text(" ").number(v.real());
      break;
  }
}

// Only the lower triangle is written, so the upper one must be its mirror image.
template <class T>
void check_symmetry(const CsrMatrix& m) {
  const auto value = m.values.as<T>();
  const std::string has = "as " + std::string(name(m.symmetry)) + ": ";
  if (m.rows != m.cols) throw ArgumentError("cannot write a matrix that is not square " + has + "set another symmetry");
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int64_t k = m.row_offsets[i]; k < m.row_offsets[i + 1]; ++k) {
      const std::int64_t j = m.columns[k];
      const auto begin = m.columns.begin() + m.row_offsets[j], end = m.columns.begin() + m.row_offsets[j + 1];
      const auto mirror = std::lower_bound(begin, end, i);
      if (mirror == end || *mirror != i) refuse(i, j, has + "it has no mirror image");
      if (mirrored(value[mirror - m.columns.begin()], m.symmetry) != value[k])
        refuse(i, j, has + "it differs from its mirror image");
    }
  }
}

// The reader gives integers as f64, so those that have none are refused here already.
bool has_exact_f64(const HostTensor& t, std::int64_t k) {
  if (t.dtype() == DType::u64 && t.get_u64(k) >> 63) return false;
  const double v = t.get_f64(k);
  return std::abs(v) < 0x1p63 && static_cast<std::int64_t>(v) == t.get_i64(k);
}

}  // namespace

void write_matrix_market(const std::string& path, const CooMatrix& m, std::string_view comment) {
  const bool complex = is_complex(m.values.dtype());
  if (complex != (m.field == MatrixField::complex))
    throw ArgumentError("a matrix of the field " + std::string(name(m.field)) + " cannot have values of type " +
                        std::string(name(m.values.dtype())));
  const bool general = m.symmetry == MatrixSymmetry::general;
  if (m.symmetry == MatrixSymmetry::hermitian && !complex)
    throw ArgumentError("a hermitian matrix must be complex; a real one is symmetric");
  if (m.symmetry == MatrixSymmetry::skew_symmetric && m.field == MatrixField::pattern)
    throw ArgumentError("a pattern cannot be skew-symmetric: it has no signs");
  check_coo(m);
  if (!general && complex) check_symmetry<Complex>(to_csr(m));
  else if (!general) check_symmetry<double>(to_csr(m));

  // Repeats are written as they are; sums of them, as the reader forms them, are then the same.
  const auto written = [&](std::int64_t k) { return general || m.row_indices[k] >= m.col_indices[k]; };
  std::int64_t stored = 0;
  for (std::int64_t k = 0; k < m.entries(); ++k) stored += written(k);
  const auto value = [&](std::int64_t k) {
    return complex ? m.values.as<Complex>()[k] : Complex(m.values.as<double>()[k]);
  };
  for (std::int64_t k = 0; k < m.entries(); ++k) check_value(m.field, m.row_indices[k], m.col_indices[k], value(k));

  PendingFile file(path);
  Line out(file);
  write_banner(out, "coordinate", m.field, m.symmetry, comment);
  out.number(m.rows).text(" ").number(m.cols).text(" ").number(stored).text("\n");
  for (std::int64_t k = 0; k < m.entries(); ++k) {
    if (!written(k)) continue;
    out.number(m.row_indices[k] + 1).text(" ").number(m.col_indices[k] + 1);
    write_value(out, m.field, value(k));
    out.text("\n");
  }
  file.commit();
}

void write_matrix_market(const std::string& path, const CsrMatrix& matrix, std::string_view comment) {
  write_matrix_market(path, to_coo(matrix), comment);
}

void check_matrix_market_type(DType t, int rank) {
  if (rank != 1 && rank != 2)
    throw ArgumentError("a Matrix Market file holds a vector or a matrix, not a tensor of rank " +
                        std::to_string(rank));
  if (!numbers.contains(t)) throw ArgumentError("a Matrix Market file cannot hold " + std::string(name(t)));
}

void write_matrix_market(const std::string& path, const HostTensor& dense, std::string_view comment) {
  const DType t = dense.dtype();
  check_matrix_market_type(t, dense.rank());
  const MatrixField field = is_complex(t)   ? MatrixField::complex
                            : is_integer(t) ? MatrixField::integer
                                            : MatrixField::real;
  const std::int64_t rows = dense.shape()[0], cols = dense.rank() == 2 ? dense.shape()[1] : 1;
  for (std::int64_t k = 0; k < dense.numel(); ++k) {
    if (field != MatrixField::integer) check_value(field, k / cols, k % cols, dense.get_c128(k));
    else if (!has_exact_f64(dense, k)) refuse(k / cols, k % cols, "to a Matrix Market file: no f64 holds it exactly");
  }

  PendingFile file(path);
  Line out(file);
  write_banner(out, "array", field, MatrixSymmetry::general, comment);
  out.number(rows).text(" ").number(cols).text("\n");
  if (dense.numel() == 0) return file.commit();
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t k = i * cols + j;
      if (field == MatrixField::integer) out.number(dense.get_i64(k));
      else if (field == MatrixField::complex)
        out.number(dense.get_c128(k).real()).text(" ").number(dense.get_c128(k).imag());
      else out.number(dense.get_f64(k));
      out.text("\n");
    }
  }
  file.commit();
}

}  // namespace rlx::formats
