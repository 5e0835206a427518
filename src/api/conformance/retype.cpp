#include "api/conformance/retype.hpp"

#include "api/conformance/compare.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

namespace rlx::conformance {

using Exchange = std::function<DType(DType)>;

std::optional<DType> element_type(const Type& t) {
  if (const auto* x = std::get_if<TensorType>(&t)) return x->dtype;
  if (const auto* s = std::get_if<SparseType>(&t)) return s->dtype;
  if (const auto* r = std::get_if<ResourceType>(&t)) return r->dtype;
  return std::nullopt;
}

const Operand& declared_operand(const Op& op, std::size_t i) {
  return op.operands()[std::min(i, op.operands().size() - 1)];
}

namespace {

Type with_elements(Type t, DType to) {
  if (auto* x = std::get_if<TensorType>(&t)) x->dtype = to;
  else if (auto* s = std::get_if<SparseType>(&t)) s->dtype = to;
  else if (auto* r = std::get_if<ResourceType>(&t)) r->dtype = to;
  return t;
}

// --- Values.

struct Limits {
  double low, high;
};
/// Of integers; far enough for floating-point types, of which no fill comes near the end.
Limits limits_of(DType t) {
  if (t == DType::boolean) return {0, 1};
  if (is_integer(t)) {
    const int bits = std::min(bit_width(t), 32);
    return is_unsigned_integer(t) ? Limits{0, std::ldexp(1, bits) - 1}
                                  : Limits{-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
  }
  return bit_width(t) == 8 ? Limits{-200, 200} : Limits{-30000, 30000};
}

bool is_discrete(DType t) { return is_integer(t) || t == DType::boolean; }

double in_type(double v, DType t) {
  if (t == DType::boolean) return v > 0;
  // Those of eight bits that have no infinity have a largest number.
  if (float8.contains(t) && std::isinf(v) && !std::isinf(round_to(t, v)))
    return std::copysign(t == DType::f8e4m3fn ? 448 : t == DType::f8e4m3fnuz ? 240 : 57344, v);
  if (!is_integer(t)) return v;
  const Limits l = limits_of(t);
  return std::isnan(v) ? 0 : std::clamp(std::trunc(v), l.low, l.high);
}

std::vector<double> literal_in(const std::vector<double>& from, DType was, DType to) {
  std::vector<double> v;
  const std::size_t step = is_complex(was) ? 2 : 1;
  for (std::size_t i = 0; i < from.size(); i += step) {
    v.push_back(in_type(from[i], real_of(to)));
    if (is_complex(to)) v.push_back(step == 2 ? from[i + 1] : 0);
  }
  return v;
}

std::int64_t elements_in(const Type& t) {
  const auto* x = std::get_if<TensorType>(&t);
  return x && is_constant(t) ? x->numel().constant() : 0;
}

// `widened`: integers made of numbers are to be more than -1, 0 and 1.
void fill_in(SampleOperand& o, DType was, DType to, bool widened) {
  if (!o.literal.empty()) {
    o.literal = literal_in(o.literal, was, to);
    return;
  }
  const Limits l = limits_of(to);
  if (o.fill == Fill::distinct && is_discrete(to) && widened) {
    // A progression of integers: from 0 up, or about it where the type has a sign.
    const auto last = static_cast<double>(std::max<std::int64_t>(1, elements_in(o.type)) - 1);
    o.low = o.low < 0 ? -std::floor(last / 2) : std::ceil(o.low);
    o.high = o.low + last;
  } else if (o.fill == Fill::uniform && is_discrete(to) && !is_discrete(was) && widened) {
    o.low = o.low < 0 ? -100 : std::ceil(o.low);
    o.high = 100;
  }
  if (o.fill != Fill::uniform && o.fill != Fill::distinct) return;
  const double span = o.high - o.low;
  o.low = std::clamp(o.low, l.low, l.high);
  if (o.fill == Fill::distinct && o.low + span <= l.high) o.high = o.low + span;
  o.high = std::clamp(o.high, o.low, l.high);
}

// --- What holds types besides operands.

/// Calls `word(text, offset)` for each identifier outside of quotes.
template <class F>
void each_word(std::string_view text, F word) {
  const auto starts = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  const auto goes_on = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (goes_on(text[i])) {
      while (end < text.size() && goes_on(text[end])) ++end;
      if (starts(text[i])) word(text.substr(i, end - i), i);
    }
    i = end;
  }
}

/// Through the text form, which is exact: attributes are structs of the operators' own.
AnyAttrs attrs_in(const AnyAttrs& attrs, const Exchange& exchange) {
  const std::string text = attrs.to_string();
  std::string changed;
  std::size_t copied = 0;
  each_word(text, [&](std::string_view word, std::size_t at) {
    const auto t = parse_dtype(word);
    if (!t || exchange(*t) == *t) return;
    changed += text.substr(copied, at - copied);
    changed += name(exchange(*t));
    copied = at + word.size();
  });
  if (copied == 0) return attrs;
  changed += text.substr(copied);
  TextReader in(changed, "conformance");
  return attrs.table().parse(in);
}

RegionBody region_in(const std::shared_ptr<const Graph>& from, RegionId region, const Exchange& exchange) {
  return [from, region, exchange](ValuesIn arguments) -> Values {
    if (arguments.empty()) throw ArgumentError("a region without arguments is not retyped");
    Builder& b = *arguments[0].builder;
    return transcribe(*from, region, arguments, [&](const Node& n, ValuesIn operands) {
      std::vector<RegionBody> inner;
      for (RegionId r : n.regions) inner.push_back(region_in(from, r, exchange));
      return b.emit(n.op->name(), operands, attrs_in(n.attrs, exchange), inner);
    });
  };
}

/// `body` on arguments of a type that holds all numbers of `to`, for operators inside that do not take `to`. Only from
/// small types is that the same for a whole chain of combinations: sums wrap alike.
std::optional<RegionBody> region_between(const RegionBody& body, DType to) {
  if (numbers.contains(to)) return std::nullopt;
  const DType wide = is_discrete(to) ? DType::i32 : DType::f32;
  return [=](ValuesIn arguments) -> Values {
    const auto converted = [](const Value& v, DType from, DType into) {
      const auto* t = std::get_if<TensorType>(&v.type());
      return t && t->dtype == from ? ops::convert(v, into) : v;
    };
    Values in, out;
    for (const Value& v : arguments) in.push_back(converted(v, to, wide));
    for (const Value& v : body(in)) out.push_back(converted(v, wide, to));
    return out;
  };
}

/// The sample's node in a graph of its own; null where emission refuses even the sample.
std::shared_ptr<const Graph> graph_of(const Op& op, const AnySample& s, const Registry& registry) {
  auto g = std::make_shared<Graph>();
  Builder b(*g, registry);
  Values in;
  for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
  try {
    b.emit(op.name(), in, s.attrs, s.regions);
  } catch (const Error&) { return nullptr; }
  return g;
}

double tolerance_in(double rtol, DType was, DType to, bool exact) {
  if (rtol < 0 || (rtol == 0 && exact)) return rtol;
  const double from = unit_of(was), unit = unit_of(to);
  if (rtol == 0 || from == 0 || unit == 0) return -1;
  return std::clamp(rtol / from, 8.0, 64.0) * unit;
}

}  // namespace

std::vector<AnySample> retyped(const Op& op, const AnySample& base, std::size_t at, DType to,
                               const Registry& registry) {
  const DType was = *element_type(base.in.at(at).type);
  const auto alike = [&](std::size_t k) {
    return declared_operand(op, k).dtypes == declared_operand(op, at).dtypes && element_type(base.in[k].type) == was;
  };
  const Exchange only = [was, to](DType t) { return t == was ? to : t; };
  // f64 to f32 takes c128 to c64 along, and the other way round.
  const Exchange both = [was, to](DType t) {
    if (t == was) return to;
    if (is_complex(was) && is_complex(to) && t == real_of(was)) return real_of(to);
    if (is_complex(t) && real_of(t) == was && (to == DType::f32 || to == DType::f64))
      return to == DType::f32 ? DType::c64 : DType::c128;
    return t;
  };
  // Literals beside random operands of one type are identities or bounds, and fit the range that these have.
  const bool widened = [&] {
    for (std::size_t k = 0; k < base.in.size(); ++k)
      if (alike(k) && !base.in[k].literal.empty()) return false;
    return true;
  }();
  const Exchange none = [](DType t) { return t; };
  struct Way {
    bool alone;
    const Exchange& operands;
    const Exchange& attrs;
  };
  const std::shared_ptr<const Graph> graph = base.regions.empty() ? nullptr : graph_of(op, base, registry);
  std::vector<AnySample> all, between;
  const Way ways[] = {{false, only, none}, {false, only, only}, {false, both, none},
                      {false, both, both}, {true, only, none},  {true, only, only}};
  for (const Way& way : ways) {
    AnySample s = base;
    s.expect.clear();
    // Literals of types without derivatives may be ties and kinks.
    s.gradients = base.gradients && (base.in[at].literal.empty() || was == DType::f64 || was == DType::c128);
    s.rtol = tolerance_in(base.rtol, was, to, op.has_trait(Trait::indexing) || base.expect.empty());
    for (std::size_t k = 0; k < s.in.size(); ++k) {
      const auto t = element_type(s.in[k].type);
      if (!t || (k != at && (way.alone || (*t == was && !alike(k))))) continue;
      const DType next = way.operands(*t);
      if (next == *t) continue;
      s.in[k].type = with_elements(s.in[k].type, next);
      fill_in(s.in[k], *t, next, widened);
    }
    try {
      s.attrs = attrs_in(base.attrs, way.attrs);
    } catch (const FormatError&) { continue; }
    all.push_back(s);
    if (!graph) continue;
    const std::vector<RegionId> regions = graph->node(graph->region(Graph::top).nodes.at(0)).regions;
    for (std::size_t r = 0; r < regions.size(); ++r) s.regions[r] = region_in(graph, regions[r], both);
    all.push_back(s);
    bool all_between = true;
    for (std::size_t r = 0; r < regions.size(); ++r)
      if (auto body = region_between(base.regions[r], to)) s.regions[r] = std::move(*body);
      else all_between = false;
    if (all_between) between.push_back(std::move(s));
  }
  std::move(between.begin(), between.end(), std::back_inserter(all));
  return all;
}

namespace {

// The words that attributes have as values, each with its field: sizes and element types say nothing of what is
// computed, and flags say little of how.
void add_words(std::string& form, const AnyAttrs& attrs, bool flags) {
  const std::string text = attrs.to_string();
  std::string_view field;
  each_word(text, [&](std::string_view word, std::size_t at) {
    if (text.compare(at + word.size(), 3, " = ") == 0) field = word;
    else if (!parse_dtype(word) && word != "inf" && word != "nan" && (flags || (word != "true" && word != "false")))
      (((form += ' ') += field) += '=') += word;
  });
}

void add_nodes(std::string& form, const Graph& g, RegionId region, bool flags) {
  for (NodeId id : g.region(region).nodes) {
    const Node& n = g.node(id);
    (form += ' ') += n.op->name();
    add_words(form, n.attrs, flags);
    for (RegionId r : n.regions) add_nodes(form, g, r, flags);
  }
}

}  // namespace

std::string form_of(const Graph& g, const SampleBase& s, bool flags) {
  std::string form;
  add_nodes(form, g, Graph::top, flags);
  for (const SampleOperand& o : s.in)
    if (!std::all_of(o.literal.begin(), o.literal.end(), [](double v) { return std::isfinite(v); })) {
      form += " not finite";
      break;
    }
  return form;
}

}  // namespace rlx::conformance
