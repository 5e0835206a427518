// Types: names, equality, substitution and the text form; type_parse.cpp reads it.
#include <rlx/ir/type.hpp>

#include "ir/type_parse.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace rlx {
namespace {

constexpr std::array<std::string_view, 6> space_names{"value", "host", "pinned", "device", "local", "flash"};
constexpr std::array<std::string_view, 5> format_names{"csr", "csc", "coo", "bsr", "ell"};

template <class E, std::size_t N>
std::optional<E> find_name(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

/// For a double, the shortest text that reads back as the same.
template <class T>
std::string number(T v) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

template <class T>
std::string list(const std::vector<T>& values) {
  std::string s = "(";
  for (std::size_t i = 0; i < values.size(); ++i) s += (i ? "," : "") + number(values[i]);
  return s + ")";
}

std::string name_list(const std::vector<std::string>& names) {
  std::string s = "(";
  for (std::size_t i = 0; i < names.size(); ++i) s += (i ? "," : "") + detail::quoted(names[i]);
  return s + ")";
}

/// "split=((data,model),()),partial=(pipe)".
std::string options(const Sharding& h) {
  std::string s = "split=(";
  for (std::size_t i = 0; i < h.split.size(); ++i) s += (i ? "," : "") + name_list(h.split[i]);
  s += ")";
  return h.partial.empty() ? s : s + ",partial=" + name_list(h.partial);
}

/// "{layout=(1,0),tiles=(8,128),padding=(0,4),scales=(0.5),zero_points=(3),axis=0,block=q4_k,split=((x),()),
/// partial=(y)}". `layout` stands for a layout, any of the next four for a quantization and `split` for a sharding;
/// what is absent has its default.
std::string options(const TensorType& t) {
  if (!t.layout && !t.quantization && !t.sharding) return "";
  std::string s;
  const auto add = [&](std::string_view key, const std::string& value) {
    s += (s.empty() ? "" : ",") + std::string(key) + "=" + value;
  };
  if (const Layout* l = t.layout.get()) {
    add("layout", list(l->minor_to_major));
    if (!l->tiles.empty()) add("tiles", list(l->tiles));
    if (!l->padding.empty()) add("padding", list(l->padding));
  }
  if (const Quantization* q = t.quantization.get()) {
    if (!q->scales.empty() || q->block_format.empty()) add("scales", list(q->scales));
    if (!q->zero_points.empty()) add("zero_points", list(q->zero_points));
    if (q->axis != -1) add("axis", std::to_string(q->axis));
    if (!q->block_format.empty()) add("block", detail::quoted(q->block_format));
  }
  if (t.sharding) s += (s.empty() ? "" : ",") + options(*t.sharding);
  return "{" + s + "}";
}

struct TypePrinter {
  std::string operator()(const TensorType& t) const {
    std::string s = std::string(name(t.dtype)) + to_string(t.shape);
    if (t.space != Space::value) s += "@" + std::string(name(t.space));
    return s + options(t);
  }
  std::string operator()(const SparseType& t) const {
    return std::string(name(t.format)) + "<" + std::string(name(t.dtype)) + "," + std::string(name(t.index)) + ">" +
           to_string(t.shape) + "{" + t.entries.to_string() + (t.sharding ? "," + options(*t.sharding) : "") + "}";
  }
  std::string operator()(const ResourceType& t) const {
    std::string s = "resource<" + detail::quoted(t.kind) + ",";
    if (!t.provider.empty()) s += detail::quoted(t.provider) + ",";
    return s + std::string(name(t.dtype)) + ">" + to_string(t.shape);
  }
  std::string operator()(const TokenType&) const { return "token"; }
};

}  // namespace

std::string_view name(Space s) { return space_names[static_cast<std::size_t>(s)]; }
std::optional<Space> parse_space(std::string_view text) { return find_name<Space>(space_names, text); }
std::string_view name(SparseFormat f) { return format_names[static_cast<std::size_t>(f)]; }
std::optional<SparseFormat> parse_sparse_format(std::string_view text) {
  return find_name<SparseFormat>(format_names, text);
}

bool operator==(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.space == b.space && same(a.layout, b.layout) &&
         same(a.quantization, b.quantization) && same(a.sharding, b.sharding);
}
bool operator==(const SparseType& a, const SparseType& b) {
  return a.format == b.format && a.dtype == b.dtype && a.index == b.index && a.shape == b.shape &&
         a.entries == b.entries && same(a.sharding, b.sharding);
}

std::string to_string(const Type& t) { return std::visit(TypePrinter{}, t); }

Type substitute(const Type& t, const Bindings& bindings) {
  Type result = t;
  std::visit(
      [&]<class T>(T& r) {
        if constexpr (!std::is_same_v<T, TokenType>) r.shape = substitute(r.shape, bindings);
        if constexpr (std::is_same_v<T, SparseType>) r.entries = r.entries.substitute(bindings);
      },
      result);
  return result;
}

const Sharding* sharding(const Type& t) {
  if (const auto* x = std::get_if<TensorType>(&t)) return x->sharding.get();
  const auto* s = std::get_if<SparseType>(&t);
  return s ? s->sharding.get() : nullptr;
}

Type as_declared(Type stored, const Type& declared) {
  auto* t = std::get_if<TensorType>(&stored);
  const auto* d = std::get_if<TensorType>(&declared);
  if (t && d) t->quantization = d->quantization;
  return stored;
}

TensorType with_dimension(TensorType t, int axis, Dim size) {
  t.shape.insert(t.shape.begin() + axis, std::move(size));
  if (t.quantization && t.quantization->axis >= axis) {
    Quantization q = *t.quantization;
    ++q.axis;
    t.quantization = std::make_shared<const Quantization>(std::move(q));
  }
  return t;
}

void collect_symbols(const Type& t, std::set<std::string>& symbols) {
  const auto add = [&](const Dim& d) {
    for (std::string& s : d.symbols()) symbols.insert(std::move(s));
  };
  std::visit(
      [&]<class T>(const T& x) {
        if constexpr (!std::is_same_v<T, TokenType>) std::for_each(x.shape.begin(), x.shape.end(), add);
        if constexpr (std::is_same_v<T, SparseType>) add(x.entries);
      },
      t);
}

bool is_constant(const Type& t) {
  return std::visit(
      []<class T>(const T& v) {
        if constexpr (std::is_same_v<T, TokenType>) return true;
        else if constexpr (std::is_same_v<T, SparseType>) return is_constant(v.shape) && v.entries.is_constant();
        else return is_constant(v.shape);
      },
      t);
}

}  // namespace rlx
