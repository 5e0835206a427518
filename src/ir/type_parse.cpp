// Reads the text form of types that type.cpp prints, and refuses types that no printer of a valid graph would write.
#include "ir/type_parse.hpp"

#include "ir/dim_polynomial.hpp"

#include <rlx/ir/counted.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace rlx {
namespace detail {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

int hex_value(TextCursor& in) {
  const std::string_view digits(hex_digits, 16);
  const std::size_t v = in.at_end() ? digits.npos : digits.find(in.peek());
  if (v == digits.npos) in.fail("a hexadecimal digit");
  in.take();
  return static_cast<int>(v);
}

std::string one_of(std::span<const std::string_view> names) {
  std::string all;
  for (const std::string_view n : names) all += (all.empty() ? "one of " : ", ") + std::string(n);
  return all;
}

std::vector<std::string_view> names_of_spaces() {
  std::vector<std::string_view> names;
  for (int s = 0; s <= static_cast<int>(Space::flash); ++s) names.push_back(name(static_cast<Space>(s)));
  return names;
}

Dim parse_size(TextCursor& in) {
  in.skip_space();
  const std::size_t at = in.offset();
  Dim d = parse_dim(in);
  if (d.is_constant() && d.constant() < 0) TextCursor::fail_at(at, "dimension " + d.to_string() + " is negative");
  return d;
}

Shape parse_shape(TextCursor& in) {
  in.expect('[');
  Shape shape;
  if (in.accept(']')) return shape;
  do shape.push_back(parse_size(in));
  while (in.accept(','));
  in.expect(']');
  return shape;
}

DType parse_dtype_at(TextCursor& in) {
  in.skip_space();
  const std::size_t at = in.offset();
  const auto dtype = parse_dtype(in.name());
  if (!dtype) TextCursor::fail("an element type", at);
  return *dtype;
}

template <class F>
auto parse_list(TextCursor& in, F element) {
  std::vector<decltype(element())> values;
  in.expect('(');
  if (in.accept(')')) return values;
  do values.push_back(element());
  while (in.accept(','));
  in.expect(')');
  return values;
}

std::vector<std::int64_t> parse_integers(TextCursor& in) {
  return parse_list(in, [&] { return in.integer(); });
}

int parse_axis(TextCursor& in, int lowest, int rank) {
  in.skip_space();
  const std::size_t at = in.offset();
  const std::int64_t v = in.integer();
  if (v < lowest || v >= rank)
    TextCursor::fail_at(at, "there is no dimension " + std::to_string(v) + ": the rank is " + std::to_string(rank));
  return static_cast<int>(v);
}

struct Options {
  Layout layout;
  Quantization quantization;
  Sharding sharding;
  std::set<std::string_view> seen;
  bool any(std::initializer_list<std::string_view> keys) const {
    return std::any_of(keys.begin(), keys.end(), [&](std::string_view k) { return seen.contains(k); });
  }
};

/// "(data,model)": axes of a mesh.
std::vector<std::string> parse_axes(TextCursor& in) {
  return parse_list(in, [&] { return parse_quoted(in); });
}

constexpr std::string_view tensor_options[] = {"layout", "tiles", "padding", "scales", "zero_points",
                                               "axis",   "block", "split",   "partial"};
constexpr std::string_view sparse_options[] = {"split", "partial"};

void parse_option(TextCursor& in, std::span<const std::string_view> known, Options& o, int rank) {
  in.skip_space();
  const std::size_t at = in.offset();
  const std::string_view key = in.name();
  if (std::find(known.begin(), known.end(), key) == known.end()) TextCursor::fail(one_of(known), at);
  if (!o.seen.insert(key).second) TextCursor::fail_at(at, "option " + std::string(key) + " is given twice");
  in.expect('=');
  if (key == "layout") o.layout.minor_to_major = parse_list(in, [&] { return parse_axis(in, 0, rank); });
  else if (key == "tiles") o.layout.tiles = parse_integers(in);
  else if (key == "padding") o.layout.padding = parse_integers(in);
  else if (key == "scales") o.quantization.scales = parse_list(in, [&] { return in.real(); });
  else if (key == "zero_points") o.quantization.zero_points = parse_integers(in);
  else if (key == "axis") o.quantization.axis = parse_axis(in, -1, rank);
  else if (key == "split") o.sharding.split = parse_list(in, [&] { return parse_axes(in); });
  else if (key == "partial") o.sharding.partial = parse_axes(in);
  else o.quantization.block_format = parse_quoted(in);
}

/// What the rest of the library may rely on without looking again.
void check_layout(const Layout& l, int rank, std::size_t at) {
  std::vector<int> sorted = l.minor_to_major, all(static_cast<std::size_t>(rank));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    TextCursor::fail_at(at, "layout does not name each of " + counted(all.size(), "dimension") + " once");
  if (std::any_of(l.tiles.begin(), l.tiles.end(), [](std::int64_t v) { return v < 1; }))
    TextCursor::fail_at(at, "tile is not positive");
  if (!l.padding.empty() && l.padding.size() != all.size())
    TextCursor::fail_at(at, "padding has " + counted(l.padding.size(), "entry", "entries") + " for " +
                                counted(all.size(), "dimension"));
  if (std::any_of(l.padding.begin(), l.padding.end(), [](std::int64_t v) { return v < 0; }))
    TextCursor::fail_at(at, "negative padding");
}

void check_quantization(const Quantization& q, std::size_t at) {
  if (q.axis == -1 && (q.scales.size() > 1 || q.zero_points.size() > 1))
    TextCursor::fail_at(at, "several scales or zero points need an axis");
  if (!q.zero_points.empty() && q.zero_points.size() != q.scales.size())
    TextCursor::fail_at(at,
                        std::to_string(q.zero_points.size()) + " zero points for " + counted(q.scales.size(), "scale"));
}

void check_sharding(const Sharding& s, int rank, std::size_t at) {
  if (s.split.size() != static_cast<std::size_t>(rank))
    TextCursor::fail_at(
        at, "split has " + counted(s.split.size(), "list") + " of mesh axes for rank " + std::to_string(rank));
  std::set<std::string_view> seen;
  const auto check = [&](const std::vector<std::string>& axes) {
    for (const std::string& axis : axes) {
      if (axis.empty()) TextCursor::fail_at(at, "mesh axis without a name");
      if (!seen.insert(axis).second) TextCursor::fail_at(at, "mesh axis " + quoted(axis) + " is named twice");
    }
  };
  for (const auto& axes : s.split) check(axes);
  check(s.partial);
  if (seen.empty()) TextCursor::fail_at(at, "sharding names no mesh axis");
}

/// Up to the closing brace.
Options parse_options(TextCursor& in, std::span<const std::string_view> known, int rank) {
  Options o;
  do parse_option(in, known, o, rank);
  while (in.accept(','));
  in.expect('}');
  return o;
}

std::shared_ptr<const Sharding> take_sharding(Options& o, int rank, std::size_t at) {
  if (!o.any({"split", "partial"})) return nullptr;
  check_sharding(o.sharding, rank, at);
  return std::make_shared<const Sharding>(std::move(o.sharding));
}

void parse_options(TextCursor& in, TensorType& t) {
  const std::size_t at = in.offset();
  Options o = parse_options(in, tensor_options, t.rank());
  t.sharding = take_sharding(o, t.rank(), at);
  if (o.any({"layout", "tiles", "padding"})) {
    check_layout(o.layout, t.rank(), at);
    t.layout = std::make_shared<const Layout>(std::move(o.layout));
  }
  if (o.any({"scales", "zero_points", "axis", "block"})) {
    check_quantization(o.quantization, at);
    t.quantization = std::make_shared<const Quantization>(std::move(o.quantization));
  }
}

TensorType parse_tensor(TextCursor& in, DType dtype) {
  const std::size_t shape_at = in.offset();
  TensorType t = tensor(dtype, parse_shape(in));
  std::int64_t count = 1;
  for (const Dim& d : t.shape)
    if (d.is_constant() && d.constant() > 0 && __builtin_mul_overflow(count, d.constant(), &count))
      TextCursor::fail_at(shape_at, "tensor has more than 2^63 elements");
  if (in.accept_adjacent('@')) {
    const std::size_t at = in.offset();
    const auto space = parse_space(in.name());
    if (!space) TextCursor::fail(one_of(names_of_spaces()), at);
    t.space = *space;
  }
  if (in.accept_adjacent('{')) parse_options(in, t);
  return t;
}

SparseType parse_sparse(TextCursor& in, SparseFormat format) {
  SparseType t{format};
  in.expect('<');
  t.dtype = parse_dtype_at(in);
  in.expect(',');
  in.skip_space();
  const std::size_t at = in.offset();
  t.index = parse_dtype_at(in);
  if (!index_types.contains(t.index)) TextCursor::fail("i32 or i64, the type of indices", at);
  in.expect('>');
  const std::size_t shape_at = in.offset();
  t.shape = parse_shape(in);
  if (t.shape.size() != 2)
    TextCursor::fail_at(shape_at,
                        "a sparse type has two sizes, rows and columns, not " + std::to_string(t.shape.size()));
  in.expect('{');
  t.entries = parse_size(in);
  if (!in.accept(',')) return in.expect('}'), t;
  const std::size_t options_at = in.offset();
  Options o = parse_options(in, sparse_options, 2);
  t.sharding = take_sharding(o, 2, options_at);
  return t;
}

/// "<kind,dtype>[shape]" or "<kind,provider,dtype>[shape]".
ResourceType parse_resource(TextCursor& in) {
  ResourceType t;
  in.expect('<');
  t.kind = parse_quoted(in);
  in.expect(',');
  in.skip_space();
  const TextCursor before = in;
  t.provider = parse_quoted(in);
  if (in.accept(',')) {
    t.dtype = parse_dtype_at(in);
  } else {
    t.provider.clear();
    in = before;
    t.dtype = parse_dtype_at(in);
  }
  in.expect('>');
  t.shape = parse_shape(in);
  return t;
}

}  // namespace

std::string quoted(std::string_view s) {
  if (is_name(s)) return std::string(s);
  std::string q = "\"";
  for (char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (q += '\\') += c;
    else if (byte >= 0x20 && byte < 0x7F) q += c;
    else ((q += "\\x") += hex_digits[byte >> 4]) += hex_digits[byte & 15];
  }
  return q + '"';
}

std::string parse_quoted(TextCursor& in) {
  if (!in.accept('"')) {
    const std::string_view plain = in.name();
    if (plain.empty()) in.fail("a name or a quoted text");
    return std::string(plain);
  }
  std::string s;
  while (true) {
    if (in.at_end()) in.fail("a closing quote");
    const char c = in.take();
    if (c == '"') return s;
    if (c != '\\') {
      s += c;
      continue;
    }
    const std::size_t escape_at = in.offset();
    const char escaped = in.at_end() ? '\0' : in.take();
    if (escaped == '"' || escaped == '\\') {
      s += escaped;
    } else if (escaped == 'x') {
      const int high = hex_value(in);
      s += static_cast<char>(high * 16 + hex_value(in));
    } else {
      TextCursor::fail("one of \\\" \\\\ \\xHH", escape_at - 1);
    }
  }
}

Type parse_type(TextCursor& in) {
  in.skip_space();
  const std::size_t at = in.offset();
  const std::string_view head = in.name();
  if (head == "token") return TokenType{};
  if (head == "resource") return parse_resource(in);
  if (const auto format = parse_sparse_format(head)) return parse_sparse(in, *format);
  if (const auto dtype = parse_dtype(head)) return parse_tensor(in, *dtype);
  TextCursor::fail("a type", at);
}

}  // namespace detail

Type parse_type(std::string_view text) {
  return detail::inside(TextReader(text), 0, text, "a type",
                        [](detail::TextCursor& c) { return detail::parse_type(c); });
}

}  // namespace rlx
