#include "ply_header.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <charconv>

#include "sizes.hpp"

namespace rlx::formats {

namespace {

struct PlyTypeName {
  std::string_view text;
  PlyType type;
};
constexpr PlyTypeName ply_type_names[] = {
    {"char", PlyType::i8},   {"int8", PlyType::i8},     {"uchar", PlyType::u8},   {"uint8", PlyType::u8},
    {"short", PlyType::i16}, {"int16", PlyType::i16},   {"ushort", PlyType::u16}, {"uint16", PlyType::u16},
    {"int", PlyType::i32},   {"int32", PlyType::i32},   {"uint", PlyType::u32},   {"uint32", PlyType::u32},
    {"float", PlyType::f32}, {"float32", PlyType::f32}, {"double", PlyType::f64}, {"float64", PlyType::f64},
};

// Lines end as the first one does, so that a binary body may start with any byte.
class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {
    if (bytes.empty()) throw FormatError(file, 0, "the file is empty, expected a PLY file");
    if (!bytes.starts_with("ply") || bytes.size() < 4 || (bytes[3] != '\n' && bytes[3] != '\r'))
      throw FormatError(file, 0, "expected a first line 'ply', found " + in_quotes(bytes.substr(0, 4)), 1);
    if (bytes[3] == '\r') ending_ = bytes.size() > 4 && bytes[4] == '\n' ? "\r\n" : "\r";
    at_ = 3 + ending_.size();
  }

  PlyHeader read() {
    PlyHeader h;
    bool have_format = false;
    for (;;) {
      next_line();
      const std::string_view keyword = word();
      if (keyword.empty() || keyword == "obj_info") continue;
      if (keyword == "comment") {
        if (word() == "antialiased" && word().empty()) h.antialiased = true;
        continue;
      }
      if (keyword == "end_header") break;
      if (keyword == "format") {
        if (have_format) fail("the header states its format twice");
        have_format = true;
        h.format = format();
      } else if (keyword == "element") {
        element(h);
      } else if (keyword == "property") {
        if (h.elements.empty()) fail("a property comes before any element");
        property(h.elements.back());
      } else {
        fail("expected one of format, element, property, comment, obj_info and end_header, found " +
             in_quotes(keyword));
      }
      if (const std::string_view more = word(); !more.empty())
        fail("expected the end of the line, found " + in_quotes(more));
    }
    if (!have_format) fail("the header states no format");
    h.data_offset = at_;
    check_names(h);
    return h;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw FormatError(file_, start_, what, line_number_); }

  void next_line() {
    start_ = at_;
    ++line_number_;
    const std::size_t end = bytes_.find(ending_, at_);
    if (end == std::string_view::npos) {
      // "end_header" as the last line of a file without rows may lack its line end.
      if (bytes_.substr(at_) != "end_header")
        throw FormatError(file_, bytes_.size(), "the file ends inside its header, expected end_header", line_number_);
      rest_ = bytes_.substr(at_);
      at_ = bytes_.size();
      return;
    }
    rest_ = bytes_.substr(at_, end - at_);
    at_ = end + ending_.size();
  }

  std::string_view word() {
    constexpr std::string_view blanks = " \t\r";  // CR: a line of a file that mixes its line ends
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    const std::string_view w = rest_.substr(0, rest_.find_first_of(blanks));
    rest_.remove_prefix(w.size());
    return w;
  }

  PlyFormat format() {
    const std::string_view name = word(), version = word();
    if (version != "1.0") fail("expected version 1.0 of the format, found " + in_quotes(version));
    if (name == "ascii") return PlyFormat::ascii;
    if (name == "binary_little_endian") return PlyFormat::little_endian;
    if (name == "binary_big_endian") return PlyFormat::big_endian;
    fail("expected the format ascii, binary_little_endian or binary_big_endian, found " + in_quotes(name));
  }

  void element(PlyHeader& h) {
    PlyElement e;
    e.offset = start_;
    e.name = word();
    const std::string_view count = word();
    const auto [stop, code] = std::from_chars(count.data(), count.data() + count.size(), e.count);
    if (code == std::errc::result_out_of_range) fail("the count " + in_quotes(count) + " exceeds 63 bits");
    if (code != std::errc() || stop != count.data() + count.size() || e.count < 0)
      fail("expected the number of rows of element " + in_quotes(e.name) + ", found " + in_quotes(count));
    h.elements.push_back(std::move(e));
  }

  PlyType type() {
    const std::string_view name = word();
    for (const PlyTypeName& t : ply_type_names)
      if (t.text == name) return t.type;
    fail("the type " + in_quotes(name) + " is unknown");
  }

  void property(PlyElement& e) {
    PlyProperty p;
    std::string_view ahead = rest_;
    ahead.remove_prefix(std::min(ahead.find_first_not_of(" \t"), ahead.size()));
    if (ahead.starts_with("list ") || ahead.starts_with("list\t")) {
      word();
      p.list = type();
      if (*p.list == PlyType::f32 || *p.list == PlyType::f64) fail("the length of a list must be of an integer type");
      e.has_lists = true;
    }
    p.type = type();
    p.name = word();
    if (p.name.empty()) fail("a property has no name");
    e.row_bytes += width(p.list.value_or(p.type));
    e.properties.push_back(std::move(p));
  }

  /// By sorting, because a broken header may hold millions of names.
  template <class Named>
  static const Named* repeated(const std::vector<Named>& all) {
    std::vector<const Named*> order;
    for (const Named& n : all) order.push_back(&n);
    const auto name = [](const Named* n) -> const std::string& { return n->name; };
    std::ranges::sort(order, {}, name);
    const auto found = std::ranges::adjacent_find(order, {}, name);
    return found == order.end() ? nullptr : *found;
  }

  void check_names(const PlyHeader& h) const {
    if (const PlyElement* e = repeated(h.elements))
      throw FormatError(file_, e->offset, "the element " + in_quotes(e->name) + " is there twice");
    for (const PlyElement& e : h.elements)
      if (const PlyProperty* p = repeated(e.properties))
        throw FormatError(file_, e.offset,
                          "element " + in_quotes(e.name) + " has the property " + in_quotes(p->name) + " twice");
  }

  std::string_view bytes_, rest_{};
  const std::string& file_;
  std::string_view ending_ = "\n";
  std::size_t at_ = 0, start_ = 0;
  std::uint64_t line_number_ = 1;
};

}  // namespace

std::size_t width(PlyType t) {
  constexpr std::size_t widths[] = {1, 1, 2, 2, 4, 4, 4, 8};
  return widths[static_cast<std::size_t>(t)];
}

std::optional<std::size_t> PlyElement::find(std::string_view property) const {
  for (std::size_t i = 0; i < properties.size(); ++i)
    if (properties[i].name == property) return i;
  return std::nullopt;
}

std::size_t PlyElement::number(const std::string& property, const std::string& file, std::string_view absent) const {
  const auto found = find(property);
  if (!found)
    throw FormatError(file, offset,
                      "element " + in_quotes(name) + " has no property " + in_quotes(property) + std::string(absent));
  if (properties[*found].list)
    throw FormatError(file, offset, "the property " + in_quotes(property) + " must be one number, not a list");
  return *found;
}

const PlyElement* PlyHeader::find(std::string_view element) const {
  for (const PlyElement& e : elements)
    if (e.name == element) return &e;
  return nullptr;
}

const PlyElement& PlyHeader::element(const std::string& name, const std::string& file) const {
  if (const PlyElement* e = find(name)) return *e;
  throw FormatError(file, 0, "the file has no element '" + name + "'");
}

PlyHeader parse_ply_header(std::string_view bytes, const std::string& file) { return HeaderReader(bytes, file).read(); }

}  // namespace rlx::formats
