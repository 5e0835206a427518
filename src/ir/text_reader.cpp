#include <rlx/ir/text_reader.hpp>

#include "ir/wording.hpp"

#include <charconv>
#include <cmath>

namespace rlx {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_value_char(char c) { return is_letter(c) || is_digit(c) || c == '.'; }
bool is_word_char(char c) { return is_value_char(c) || c == '$'; }
bool is_word_start(char c) { return is_letter(c) || c == '$'; }
bool is_record_char(char c) { return is_value_char(c) || c == ':' || c == '-'; }
bool is_type_char(char c) { return is_letter(c) || is_digit(c); }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void TextReader::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size());
    else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') ++at_;
    else return;
  }
}

std::size_t TextReader::token_offset() {
  skip_blanks();
  return at_;
}

bool TextReader::at_end() { return token_offset() == text_.size(); }

char TextReader::peek() { return at_end() ? '\0' : text_[at_]; }

bool TextReader::accept(std::string_view token) {
  skip_blanks();
  if (!text_.substr(at_).starts_with(token)) return false;
  const std::size_t end = at_ + token.size();
  if (!token.empty() && is_word_char(token.back()) && end < text_.size() && is_word_char(text_[end])) return false;
  at_ = end;
  return true;
}

void TextReader::expect(std::string_view token) {
  if (!accept(token)) fail("\"" + std::string(token) + "\"");
}

std::string_view TextReader::run(bool (*wanted)(char)) {
  const std::size_t start = at_;
  while (at_ < text_.size() && wanted(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

std::optional<std::string_view> TextReader::hex_digits() {
  skip_blanks();
  if (!text_.substr(at_).starts_with("0x")) return std::nullopt;
  at_ += 2;
  return run([](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::string TextReader::identifier(const char* expected) {
  if (!is_word_start(peek())) fail(expected);
  return std::string(run(is_word_char));
}

std::string TextReader::value_name() {
  const std::string_view s = run(is_value_char);
  if (s.empty()) fail("the name of a value");
  return std::string(s);
}

std::string TextReader::record_id() {
  const std::string_view s = run(is_record_char);
  if (s.empty()) fail("the id of a record");
  return std::string(s);
}

template <class T>
T TextReader::digits(const char* expected) {
  const std::size_t start = token_offset();
  T v{};
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (error == std::errc::result_out_of_range) fail("an integer of 64 bits");
  const std::size_t stop = static_cast<std::size_t>(end - text_.data());
  if (error != std::errc{} || (stop < text_.size() && is_word_char(text_[stop]))) fail(expected, start);
  at_ = stop;
  return v;
}

std::int64_t TextReader::integer() { return digits<std::int64_t>("an integer"); }
std::uint64_t TextReader::unsigned_integer() { return digits<std::uint64_t>("an integer that is not negative"); }

double TextReader::number() {
  const std::size_t start = token_offset();
  std::size_t end = at_;
  while (end < text_.size()) {
    const char c = text_[end];
    const bool sign = (c == '-' || c == '+') && (end == start || text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (!sign && !is_word_char(c)) break;
    ++end;
  }
  const char* first = text_.data() + start;
  const char* last = text_.data() + end;
  double v = 0;
  const auto [stop, error] = std::from_chars(first, last, v);
  if (error == std::errc::result_out_of_range) fail("a number that f64 can hold", start);
  if (error != std::errc{} || stop != last) fail("a number", start);
  at_ = end;
  return v;
}

std::string TextReader::quoted() {
  const std::size_t start = token_offset();
  if (!accept("\"")) fail("a quoted text");
  std::string s;
  for (;;) {
    if (at_ == text_.size() || text_[at_] == '\n') fail_at(start, "expected a closing quote on the same line");
    const char c = text_[at_++];
    if (c == '"') return s;
    if (c != '\\') {
      s += c;
      continue;
    }
    const std::string_view rest = text_.substr(at_, 3);
    const char e = rest.empty() ? '\0' : rest[0];
    if (e == '"' || e == '\\') s += e;
    else if (e == 'n') s += '\n';
    else if (e == 't') s += '\t';
    else if (e == 'x' && rest.size() == 3 && hex_digit(rest[1]) >= 0 && hex_digit(rest[2]) >= 0) {
      s += static_cast<char>(hex_digit(rest[1]) * 16 + hex_digit(rest[2]));
      at_ += 2;
    } else fail("one of \\\" \\\\ \\n \\t \\xHH", at_ - 1);
    ++at_;
  }
}

std::string TextReader::name(const char* expected) { return peek() == '"' ? quoted() : identifier(expected); }

std::string_view TextReader::until_closing(char open, char close) {
  const std::size_t start = at_;
  for (std::size_t open_count = 1; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      quoted();
      --at_;
    } else if (c == close && --open_count == 0) {
      return text_.substr(start, at_++ - start);
    } else if (c == open) {
      ++open_count;
    }
  }
  fail_at(start - 1, std::string("expected a \"") + close + "\" that closes this \"" + open + "\"");
}

std::string_view TextReader::type_text() {
  const std::size_t start = token_offset();
  if (run(is_type_char).empty()) fail("a type");
  while (at_ < text_.size()) {
    switch (text_[at_]) {
      case '<':
        ++at_;
        until_closing('<', '>');
        continue;
      case '[':
        ++at_;
        until_closing('[', ']');
        continue;
      case '{':
        ++at_;
        until_closing('{', '}');
        continue;
      case '@':
        ++at_;
        run(is_type_char);
        continue;
      default:
        break;
    }
    break;
  }
  return text_.substr(start, at_ - start);
}

std::string_view TextReader::dim_text() {
  const std::size_t start = token_offset();
  std::size_t open = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '(') ++open;
    else if (c == ')' && open) --open;
    else if (!open && (c == ',' || c == ')' || c == ']' || c == '}')) break;
    else if (c == '\n' || c == '"' || c == '#') break;
  }
  if (at_ == start) fail("a dimension");
  return text_.substr(start, at_ - start);
}

void TextReader::fail_at(std::size_t offset, const std::string& what) const {
  const std::size_t before = offset == 0 ? text_.npos : text_.rfind('\n', offset - 1);
  throw FormatError(file_, offset, what, line_of(offset), offset - (before == text_.npos ? 0 : before + 1) + 1);
}

void TextReader::fail(const std::string& expected, std::size_t offset) const {
  fail_at(offset, "expected " + expected + ", found " + found(offset));
}

/// The word there in quotes, a sign or the mark of a value with what follows it, a quoted text; else one character.
std::string TextReader::found(std::size_t offset) const {
  if (offset >= text_.size()) return "the end of the text";
  const char first = text_[offset];
  if (first == '\n' || first == '\r') return "the end of the line";
  std::size_t end = offset + 1;
  const auto grow = [&](auto belongs) {
    while (end < text_.size() && belongs(text_[end])) ++end;
  };
  if (is_word_char(first) || first == '%' || first == '@' || first == '-') grow(is_word_char);
  else if (first == '"') {
    grow([](char c) { return c != '"' && c != '\n'; });
    end += end < text_.size() && text_[end] == '"';
  } else if (static_cast<unsigned char>(first) >= 0x80) grow([](char c) { return (c & 0xC0) == 0x80; });  // UTF-8
  std::string quoted;
  print_quoted(quoted, shortened(text_.substr(offset, end - offset)));
  return quoted;
}

std::size_t TextReader::line_of(std::size_t offset) const {
  if (offset < counted_to_) counted_to_ = 0, counted_line_ = 1;
  for (; counted_to_ < offset; ++counted_to_) counted_line_ += text_[counted_to_] == '\n';
  return counted_line_;
}

TextReader::Depth::Depth(TextReader& r) : reader(r) {
  if (r.depth_ >= max_nesting)
    r.fail_at(r.at_, "expected at most " + std::to_string(max_nesting) + " regions or brackets inside each other");
  ++r.depth_;
}
TextReader::Depth::~Depth() { --reader.depth_; }

void print_number(std::string& out, double v) {
  if (std::isnan(v)) {  // without its sign and payload, which no operator gives a meaning to
    out += "nan";
    return;
  }
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
}

void print_quoted(std::string& out, std::string_view s) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (byte < 0x20 || byte == 0x7f) ((out += "\\x") += hex[byte >> 4]) += hex[byte & 15];
    else out += c;
  }
  out += '"';
}

void print_name(std::string& out, std::string_view s) {
  bool plain = !s.empty() && is_word_start(s[0]);
  for (const char c : s) plain = plain && is_word_char(c);
  if (plain) out += s;
  else print_quoted(out, s);
}

}  // namespace rlx
