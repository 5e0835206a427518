#include <rlx/formats/matrix_market.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <charconv>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

#include "mapped_file.hpp"
#include "matrix_market_header.hpp"
#include "matrix_market_symmetry.hpp"
#include "sizes.hpp"
#include "sparse_check.hpp"
#include "text_scanner.hpp"

namespace rlx::formats {

using Complex = std::complex<double>;

namespace {

class BodyReader {
 public:
  BodyReader(TextScanner in, const MatrixMarketHeader& h) : in_(in), start_(in), h_(h) {}

  CooMatrix coordinate() {
    CooMatrix m{.rows = h_.rows, .cols = h_.cols, .field = h_.field, .symmetry = h_.symmetry};
    const bool twice = h_.symmetry != MatrixSymmetry::general;  // Most entries get a mirror.
    require_memory(in_.file() + ": " + counted(h_.stored, "entry", "entries"),
                   static_cast<std::uint64_t>(h_.stored) * (twice ? 2 : 1) * entry_bytes(dtype()));
    m.values = HostTensor(dtype(), {h_.stored});
    m.row_indices.resize(static_cast<std::size_t>(h_.stored));
    m.col_indices.resize(static_cast<std::size_t>(h_.stored));
    auto* const real = reinterpret_cast<double*>(m.values.mutable_data());
    auto* const complex = reinterpret_cast<Complex*>(m.values.mutable_data());
    bool upper = false;
    for (std::int64_t k = 0; k < h_.stored; ++k) {
      to_entry(k);
      const std::size_t at = in_.offset();
      const std::int64_t i = index("row", h_.rows), j = index("column", h_.cols);
      if (h_.field == MatrixField::complex) complex[k] = complex_value(i, j, at);
      else real[k] = h_.field == MatrixField::pattern ? 1.0 : real_value(i, j, at);
      in_.end_line("an entry");
      m.row_indices[k] = i - 1;
      m.col_indices[k] = j - 1;
      upper |= i < j;
    }
    finish();
    if (h_.symmetry == MatrixSymmetry::general) return m;
    if (const auto conflict = expand_triangle(m, upper)) refuse_mirror(m, *conflict);
    return m;
  }

  HostTensor array() {
    HostTensor dense(dtype(), {h_.rows, h_.cols});
    if (h_.field == MatrixField::complex) fill(reinterpret_cast<Complex*>(dense.mutable_data()));
    else fill(reinterpret_cast<double*>(dense.mutable_data()));
    finish();
    return dense;
  }

 private:
  DType dtype() const { return h_.field == MatrixField::complex ? DType::c128 : DType::f64; }

  /// "3 entries", of an array "9 elements": what the count line promises.
  std::string promised() const {
    return h_.storage == MatrixStorage::array ? counted(h_.stored, "element") : counted(h_.stored, "entry", "entries");
  }

  void to_entry(std::int64_t k) {
    in_.skip_to_word();
    if (in_.at_end())
      in_.fail("the file ends after " + std::to_string(k) + " of the " + promised() + " that the count line promises");
  }

  void finish() {
    in_.skip_to_word();
    if (!in_.at_end())
      in_.fail("expected the end of the file after the " + promised() + " of the count line, found " +
               in_quotes(in_.peek_word()));
  }

  std::int64_t index(const char* what, std::int64_t bound) {
    in_.skip_blanks();
    const std::size_t at = in_.offset();
    const std::int64_t i = in_.integer(what[0] == 'r' ? "a row index" : "a column index");
    if (i < 1 || i > bound)
      in_.fail_at(at, std::string(what) + " index " + std::to_string(i) + " is not in 1.." + std::to_string(bound));
    return i;
  }

  static std::string entry(std::int64_t i, std::int64_t j) {
    return "entry (" + std::to_string(i) + ", " + std::to_string(j) + ")";
  }

  double finite(std::int64_t i, std::int64_t j) {
    in_.skip_blanks();
    const std::size_t at = in_.offset();
    const double v = in_.real("a value");
    if (!std::isfinite(v)) in_.fail_at(at, entry(i, j) + " is not finite");
    return v;
  }

  double real_value(std::int64_t i, std::int64_t j, std::size_t at) {
    double v;
    if (h_.field == MatrixField::integer) {
      in_.skip_blanks();
      const std::string_view text = in_.peek_word();
      v = finite(i, j);
      if (v != std::floor(v)) in_.fail_at(at, entry(i, j) + " of an integer matrix is " + in_quotes(text));
      // From 2^53 on a double may stand for a neighbour.
      std::int64_t exact = 0;
      if (std::abs(v) >= 0x1p53 &&
          (std::from_chars(text.data() + (text[0] == '+'), text.data() + text.size(), exact).ec != std::errc() ||
           std::abs(v) >= 0x1p63 || static_cast<std::int64_t>(v) != exact))
        in_.fail_at(at, entry(i, j) + " = " + in_quotes(text) + " has no exact f64");
    } else {
      v = finite(i, j);
    }
    if (i == j && v != 0 && h_.symmetry == MatrixSymmetry::skew_symmetric)
      in_.fail_at(at, entry(i, j) + " of a skew-symmetric matrix lies on the diagonal and is not zero");
    return v;
  }

  Complex complex_value(std::int64_t i, std::int64_t j, std::size_t at) {
    const double re = finite(i, j), im = finite(i, j);
    if (i == j && im != 0 && h_.symmetry == MatrixSymmetry::hermitian)
      in_.fail_at(at, entry(i, j) + " of a hermitian matrix lies on the diagonal and has an imaginary part");
    if (i == j && (re != 0 || im != 0) && h_.symmetry == MatrixSymmetry::skew_symmetric)
      in_.fail_at(at, entry(i, j) + " of a skew-symmetric matrix lies on the diagonal and is not zero");
    return {re, im};
  }

  // Column by column; lines mean nothing here, because many programs write a whole row or column on one.
  template <class T>
  void fill(T* out) {
    const bool general = h_.symmetry == MatrixSymmetry::general, skew = h_.symmetry == MatrixSymmetry::skew_symmetric;
    if (h_.rows == 0 || h_.cols == 0) return;
    std::int64_t k = 0;
    for (std::int64_t j = 0; j < h_.cols; ++j) {
      for (std::int64_t i = general ? 0 : j + skew; i < h_.rows; ++i, ++k) {
        to_entry(k);
        const std::size_t at = in_.offset();
        T v;
        if constexpr (std::is_same_v<T, Complex>) {
          const double re = finite(i + 1, j + 1);
          to_entry(k);
          v = {re, finite(i + 1, j + 1)};
          if (i == j && v.imag() != 0 && h_.symmetry == MatrixSymmetry::hermitian)
            in_.fail_at(at, entry(i + 1, j + 1) + " of a hermitian matrix has an imaginary part");
        } else {
          v = real_value(i + 1, j + 1, at);
        }
        out[i * h_.cols + j] = v;
        if (!general && i != j) out[j * h_.cols + i] = mirrored(v, h_.symmetry);
      }
    }
  }

  // The offsets of entries are not kept, so the text is walked again; this is the way to an error anyway.
  [[noreturn]] void refuse_mirror(const CooMatrix& m, std::int64_t k) {
    in_ = start_;
    in_.skip_to_word();
    for (std::int64_t n = 0; n < k; ++n) in_.skip_line(), in_.skip_to_word();
    const std::int64_t i = m.row_indices[k] + 1, j = m.col_indices[k] + 1;
    in_.fail(entry(i, j) + " of a " + std::string(name(h_.symmetry)) + " matrix contradicts " + entry(j, i) +
             ", which the file also lists");
  }

  TextScanner in_;
  const TextScanner start_;
  const MatrixMarketHeader h_;
};

}  // namespace

MatrixMarket parse_matrix_market(std::string_view bytes, std::string file) {
  TextScanner in(bytes, file);
  MatrixMarket result{.header = parse_matrix_market_header(in, bytes)};
  BodyReader body(in, result.header);
  if (result.header.storage == MatrixStorage::array) result.matrix = body.array();
  else result.matrix = body.coordinate();
  return result;
}

MatrixMarket read_matrix_market(const std::string& path) {
  return parse_matrix_market(MappedFile::open(path)->bytes(), path);
}

MatrixMarketHeader read_matrix_market_header(const std::string& path) {
  const auto file = MappedFile::open(path);
  TextScanner in(file->bytes(), path);
  return parse_matrix_market_header(in, file->bytes());
}

CooMatrix read_matrix_market_coo(const std::string& path) {
  MatrixMarket m = read_matrix_market(path);
  if (auto* coo = std::get_if<CooMatrix>(&m.matrix)) return std::move(*coo);
  CooMatrix coo = to_coo(std::get<HostTensor>(m.matrix));
  coo.field = m.header.field;
  coo.symmetry = m.header.symmetry;
  return coo;
}

CsrMatrix read_matrix_market_csr(const std::string& path) { return to_csr(read_matrix_market_coo(path)); }

HostTensor read_matrix_market_dense(const std::string& path) {
  MatrixMarket m = read_matrix_market(path);
  if (auto* dense = std::get_if<HostTensor>(&m.matrix)) return std::move(*dense);
  return to_dense(std::get<CooMatrix>(m.matrix));
}

}  // namespace rlx::formats
