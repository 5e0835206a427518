// Cursor over the text form of graphs: the lexical rules that attributes, types and graphs share.
#pragma once
#include <rlx/ir/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rlx {

/// Regions inside regions: what a text may ask of the stack. verify() holds graphs to the same limit.
inline constexpr int max_nesting = 64;

/// Skips blanks and `#` comments before every token. All failures are FormatErrors with file, line, column and byte
/// offset, which quote what was found there where something else was expected.
class RLX_API TextReader {
 public:
  /// `text` must outlive the reader.
  explicit TextReader(std::string_view text, std::string file = "") : text_(text), file_(std::move(file)) {}

  bool at_end();
  /// Next character after blanks, 0 at the end; consumes nothing but blanks.
  char peek();
  /// Consumes `token` if the text goes on with it; a word is matched only as a whole word.
  bool accept(std::string_view token);
  void expect(std::string_view token);
  /// Lower-case hexadecimal digits after "0x"; nothing is consumed where that does not come next.
  std::optional<std::string_view> hex_digits();
  /// [A-Za-z_$][A-Za-z0-9_.$]*; `expected` names it where none comes.
  std::string identifier(const char* expected = "a name");
  /// A value's name, at once after its '%': digits, letters, '_' and '.'.
  std::string value_name();
  /// A record's id, at once after its '@': digits, letters, '_', '.', ':' and '-'.
  std::string record_id();
  std::int64_t integer();
  std::uint64_t unsigned_integer();
  double number();       ///< Also inf, -inf, nan; exact for what print_number writes.
  std::string quoted();  ///< "..." with \" \\ \n \t \xHH, on one line.
  /// What print_name writes: an identifier or a quoted string.
  std::string name(const char* expected = "a name");
  /// Text up to the bracket that closes the one just before the cursor; the closing bracket is consumed.
  std::string_view until_closing(char open, char close);
  /// The longest run that can be a type, starting here: a word and the bracketed parts and '@' words that touch it.
  std::string_view type_text();
  /// The longest run that can be a dimension: up to a ',' or a closing bracket that is not inside parentheses.
  std::string_view dim_text();

  /// "expected EXPECTED, found what the text has at `offset`"; without an offset: here.
  [[noreturn]] void fail(const std::string& expected, std::size_t offset) const;
  [[noreturn]] void fail(const std::string& expected) const { fail(expected, at_); }
  /// What is wrong with something that could be read.
  [[noreturn]] void fail_at(std::size_t offset, const std::string& what) const;
  std::size_t offset() const { return at_; }
  std::size_t remaining() const { return text_.size() - at_; }
  /// Skips blanks, and gives the offset of the next token.
  std::size_t token_offset();
  std::size_t line() const { return line_of(at_); }
  std::size_t line_of(std::size_t offset) const;  ///< Counts from 1; asking in ascending order is linear in all.
  const std::string& file() const { return file_; }
  /// Nesting guard: throws when regions or brackets nest deeper than max_nesting.
  struct RLX_API Depth {
    TextReader& reader;
    explicit Depth(TextReader& r);
    ~Depth();
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
  };

 private:
  void skip_blanks();
  std::string found(std::size_t offset) const;
  std::string_view run(bool (*wanted)(char));
  template <class T>
  T digits(const char* expected);
  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  int depth_ = 0;
  mutable std::size_t counted_to_ = 0, counted_line_ = 1;
};

RLX_API void print_number(std::string& out, double v);  ///< Shortest decimal that reads back the same.
RLX_API void print_quoted(std::string& out, std::string_view s);
RLX_API void print_name(std::string& out, std::string_view s);  ///< Quoted only where it is no identifier.

}  // namespace rlx
