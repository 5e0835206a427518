// Reads numbers out of a text, line by line, and knows where it is when something is wrong.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace rlx::formats {

/// CR and LF both end a line, so CRLF is a line end and a blank line. `comment` starts a comment wherever a word may
/// start; a zero byte for texts without comments.
class TextScanner {
 public:
  TextScanner(std::string_view bytes, const std::string& file, char comment = '%')
      : begin_(bytes.data()), p_(bytes.data()), end_(bytes.data() + bytes.size()), file_(&file), comment_(comment) {}

  bool at_end() const { return p_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - p_); }
  const std::string& file() const { return *file_; }
  std::size_t offset() const { return static_cast<std::size_t>(p_ - begin_); }
  void skip(std::size_t bytes) { p_ += bytes; }

  void skip_blanks() {
    while (p_ != end_ && is_blank(*p_)) ++p_;
  }
  /// To the next word, over blank lines and comments.
  void skip_to_word() {
    for (;;) {
      while (p_ != end_ && (is_blank(*p_) || is_line_end(*p_))) ++p_;
      if (p_ == end_ || !starts_comment(*p_)) return;
      skip_line();
    }
  }
  /// To the end of the present line.
  void skip_line() {
    while (p_ != end_ && !is_line_end(*p_)) ++p_;
  }
  /// Over one LF, CRLF or CR, where there is one.
  void skip_line_end() {
    if (p_ != end_ && *p_ == '\r') ++p_;
    if (p_ != end_ && *p_ == '\n') ++p_;
  }
  /// To the end of the line, without the blanks around.
  std::string_view rest_of_line();
  bool at_line_end() const { return p_ == end_ || is_line_end(*p_) || starts_comment(*p_); }

  /// The word that starts here, empty at the end of a line; `word` also moves behind it.
  std::string_view peek_word() const;
  std::string_view word();

  /// A decimal integer on this line; `what` names it in the error.
  std::int64_t integer(const char* what);
  /// A decimal number on this line, with C's and Fortran's exponents; may be infinite or NaN if the text says so.
  double real(const char* what);
  /// Nothing but blanks and a comment may follow on the line.
  void end_line(const char* after);

  [[noreturn]] void fail(const std::string& what) const { fail_at(offset(), what); }
  [[noreturn]] void fail_at(std::size_t offset, const std::string& what) const;
  /// "expected WHAT, found 'word'", or where the line or the file ends.
  [[noreturn]] void fail_expected(const std::string& what) const;

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  bool starts_comment(char c) const { return c == comment_ && comment_ != '\0'; }
  bool ends_word(char c) const { return is_blank(c) || is_line_end(c) || starts_comment(c); }
  double unusual_real(const char* what);

  const char *begin_, *p_, *end_;
  const std::string* file_;
  char comment_;
};

}  // namespace rlx::formats
