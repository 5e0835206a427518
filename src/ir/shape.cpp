// Dimensions and shapes as values: symbols, evaluation, substitution. The canonical form is in dim_polynomial.cpp.
#include <rlx/ir/shape.hpp>

#include "ir/dim_polynomial.hpp"
#include "ir/text_cursor.hpp"

#include <limits>
#include <set>

namespace rlx {
using detail::Atom;
using detail::DimPolynomial;
using detail::Factor;
using detail::Term;

namespace {

__extension__ using Wide = __int128;

std::int64_t narrow(Wide v) {
  if (v < std::numeric_limits<std::int64_t>::min() || v > std::numeric_limits<std::int64_t>::max())
    throw ArgumentError("the value of a dimension overflows 64 bits");
  return static_cast<std::int64_t>(v);
}

std::int64_t value_of(const Atom& atom, const Bindings& bindings) {
  if (atom.kind == Atom::Kind::symbol) {
    const auto it = bindings.find(atom.name);
    if (it == bindings.end()) throw ArgumentError("symbol " + atom.name + " has no value");
    return it->second;
  }
  const std::int64_t inner = atom.inner.evaluate(bindings);
  return atom.kind == Atom::Kind::floordiv ? detail::floor_div(inner, atom.divisor)
                                           : detail::floor_mod(inner, atom.divisor);
}

Wide value_of(const Term& term, const Bindings& bindings) {
  // All factors first: a zero among them makes the others' overflow moot, but not a missing binding.
  std::vector<std::int64_t> values;
  bool zero = false;
  for (const Factor& f : term.factors) {
    values.push_back(value_of(*f.atom, bindings));
    zero |= values.back() == 0;
  }
  if (zero) return 0;
  Wide v = term.coefficient;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (int p = 0; p < term.factors[i].power; ++p) v = narrow(v * values[i]);
  return v;
}

void collect(const Dim& d, std::set<std::string>& names) {
  for (const Term& t : DimPolynomial::terms_of(d))
    for (const Factor& f : t.factors) {
      if (f.atom->kind == Atom::Kind::symbol) names.insert(f.atom->name);
      else collect(f.atom->inner, names);
    }
}

Dim substituted(const Atom& atom, const Bindings& bindings) {
  if (atom.kind == Atom::Kind::symbol) {
    const auto it = bindings.find(atom.name);
    return it == bindings.end() ? detail::atom_dim(atom) : Dim(it->second);
  }
  const Dim inner = atom.inner.substitute(bindings);
  return atom.kind == Atom::Kind::floordiv ? floordiv(inner, atom.divisor) : mod(inner, atom.divisor);
}

}  // namespace

Dim Dim::symbol(std::string_view name) {
  if (!detail::is_name(name)) throw ArgumentError("\"" + std::string(name) + "\" is not a name for a symbol");
  return detail::atom_dim({Atom::Kind::symbol, std::string(name)});
}

std::int64_t Dim::constant() const {
  if (polynomial_) throw ArgumentError("dimension " + to_string() + " is not constant");
  return constant_;
}

std::int64_t Dim::evaluate(const Bindings& bindings) const {
  Wide sum = constant_;  // far from overflow: few terms, each of which fits 64 bits
  for (const Term& t : DimPolynomial::terms_of(*this)) sum += value_of(t, bindings);
  return narrow(sum);
}

Dim Dim::substitute(const Bindings& bindings) const {
  Dim sum = constant_;
  for (const Term& t : DimPolynomial::terms_of(*this)) {
    Dim term = t.coefficient;
    for (const Factor& f : t.factors) {
      const Dim value = substituted(*f.atom, bindings);
      for (int p = 0; p < f.power; ++p) term = term * value;
    }
    sum = sum + term;
  }
  return sum;
}

std::vector<std::string> Dim::symbols() const {
  std::set<std::string> names;
  collect(*this, names);
  return {names.begin(), names.end()};
}

std::vector<DimTerm> terms(const Dim& d) {
  std::vector<DimTerm> out;
  for (const Term& t : DimPolynomial::terms_of(d)) {
    DimTerm term{t.coefficient};
    for (const Factor& f : t.factors) {
      const auto kind = static_cast<DimFactor::Kind>(f.atom->kind);
      term.factors.push_back({kind, f.atom->name, f.atom->inner, f.atom->divisor, f.power});
    }
    out.push_back(std::move(term));
  }
  if (const std::int64_t c = DimPolynomial::constant_of(d); c != 0) out.push_back({c});
  return out;
}

Dim element_count(const Shape& shape) {
  Dim count = 1;
  for (const Dim& d : shape)
    if (d == 0) return 0;  // whatever the others' product would overflow to
  for (const Dim& d : shape) count = count * d;
  return count;
}

bool is_constant(const Shape& shape) {
  for (const Dim& d : shape)
    if (!d.is_constant()) return false;
  return true;
}

std::vector<std::int64_t> constant_shape(const Shape& shape) {
  std::vector<std::int64_t> values;
  values.reserve(shape.size());
  for (const Dim& d : shape) values.push_back(d.constant());
  return values;
}

std::string to_string(const Shape& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? "," : "") + shape[i].to_string();
  return s + "]";
}

Shape substitute(const Shape& shape, const Bindings& bindings) {
  Shape result;
  result.reserve(shape.size());
  for (const Dim& d : shape) result.push_back(d.substitute(bindings));
  return result;
}

}  // namespace rlx
