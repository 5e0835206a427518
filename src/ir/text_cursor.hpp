// Reads a text form front to back. Every complaint is a FormatError with the offset at which it was found.
#pragma once
#include <rlx/ir/error.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace rlx::detail {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
constexpr bool is_name_char(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }
/// Whether `s` is a name as TextCursor reads it: of a symbol, a kind, a block format.
constexpr bool is_name(std::string_view s) {
  if (s.empty() || !is_name_start(s[0])) return false;
  for (char c : s)
    if (!is_name_char(c)) return false;
  return true;
}

class TextCursor {
 public:
  explicit TextCursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t offset() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  /// Next character, or NUL at the end.
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  /// Next character, taken; not at the end.
  char take() { return text_[at_++]; }
  void skip_space() {
    while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }
  /// Takes `c` if it comes next, after spaces.
  bool accept(char c) {
    skip_space();
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  /// Takes `c` only if it comes at once: suffixes are not separated by spaces.
  bool accept_adjacent(char c) { return !at_end() && peek() == c && accept(c); }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }
  void expect_end() {
    skip_space();
    if (!at_end()) fail("unexpected text after the end");
  }

  /// A name, or an empty view when none comes next.
  std::string_view name() {
    skip_space();
    const std::size_t start = at_;
    if (!at_end() && is_name_start(peek()))
      while (!at_end() && is_name_char(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Decimal digits, negated when `negative`; that way the least int64 can be read too.
  std::int64_t digits(bool negative = false) {
    skip_space();
    const std::size_t start = at_;
    if (!is_digit(peek())) fail("expected an integer");
    std::int64_t v = 0;
    for (; is_digit(peek()); ++at_)
      if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, negative ? '0' - peek() : peek() - '0', &v))
        fail_at(start, "integer does not fit 64 bits");
    return v;
  }
  std::int64_t integer() { return digits(accept('-')); }

  double real() {
    skip_space();
    double v = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), v);
    if (error == std::errc::result_out_of_range) fail("number does not fit a double");
    if (error != std::errc{}) fail("expected a number");
    at_ += static_cast<std::size_t>(end - first);
    return v;
  }

  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  [[noreturn]] static void fail_at(std::size_t offset, const std::string& what) { throw FormatError("", offset, what); }

 private:
  std::string_view text_;
  std::size_t at_;
};

}  // namespace rlx::detail
