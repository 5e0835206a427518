// Reads the text form of a type or a dimension front to back, be it all of a text or a part of one.
#pragma once
#include <rlx/ir/text_reader.hpp>

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

/// What a TextCursor complains of; `inside` makes a FormatError of it, which has the place in the whole text.
struct TextFault {
  std::size_t offset;
  std::string what;
  bool is_expected;  ///< Whether `what` names what should be there; else what is wrong with it.
};

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
    if (!accept(c)) fail(std::string("\"") + c + "\"");
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
    if (!is_digit(peek())) fail("an integer");
    std::int64_t v = 0;
    for (; is_digit(peek()); ++at_)
      if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, negative ? '0' - peek() : peek() - '0', &v))
        fail("an integer of 64 bits", start);
    return v;
  }
  std::int64_t integer() { return digits(accept('-')); }

  double real() {
    skip_space();
    double v = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), v);
    if (error == std::errc::result_out_of_range) fail("a number that f64 can hold");
    if (error != std::errc{}) fail("a number");
    at_ += static_cast<std::size_t>(end - first);
    return v;
  }

  // As those of TextReader.
  [[noreturn]] void fail(const std::string& expected) const { fail(expected, at_); }
  [[noreturn]] static void fail(const std::string& expected, std::size_t offset) {
    throw TextFault{offset, expected, true};
  }
  [[noreturn]] static void fail_at(std::size_t offset, const std::string& what) {
    throw TextFault{offset, what, false};
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

/// What `parse` makes of `part`, all of it, which starts at `start` of what `whole` reads. `kind` is "a type".
template <class F>
auto inside(const TextReader& whole, std::size_t start, std::string_view part, const char* kind, F parse) {
  try {
    TextCursor cursor(part);
    auto result = parse(cursor);
    cursor.skip_space();
    if (!cursor.at_end()) cursor.fail(std::string("nothing after ") + kind);
    return result;
  } catch (const TextFault& f) {
    if (f.is_expected) whole.fail(f.what, start + f.offset);
    whole.fail_at(start + f.offset, f.what);
  }
}

}  // namespace rlx::detail
