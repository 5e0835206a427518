#include "npy_header.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>

#include "sizes.hpp"

namespace rlx::formats {

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

struct Descr {
  std::string_view text;  // as we write it: little endian
  DType dtype;
};
constexpr Descr descrs[] = {{"<f2", DType::f16},   {"<f4", DType::f32},    {"<f8", DType::f64}, {"<c8", DType::c64},
                            {"<c16", DType::c128}, {"|i1", DType::i8},     {"<i2", DType::i16}, {"<i4", DType::i32},
                            {"<i8", DType::i64},   {"|u1", DType::u8},     {"<u2", DType::u16}, {"<u4", DType::u32},
                            {"<u8", DType::u64},   {"|b1", DType::boolean}};

// Reads the few forms of Python literals that NumPy writes there. No eval, no nesting: a header that needs more
// describes a type that is refused anyway.
class Literal {
 public:
  Literal(std::string_view text, std::size_t offset, const std::string& file)
      : text_(text), offset_(offset), file_(file) {}

  [[noreturn]] void fail(const std::string& what) const { throw FormatError(file_, offset_ + at_, what); }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("expected " + in_quotes({&c, 1}) + " in the header, found " + rest());
  }
  std::string_view string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string in the header, found " + rest());
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string in the header does not end");
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    if (s.find('\\') != std::string_view::npos) fail("escapes in a header's strings are not supported");
    at_ = end + 1;
    return s;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("expected True or False in the header, found " + rest());
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!accept(')')) {
      if (dims.size() == 64) fail("the array has more than 64 dimensions");
      dims.push_back(dimension());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }
  std::string rest() const { return at_ < text_.size() ? in_quotes(text_.substr(at_)) : "its end"; }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }

 private:
  std::int64_t dimension() {
    skip_space();
    std::int64_t v = 0;
    const std::size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, text_[at_] - '0', &v))
        fail("a dimension exceeds 63 bits");
    if (at_ == start) fail("expected a dimension in the header, found " + rest());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long integer, as Python 2 wrote it
    return v;
  }

  std::string_view text_;
  std::size_t at_ = 0, offset_;
  const std::string& file_;
};

void set_dtype(NpyHeader& h, std::string_view descr, const Literal& in) {
  const char order = descr.empty() ? '\0' : descr[0];
  const bool ordered = order == '<' || order == '>' || order == '=' || order == '|';
  const std::string_view kind = descr.substr(ordered ? 1 : 0);
  for (const Descr& d : descrs) {
    if (kind != d.text.substr(1) && !(kind == "?" && d.dtype == DType::boolean)) continue;
    if (order == '|' && d.text[0] != '|') break;  // wide elements need an order
    h.dtype = d.dtype;
    h.big_endian = order == '>';
    return;
  }
  std::string known;
  for (const Descr& d : descrs) known += " " + std::string(d.text.substr(1));
  in.fail("the type " + in_quotes(descr) + " is not supported" + (kind.starts_with("O") ? " (Python objects)" : "") +
          "; known:" + known);
}

void parse_dictionary(Literal& in, NpyHeader& h) {
  bool seen[3] = {};
  in.expect('{');
  while (!in.accept('}')) {
    const std::string_view key = in.string();
    constexpr std::string_view keys[] = {"descr", "fortran_order", "shape"};
    const auto k = std::find(std::begin(keys), std::end(keys), key) - std::begin(keys);
    if (k == 3) in.fail("the header has the unknown key " + in_quotes(key));
    if (seen[k]) in.fail("the header has the key " + in_quotes(key) + " twice");
    seen[k] = true;
    in.expect(':');
    if (k == 0) {
      if (in.next_is('[')) in.fail("structured types are not supported");
      set_dtype(h, in.string(), in);
    } else if (k == 1) {
      h.fortran_order = in.boolean();
    } else {
      h.shape = in.tuple();
    }
    if (!in.accept(',')) {
      in.expect('}');
      break;
    }
  }
  if (!in.at_end()) in.fail("expected the end of the header, found " + in.rest());
  if (!seen[0] || !seen[1] || !seen[2]) in.fail("the header lacks one of the keys descr, fortran_order and shape");
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& file) {
  if (bytes.empty()) throw FormatError(file, 0, "the file is empty, expected a .npy file");
  if (!bytes.starts_with(npy_magic))
    throw FormatError(file, 0,
                      "expected the magic string '\\x93NUMPY', found " + in_quotes(bytes.substr(0, npy_magic.size())));
  const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(bytes[at])}; };
  const bool wide = bytes.size() > 6 && byte(6) >= 2;  // versions 2 and 3 have a length of 32 bits
  const std::size_t start = wide ? 12 : 10;
  if (bytes.size() < start) throw FormatError(file, bytes.size(), "the file ends inside its header");
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0)
    throw FormatError(file, 6,
                      "version " + std::to_string(byte(6)) + "." + std::to_string(byte(7)) +
                          " is unknown; known are 1.0, 2.0 and 3.0");
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (wide) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start)
    throw FormatError(file, 8,
                      "the header is said to have " + counted(length, "byte") + ", but only " +
                          std::to_string(bytes.size() - start) + " follow");

  NpyHeader h;
  h.data_offset = start + length;
  Literal in(bytes.substr(start, length), start, file);
  parse_dictionary(in, h);
  const auto wanted = checked_bytes(h.dtype, h.shape);
  const std::string what = "an array " + std::string(name(h.dtype)) + shape_text(h.shape);
  if (!wanted) throw FormatError(file, start, what + " exceeds 63 bits");
  const std::uint64_t there = bytes.size() - h.data_offset;
  if (there != static_cast<std::uint64_t>(*wanted))
    throw FormatError(file, h.data_offset,
                      what + " has " + counted(*wanted, "byte") + ", but the file holds " + std::to_string(there) +
                          " behind its header");
  return h;
}

std::string_view npy_descr(DType t) {
  for (const Descr& d : descrs)
    if (d.dtype == t) return d.text;
  return {};
}

}  // namespace rlx::formats
