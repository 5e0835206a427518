#include "matrix_market_header.hpp"

#include <algorithm>
#include <array>

#include "sizes.hpp"

#include <rlx/ir/counted.hpp>

namespace rlx::formats {

namespace {

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

template <class E>
struct Named {
  std::string_view text;
  E value;
};
constexpr Named<bool> objects[] = {{"matrix", true}};
constexpr Named<MatrixStorage> storages[] = {{"coordinate", MatrixStorage::coordinate},
                                             {"array", MatrixStorage::array}};
// The last two are written by SciPy and Eigen users.
constexpr Named<MatrixField> fields[] = {{"real", MatrixField::real},       {"integer", MatrixField::integer},
                                         {"pattern", MatrixField::pattern}, {"complex", MatrixField::complex},
                                         {"double", MatrixField::real},     {"unsigned-integer", MatrixField::integer}};
constexpr Named<MatrixSymmetry> symmetries[] = {{"general", MatrixSymmetry::general},
                                                {"symmetric", MatrixSymmetry::symmetric},
                                                {"skew-symmetric", MatrixSymmetry::skew_symmetric},
                                                {"hermitian", MatrixSymmetry::hermitian}};

template <class E, std::size_t n>
E qualifier(TextScanner& in, const char* what, const Named<E> (&known)[n]) {
  in.skip_blanks();
  for (const auto& k : known)
    if (same_word(in.peek_word(), k.text)) return in.word(), k.value;
  std::string list;
  for (const auto& k : known) list += (list.empty() ? "" : " or ") + std::string(k.text);
  in.fail_expected(std::string(what) + " (" + list + ")");
}

void check_combination(const TextScanner& in, std::size_t at, const MatrixMarketHeader& h) {
  const bool skew = h.symmetry == MatrixSymmetry::skew_symmetric, hermitian = h.symmetry == MatrixSymmetry::hermitian;
  if (hermitian && h.field != MatrixField::complex)
    in.fail_at(at, "a hermitian matrix must be complex; a real one is symmetric");
  if (skew && h.field == MatrixField::pattern) in.fail_at(at, "a pattern cannot be skew-symmetric: it has no signs");
  if (h.storage == MatrixStorage::array && h.field == MatrixField::pattern)
    in.fail_at(at, "an array file cannot have the field pattern: it would list nothing");
}

// Elements that an array file lists: all of them, or the lower triangle column by column.
std::int64_t array_elements(const MatrixMarketHeader& h, const TextScanner& in) {
  const auto n = static_cast<unsigned __int128>(h.rows), m = static_cast<unsigned __int128>(h.cols);
  const unsigned __int128 count = h.symmetry == MatrixSymmetry::general          ? n * m
                                  : h.symmetry == MatrixSymmetry::skew_symmetric ? n * (n > 0 ? n - 1 : 0) / 2
                                                                                 : n * (n + 1) / 2;
  if (count >> 62) in.fail("the array of " + shape_text(std::array{h.rows, h.cols}) + " elements exceeds 62 bits");
  return static_cast<std::int64_t>(count);
}

}  // namespace

MatrixMarketHeader parse_matrix_market_header(TextScanner& in, std::string_view bytes) {
  MatrixMarketHeader h;
  if (bytes.empty()) in.fail("the file is empty, expected '%%MatrixMarket'");
  if (bytes.starts_with("\xef\xbb\xbf")) in.skip(3);
  in.skip_blanks();
  while (!in.at_end() && in.at_line_end() && bytes[in.offset()] != '%') in.skip(1), in.skip_blanks();
  constexpr std::string_view banner = "%%MatrixMarket";
  const std::string_view start = bytes.substr(in.offset(), banner.size());
  if (!same_word(start, banner)) in.fail("expected the banner '%%MatrixMarket', found " + in_quotes(start));
  in.skip(banner.size());
  qualifier(in, "an object", objects);
  h.storage = qualifier(in, "a storage", storages);
  h.field = qualifier(in, "a field", fields);
  in.skip_blanks();
  const std::size_t at = in.offset();
  h.symmetry = qualifier(in, "a symmetry", symmetries);
  in.end_line("the banner");
  check_combination(in, at, h);

  in.skip_to_word();
  const std::size_t counts = in.offset();
  const bool coordinate = h.storage == MatrixStorage::coordinate;
  if (in.at_end()) in.fail_expected(coordinate ? "a count line 'rows columns entries'" : "a count line 'rows columns'");
  h.rows = in.integer("the number of rows");
  h.cols = in.integer("the number of columns");
  if (coordinate) h.stored = in.integer("the number of entries");
  in.end_line("the count line");
  if (h.rows < 0 || h.cols < 0 || h.stored < 0) in.fail_at(counts, "the count line holds a negative number");
  if (h.symmetry != MatrixSymmetry::general && h.rows != h.cols)
    in.fail_at(counts, "a " + std::string(name(h.symmetry)) + " matrix must be square, but this one is " +
                           std::to_string(h.rows) + " x " + std::to_string(h.cols));
  if (!coordinate) h.stored = array_elements(h, in);

  // The shortest entry is "1 1 0" and a line end; nothing is allocated for counts that the text cannot hold.
  const std::int64_t shortest = (coordinate ? 4 : 0) + (h.field == MatrixField::pattern   ? 0
                                                        : h.field == MatrixField::complex ? 4
                                                                                          : 2);
  const std::int64_t most = (static_cast<std::int64_t>(in.remaining()) + 1) / shortest;
  if (h.stored > most)
    in.fail_at(counts, "the count line promises " +
                           (coordinate ? counted(h.stored, "entry", "entries") : counted(h.stored, "element")) +
                           ", but there is room for " + std::to_string(most) + " in the remaining " +
                           counted(in.remaining(), "byte"));
  return h;
}

std::string_view name(MatrixField f) {
  constexpr std::string_view names[] = {"real", "integer", "pattern", "complex"};
  return names[static_cast<int>(f)];
}

std::string_view name(MatrixSymmetry s) {
  constexpr std::string_view names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  return names[static_cast<int>(s)];
}

}  // namespace rlx::formats
