#include "safetensors_header.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "sizes.hpp"

namespace rlx::formats {

namespace {

using nlohmann::json;

struct SafetensorsTypeName {
  std::string_view text;
  DType dtype;
};
constexpr SafetensorsTypeName safetensors_type_names[] = {
    {"F64", DType::f64}, {"F32", DType::f32},      {"F16", DType::f16},          {"BF16", DType::bf16},
    {"C64", DType::c64}, {"I64", DType::i64},      {"I32", DType::i32},          {"I16", DType::i16},
    {"I8", DType::i8},   {"U64", DType::u64},      {"U32", DType::u32},          {"U16", DType::u16},
    {"U8", DType::u8},   {"BOOL", DType::boolean}, {"F8_E4M3", DType::f8e4m3fn}, {"F8_E5M2", DType::f8e5m2}};

// Tells how far the parser has come, which its events do not: every step of the iterator is written down.
class Tracked {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Tracked(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  Tracked& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  Tracked operator++(int) {
    Tracked old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Tracked& o) const { return at_ == o.at_; }
  bool operator!=(const Tracked& o) const { return at_ != o.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Takes the parser's events: the document is small in kind, and a tree of it would lose repeated names and positions.
class Events : public json::json_sax_t {
 public:
  Events(SafeTensorsHeader& out, const char* file_start, const char*& reached, const std::string& file)
      : out_(out), file_start_(file_start), reached_(reached), file_(file) {}

  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("a truth value"); }
  bool number_integer(number_integer_t) override { return scalar("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return scalar("a number that is no 64-bit integer"); }
  bool binary(binary_t&) override { return scalar("binary data"); }

  bool number_unsigned(number_unsigned_t v) override {
    if (unknown_depth_) return true;
    if (where_ == Where::shape) {
      if (v > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) fail("a dimension exceeds 63 bits");
      entry_.shape.push_back(static_cast<std::int64_t>(v));
      return true;
    }
    if (where_ != Where::offsets) return scalar("a number");
    if (offsets_ == 2) fail("data_offsets must have two numbers");
    (offsets_++ == 0 ? entry_.begin : entry_.end) = v;
    return true;
  }

  bool string(string_t& v) override {
    if (unknown_depth_) return true;
    if (where_ == Where::metadata) {
      out_.metadata[key_] = std::move(v);
      return true;
    }
    if (where_ != Where::tensor || key_ != "dtype") return scalar("a string");
    const auto* const found = std::find_if(std::begin(safetensors_type_names), std::end(safetensors_type_names),
                                           [&](auto& n) { return n.text == v; });
    if (found == std::end(safetensors_type_names))
      fail("tensor " + in_quotes(entry_.name) + " has the unknown dtype " + in_quotes(v));
    entry_.dtype = found->dtype;
    return true;
  }

  bool start_object(std::size_t) override {
    if (unknown_depth_) return ++unknown_depth_, true;
    if (where_ == Where::outside) {
      where_ = Where::top;
    } else if (where_ == Where::top) {
      where_ = key_ == "__metadata__" ? Where::metadata : Where::tensor;
      entry_ = {.name = key_, .offset = position()};
      keys_.clear();
    } else {
      return unknown("an object");
    }
    return true;
  }

  bool end_object() override {
    if (unknown_depth_) return --unknown_depth_, true;
    if (where_ == Where::tensor) {
      for (const char* needed : {"dtype", "shape", "data_offsets"})
        if (!keys_.contains(needed)) fail("tensor " + in_quotes(entry_.name) + " has no " + needed);
      out_.entries.push_back(std::move(entry_));
    }
    where_ = where_ == Where::top ? Where::outside : Where::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (unknown_depth_) return ++unknown_depth_, true;
    if (where_ != Where::tensor || (key_ != "shape" && key_ != "data_offsets")) return unknown("an array");
    where_ = key_ == "shape" ? Where::shape : Where::offsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (unknown_depth_) return --unknown_depth_, true;
    if (where_ == Where::offsets && offsets_ != 2) fail("data_offsets must have two numbers");
    where_ = Where::tensor;
    return true;
  }

  bool key(string_t& v) override {
    if (unknown_depth_) return true;
    auto& seen = where_ == Where::top ? names_ : keys_;
    if (!seen.insert(v).second) fail("the name " + in_quotes(v) + " is given twice");
    key_ = std::move(v);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ..."
    std::string_view text = e.what();
    if (const std::size_t colon = text.find(": "); colon != std::string_view::npos) text.remove_prefix(colon + 2);
    fail("the header is not JSON: " + std::string(text));
  }

 private:
  enum class Where { outside, top, metadata, tensor, shape, offsets };

  std::size_t position() const { return static_cast<std::size_t>(reached_ - file_start_); }
  [[noreturn]] void fail(const std::string& what) const { throw FormatError(file_, position(), what); }

  bool needed_key() const { return key_ == "dtype" || key_ == "shape" || key_ == "data_offsets"; }
  // Members of a tensor that the format does not define are skipped, whatever they hold.
  bool scalar(const char* what) {
    if (unknown_depth_ || (where_ == Where::tensor && !needed_key())) return true;
    refuse(what);
  }
  bool unknown(const char* what) {
    if (where_ != Where::tensor || needed_key()) refuse(what);
    unknown_depth_ = 1;
    return true;
  }
  [[noreturn]] void refuse(const char* what) const {
    const std::string member = "member " + in_quotes(key_);
    switch (where_) {
      case Where::outside:
        fail(std::string("expected an object as the header, found ") + what);
      case Where::top:
        fail(member + " of the header must be an object, but is " + what);
      case Where::metadata:
        fail(member + " of __metadata__ must be a string, but is " + what);
      case Where::tensor:
        fail(member + " of tensor " + in_quotes(entry_.name) + " cannot be " + what);
      case Where::shape:
        fail("the shape of tensor " + in_quotes(entry_.name) + " holds " + what);
      case Where::offsets:
        break;
    }
    fail("the data_offsets of tensor " + in_quotes(entry_.name) + " hold " + what);
  }

  SafeTensorsHeader& out_;
  const char* file_start_;
  const char*& reached_;
  const std::string& file_;
  Where where_ = Where::outside;
  int offsets_ = 0;
  std::size_t unknown_depth_ = 0;
  std::string key_;
  std::set<std::string> names_, keys_;
  SafeTensorEntry entry_;
};

void check_cover(SafeTensorsHeader& h, std::uint64_t data_bytes, const std::string& file) {
  std::sort(h.entries.begin(), h.entries.end(), [](const SafeTensorEntry& a, const SafeTensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t covered = 0;
  for (const SafeTensorEntry& e : h.entries) {
    const auto fail = [&](const std::string& what) {
      throw FormatError(file, e.offset, "tensor " + in_quotes(e.name) + what);
    };
    const std::string range = " has the data_offsets [" + std::to_string(e.begin) + ", " + std::to_string(e.end) + "]";
    if (e.begin > e.end) fail(range + ", whose end lies before its begin");
    if (e.end > data_bytes) fail(range + ", but the file has " + counted(data_bytes, "byte") + " of data");
    if (e.begin < covered) fail(range + ", which overlap another tensor that ends at " + std::to_string(covered));
    if (e.begin > covered) fail(range + ", which leave a hole from " + std::to_string(covered));
    const auto wanted = checked_bytes(e.dtype, e.shape);
    const std::string type = " " + std::string(name(e.dtype)) + shape_text(e.shape);
    if (!wanted) fail(type + " exceeds 63 bits");
    if (static_cast<std::uint64_t>(*wanted) != e.end - e.begin)
      fail(type + " takes " + counted(*wanted, "byte") + ", but" + range);
    covered = e.end;
  }
  if (covered != data_bytes)
    throw FormatError(file, h.data_offset + covered, counted(data_bytes - covered, "byte") + " beyond the last tensor");
}

}  // namespace

SafeTensorsHeader parse_safetensors_header(std::string_view bytes, const std::string& file) {
  if (bytes.size() < 8)
    throw FormatError(file, bytes.size(), "the file ends inside the 8 bytes of the header's length");
  std::uint64_t length = 0;
  for (int i = 0; i < 8; ++i) length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  const auto said = [&] { return "the header is said to have " + counted(length, "byte"); };
  if (length > longest_safetensors_header) throw FormatError(file, 0, said() + ", more than the format's 100,000,000");
  if (length > bytes.size() - 8)
    throw FormatError(file, 0, said() + ", but only " + std::to_string(bytes.size() - 8) + " follow");
  const std::string_view text = bytes.substr(8, length);
  if (!text.starts_with('{'))
    throw FormatError(file, 8, "expected the header to begin with '{', found " + in_quotes(text));
  // The JSON parser takes a zero byte for the end of its input.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw FormatError(file, 8 + zero, "the header holds a zero byte");

  SafeTensorsHeader h;
  h.data_offset = 8 + length;
  const char* reached = text.data();
  Events events(h, bytes.data(), reached, file);
  json::sax_parse(Tracked(text.data(), &reached), Tracked(text.data() + text.size(), &reached), &events);
  check_cover(h, bytes.size() - h.data_offset, file);
  return h;
}

std::string_view safetensors_dtype(DType t) {
  for (const SafetensorsTypeName& n : safetensors_type_names)
    if (n.dtype == t) return n.text;
  return {};
}

}  // namespace rlx::formats
