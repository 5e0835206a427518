#include <rlx/ir/bind.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_sparse.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace rlx {
namespace {

/// The dimensions of a type: its shape, and of a sparse one the number of entries.
std::vector<Dim> dims(const Type& t) {
  std::vector<Dim> out;
  if (const auto* tensor = std::get_if<TensorType>(&t)) out = tensor->shape;
  if (const auto* resource = std::get_if<ResourceType>(&t)) out = resource->shape;
  if (const auto* sparse = std::get_if<SparseType>(&t)) {
    out = sparse->shape;
    out.push_back(sparse->entries);
  }
  return out;
}

/// A dimension as c * symbol + rest.
struct Linear {
  std::string symbol;
  Dim rest;
};

/// Nothing where it has no unknown symbol or several, or is not linear in the one.
std::optional<Linear> linear_in_unknown(const Dim& d, const std::function<bool(const std::string&)>& known) {
  std::optional<Linear> out;
  for (const std::string& s : d.symbols()) {
    if (known(s)) continue;
    if (out) return {};
    out = Linear{s, d.substitute({{s, 0}})};
  }
  if (!out) return {};
  for (const DimTerm& t : terms(d))
    for (const DimFactor& f : t.factors) {
      const bool is_it = f.kind == DimFactor::Kind::symbol && f.symbol == out->symbol;
      if (is_it ? f.power != 1
                : f.kind != DimFactor::Kind::symbol && std::ranges::count(f.inner.symbols(), out->symbol))
        return {};
    }
  return out;
}

/// A declared dimension and an argument's.
struct Pair {
  Dim declared, actual;
};

void add_pairs(const Type& declared, const Type& actual, std::vector<Pair>& pairs) {
  const std::vector<Dim> from = dims(declared), to = dims(actual);
  for (std::size_t k = 0; from.size() == to.size() && k < from.size(); ++k)
    if (!from[k].is_constant()) pairs.push_back({from[k], to[k]});
}

bool solve(const Pair& p, Bindings& bindings) {
  const Dim left = p.declared.substitute(bindings);
  const auto linear = linear_in_unknown(left, [](const auto&) { return false; });
  if (!linear) return false;
  const std::int64_t rest = linear->rest.constant();
  const std::int64_t factor = (left - rest).substitute({{linear->symbol, 1}}).constant();
  const std::int64_t product = (p.actual - rest).constant();  // Dims refuse what overflows.
  // What leaves no whole number fits no value: the dimension is refused as it stands.
  return factor != 0 && product % factor == 0 && product / factor >= 0 &&
         bindings.emplace(linear->symbol, product / factor).second;
}

/// Where a dimension is a symbol, that is its value; others are solved for what is left then.
void solve_all(std::span<const Pair> pairs, Bindings& bindings) {
  for (const Pair& p : pairs)
    if (const auto s = p.declared.symbols(); s.size() == 1 && p.declared == Dim::symbol(s.front()))
      bindings.emplace(s.front(), p.actual.constant());
  for (bool again = true; again;) {
    again = false;
    for (const Pair& p : pairs) again = solve(p, bindings) || again;
  }
}

/// `at`: which dimension; -1: the number of entries.
void check_dim(const Dim& declared, const Dim& actual, const std::string& what, int at, const Bindings& bindings) {
  const Dim known = declared.substitute(bindings);
  if (known == actual) return;
  throw ArgumentError(what + ": " + (at < 0 ? "the number of entries" : "dimension " + std::to_string(at)) + " is " +
                      actual.to_string() + ", expected " + declared.to_string() +
                      (declared == known ? "" : " = " + known.to_string()));
}

void check_shape(const Shape& declared, const Shape& actual, const std::string& what, const Bindings& bindings) {
  for (std::size_t i = 0; i < declared.size(); ++i)
    check_dim(declared[i], actual[i], what, static_cast<int>(i), bindings);
}

/// "1 to 8", "at least 1 in multiples of 8"
std::string values_of(const SymbolInfo& s) {
  const std::string lower = std::to_string(s.lower);
  return (s.upper == std::numeric_limits<std::int64_t>::max() ? "at least " + lower
                                                              : lower + " to " + std::to_string(s.upper)) +
         (s.divisor == 1 ? "" : " in multiples of " + std::to_string(s.divisor));
}

}  // namespace

void solve_symbols(std::span<const Type> declared, std::span<const HostValue> actual, Bindings& bindings) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < std::min(declared.size(), actual.size()); ++i)
    if (!std::ranges::all_of(dims(declared[i]), &Dim::is_constant)) add_pairs(declared[i], type_of(actual[i]), pairs);
  solve_all(pairs, bindings);
}

std::set<std::string> solvable_symbols(std::span<const Type> declared) {
  std::set<std::string> out;
  for (bool again = true; again;) {
    again = false;
    for (const Type& t : declared)
      for (const Dim& d : dims(t))
        if (const auto l = linear_in_unknown(d, [&](const std::string& s) { return out.contains(s); }))
          again = out.insert(l->symbol).second || again;
  }
  return out;
}

void check_values(const SymbolTable& symbols, const Bindings& values) {
  for (const auto& [symbol, info] : symbols)
    if (const auto it = values.find(symbol);
        it != values.end() && (it->second < info.lower || it->second > info.upper || it->second % info.divisor != 0))
      throw ArgumentError("symbol \"" + symbol + "\" is " + std::to_string(it->second) + ", expected " +
                          values_of(info));
}

void check_stated(std::string_view op, const Types& results, const Types& stated) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!(results[i] == stated[i]))
      throw VerifyError(std::string(op), "type",
                        std::string(op) + ": for these sizes the result is " + to_string(results[i]) +
                            ", where the graph states " + to_string(stated[i]));
}

void bind_symbols(const Type& declared, const Type& actual, const std::string& what, Bindings& bindings) {
  const auto differ = [&] {
    throw ArgumentError(what + " is " + to_string(actual) + ", expected " + to_string(declared));
  };
  if (declared.index() != actual.index() || sharding(declared)) differ();  // The host holds whole values.
  const auto bind_shape = [&](const Shape& d, const Shape& a) {
    if (d.size() != a.size()) throw ArgumentError(what + ": shape is " + to_string(a) + ", expected " + to_string(d));
    std::vector<Pair> pairs;
    add_pairs(declared, actual, pairs);
    solve_all(pairs, bindings);
    check_shape(d, a, what, bindings);
  };
  if (const auto* t = std::get_if<TensorType>(&declared)) {
    const auto& a = std::get<TensorType>(actual);
    // Host tensors are plain and row-major. One holds what a quantized tensor stores, which has the type's dtype and
    // shape.
    if (t->dtype != a.dtype || t->layout) differ();
    bind_shape(t->shape, a.shape);
  } else if (const auto* s = std::get_if<SparseType>(&declared)) {
    const auto& a = std::get<SparseType>(actual);
    if (s->format != a.format || s->dtype != a.dtype || s->index != a.index) differ();
    bind_shape(s->shape, a.shape);
    check_dim(s->entries, a.entries, what, -1, bindings);
  } else if (const auto* r = std::get_if<ResourceType>(&declared)) {
    const auto& a = std::get<ResourceType>(actual);
    if (r->kind != a.kind || r->dtype != a.dtype || (!r->provider.empty() && r->provider != a.provider)) differ();
    bind_shape(r->shape, a.shape);
  }
}

void bind_symbols(const Type& declared, const HostValue& actual, const std::string& what, Bindings& bindings) {
  bind_symbols(declared, type_of(actual), what, bindings);
  if (const auto* s = std::get_if<HostSparse>(&actual)) check_arrays(*s, what);
}

}  // namespace rlx
