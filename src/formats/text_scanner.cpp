#include "text_scanner.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <charconv>

#include "sizes.hpp"

namespace rlx::formats {

std::string_view TextScanner::peek_word() const {
  const char* stop = p_;
  while (stop != end_ && !ends_word(*stop)) ++stop;
  return {p_, static_cast<std::size_t>(stop - p_)};
}

std::string_view TextScanner::word() {
  const std::string_view w = peek_word();
  p_ += w.size();
  return w;
}

std::string_view TextScanner::rest_of_line() {
  skip_blanks();
  const char* const start = p_;
  skip_line();
  const char* stop = p_;
  while (stop != start && is_blank(stop[-1])) --stop;
  return {start, static_cast<std::size_t>(stop - start)};
}

void TextScanner::fail_at(std::size_t offset, const std::string& what) const {
  // CRLF holds one LF, so counting LF gives the line that an editor shows; without any LF the lines end with CR.
  const std::string_view before(begin_, offset), all(begin_, static_cast<std::size_t>(end_ - begin_));
  const char ending = all.find('\n') == std::string_view::npos ? '\r' : '\n';
  const auto line = 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), ending));
  throw FormatError(*file_, offset, what, line);
}

void TextScanner::fail_expected(const std::string& what) const {
  const std::string_view w = peek_word();
  fail("expected " + what + ", found " +
       (p_ == end_  ? "the end of the file"
        : w.empty() ? "the end of the line"
                    : in_quotes(w)));
}

std::int64_t TextScanner::integer(const char* what) {
  skip_blanks();
  const char* p = p_;
  const bool negative = p != end_ && *p == '-';
  if (p != end_ && (*p == '-' || *p == '+')) ++p;
  const char* const digits = p;
  std::int64_t value = 0;
  for (; p != end_ && *p >= '0' && *p <= '9'; ++p) {
    if (p - digits < 18) {  // cannot overflow yet
      value = value * 10 + (*p - '0');
    } else if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value)) {
      fail(std::string(what) + " " + in_quotes(peek_word()) + " exceeds 63 bits");
    }
  }
  if (p == digits || (p != end_ && !ends_word(*p))) fail_expected(std::string(what) + ", an integer");
  p_ = p;
  return negative ? -value : value;
}

double TextScanner::real(const char* what) {
  skip_blanks();
  const char* start = p_;
  if (start != end_ && *start == '+') ++start;  // from_chars knows no plus sign
  double value = 0;
  const auto [stop, code] = std::from_chars(start, end_, value);
  const bool two_signs = start != p_ && start != end_ && *start == '-';
  if (code != std::errc() || two_signs || (stop != end_ && !ends_word(*stop))) return unusual_real(what);
  p_ = stop;
  return value;
}

// Fortran's exponents and numbers beyond the range of a double; the rest is no number.
double TextScanner::unusual_real(const char* what) {
  std::string text(peek_word());
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  std::size_t exponent = text.find_first_of("eEdDqQ");
  if (exponent != std::string::npos) {
    text[exponent] = 'e';
  } else if (exponent = text.find_first_of("+-", 1); exponent != std::string::npos) {
    text.insert(exponent, 1, 'e');
  }
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), last, value);
  if (code == std::errc::invalid_argument || stop != last || text[0] == '-')
    fail_expected(std::string(what) + ", a number");
  if (code == std::errc::result_out_of_range) {
    // Too small rounds to zero, as any reader does; too large has no double. The decimal position of the leading digit
    // plus the exponent decides: out of range means that it is beyond 300 either way.
    const std::string_view mantissa = std::string_view(text).substr(0, exponent);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size()),
                      leading = mantissa.find_first_of("123456789");
    const auto position = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(leading);
    std::int64_t power = 0;
    if (exponent != std::string::npos) {
      const char* from = text.data() + exponent + 1;
      const bool small = *from == '-';
      if (small || *from == '+') ++from;
      // An exponent beyond 2^60 outweighs any mantissa that fits in memory.
      constexpr std::int64_t enough = std::int64_t{1} << 60;
      if (std::from_chars(from, last, power).ec != std::errc() || power > enough) power = enough;
      if (small) power = -power;
    }
    if (position + power > 0) fail(std::string(what) + " " + in_quotes(peek_word()) + " exceeds the range of f64");
    value = 0;
  }
  p_ += peek_word().size();
  return negative ? -value : value;
}

void TextScanner::end_line(const char* after) {
  skip_blanks();
  if (!at_line_end())
    fail("expected the end of the line after " + std::string(after) + ", found " + in_quotes(peek_word()));
}

}  // namespace rlx::formats
