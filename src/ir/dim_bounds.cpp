// What can be proved of dimensions: bounds by interval arithmetic, divisors, and from both equality and order.
#include <rlx/ir/shape.hpp>

#include "ir/dim_polynomial.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace rlx {
using detail::Atom;
using detail::DimPolynomial;
using detail::Factor;
using detail::Term;

namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

const SymbolInfo& info_of(const std::string& name, const SymbolTable& symbols) {
  static const SymbolInfo unknown;
  const auto it = symbols.find(name);
  return it == symbols.end() ? unknown : it->second;
}

// --- Divisors
// ---------------------------------------------------------------------------------------------------------

std::uint64_t magnitude(std::int64_t v) {
  return v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
}

std::uint64_t divisor_of(const Dim& d, const SymbolTable& symbols);

std::uint64_t divisor_of(const Atom& atom, const SymbolTable& symbols) {
  if (atom.kind == Atom::Kind::symbol) {
    const SymbolInfo& info = info_of(atom.name, symbols);
    if (info.lower == info.upper) return magnitude(info.lower);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(info.divisor, 1));
  }
  const std::uint64_t inner = divisor_of(atom.inner, symbols), c = magnitude(atom.divisor);
  if (atom.kind == Atom::Kind::floordiv) return inner % c == 0 ? inner / c : 1;
  return inner % c == 0 ? 0 : std::gcd(inner, c);
}

/// Of the part that depends on symbols.
std::uint64_t divisor_of_terms(const Dim& d, const SymbolTable& symbols) {
  std::uint64_t all = 0;
  for (const Term& t : DimPolynomial::terms_of(d)) {
    std::uint64_t product = magnitude(t.coefficient);
    for (const Factor& f : t.factors) {
      const std::uint64_t g = divisor_of(*f.atom, symbols);
      for (int p = 0; p < f.power; ++p) {
        std::uint64_t next;
        if (!__builtin_mul_overflow(product, g, &next)) product = next;  // else it stays: a divisor all the same
      }
    }
    all = std::gcd(all, product);
  }
  return all;
}

std::uint64_t divisor_of(const Dim& d, const SymbolTable& symbols) {
  return std::gcd(divisor_of_terms(d, symbols), magnitude(DimPolynomial::constant_of(d)));
}

// --- Intervals
// --------------------------------------------------------------------------------------------------------

/// An end of an interval: infinite, or `v`, which fits 64 bits.
struct End {
  int infinite;
  Wide v;
};
struct Interval {
  End lower, upper;
};

bool operator<(End a, End b) { return a.infinite != b.infinite ? a.infinite < b.infinite : a.v < b.v; }

End times(End a, End b) {
  const int sign =
      (a.infinite ? a.infinite : (a.v > 0) - (a.v < 0)) * (b.infinite ? b.infinite : (b.v > 0) - (b.v < 0));
  if (a.infinite || b.infinite) return {sign, 0};
  return {0, a.v * b.v};
}

/// Ends outside int64 move outwards to infinity, or inwards to the limit, which is as true and fits.
End as_lower(End e) { return e.infinite ? e : e.v < int64_min ? End{-1, 0} : End{0, std::min<Wide>(e.v, int64_max)}; }
End as_upper(End e) { return e.infinite ? e : e.v > int64_max ? End{1, 0} : End{0, std::max<Wide>(e.v, int64_min)}; }

Interval sum(Interval a, Interval b) {
  const auto add = [](End x, End y) { return x.infinite ? x : y.infinite ? y : End{0, x.v + y.v}; };
  return {as_lower(add(a.lower, b.lower)), as_upper(add(a.upper, b.upper))};
}

Interval product(Interval a, Interval b) {
  const End ends[] = {times(a.lower, b.lower), times(a.lower, b.upper), times(a.upper, b.lower),
                      times(a.upper, b.upper)};
  return {as_lower(*std::min_element(ends, ends + 4)), as_upper(*std::max_element(ends, ends + 4))};
}

Interval exactly(Wide v) { return {{0, v}, {0, v}}; }

Interval power(Interval x, int p) {
  Interval r = exactly(1);
  for (int i = 0; i < p; ++i) r = product(r, x);
  if (p % 2 == 0 && r.lower < End{0, 0}) r.lower = {0, 0};  // the factors are one value, not several
  return r;
}

Interval intersection(Interval a, Interval b) { return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; }

Wide floor_div(Wide a, Wide c) { return a / c - (a % c < 0); }

/// The values in `x` that are k modulo g.
Interval congruent(Interval x, Wide k, std::uint64_t g) {
  if (g == 0) return exactly(k);
  const Wide m = g;
  if (!x.lower.infinite) x.lower = as_lower({0, k - floor_div(k - x.lower.v, m) * m});
  if (!x.upper.infinite) x.upper = as_upper({0, k + floor_div(x.upper.v - k, m) * m});
  return x;
}

Interval quotient(Interval x, Wide c) {
  if (!x.lower.infinite) x.lower.v = floor_div(x.lower.v, c);
  if (!x.upper.infinite) x.upper.v = floor_div(x.upper.v, c);
  return x;
}

Interval interval(const Dim& d, const SymbolTable& symbols);

Interval interval(const Atom& atom, const SymbolTable& symbols) {
  if (atom.kind == Atom::Kind::symbol) {
    const SymbolInfo& info = info_of(atom.name, symbols);
    const Interval x{{info.lower == int64_min ? -1 : 0, info.lower}, {info.upper == int64_max ? 1 : 0, info.upper}};
    return info.divisor > 1 ? congruent(x, 0, magnitude(info.divisor)) : x;
  }
  const Interval x = interval(atom.inner, symbols);
  const Wide c = atom.divisor;
  if (atom.kind == Atom::Kind::floordiv) return quotient(x, c);
  // Within one period the remainder is monotonic; else all remainders that the divisor leaves possible.
  if (!x.lower.infinite && !x.upper.infinite && floor_div(x.lower.v, c) == floor_div(x.upper.v, c)) {
    const Wide base = floor_div(x.lower.v, c) * c;
    return {{0, x.lower.v - base}, {0, x.upper.v - base}};
  }
  const Wide g = std::gcd(divisor_of(atom.inner, symbols), magnitude(atom.divisor));
  return {{0, 0}, {0, c - g}};
}

Interval interval(const Dim& d, const SymbolTable& symbols) {
  Interval all = exactly(DimPolynomial::constant_of(d));
  for (const Term& t : DimPolynomial::terms_of(d)) {
    Interval x = exactly(t.coefficient);
    for (const Factor& f : t.factors) x = product(x, power(interval(*f.atom, symbols), f.power));
    all = sum(all, x);
  }
  return all;
}

/// Clears denominators: each linear coef*floordiv(x, c) is coef*(x - r)/c with 0 <= r < c. That relates a quotient to
/// the other terms that share its symbols, which interval arithmetic alone cannot: floordiv(n, 2) <= n.
Interval relaxed(Dim d, const SymbolTable& symbols) {
  Interval slack = exactly(0);
  std::int64_t scale = 1;
  for (int round = 0; round < 8; ++round) {
    const auto& terms = DimPolynomial::terms_of(d);
    const auto linear = std::find_if(terms.begin(), terms.end(), [](const Term& t) {
      return t.factors.size() == 1 && t.factors[0].power == 1 && t.factors[0].atom->kind == Atom::Kind::floordiv;
    });
    if (linear == terms.end()) break;
    const std::shared_ptr<const Atom> atom = linear->factors[0].atom;
    const std::int64_t coefficient = linear->coefficient, c = atom->divisor;
    const Wide g = std::gcd(divisor_of(atom->inner, symbols), magnitude(c));
    const Interval rest{{0, 0}, {0, c - g}};
    scale = detail::checked_mul(scale, c);
    d = (d - detail::atom_dim(*atom) * coefficient) * c + atom->inner * coefficient;
    slack = sum(product(slack, exactly(c)), product(rest, exactly(-Wide{coefficient})));
  }
  Interval x = sum(interval(d, symbols), slack);
  if (!x.lower.infinite) x.lower.v = -floor_div(-x.lower.v, scale);
  if (!x.upper.infinite) x.upper.v = floor_div(x.upper.v, scale);
  return x;
}

/// The best of several forms of one function. Rewriting may overflow where the value does not; then there is one form
/// less.
Interval best_interval(const Dim& d, const SymbolTable& symbols) {
  Interval x = interval(d, symbols);
  if (d.is_constant()) return x;
  try {
    x = intersection(x, relaxed(d, symbols));
  } catch (const ArgumentError&) {}
  try {
    const Dim expanded = detail::expand(d);
    x = intersection(x, intersection(interval(expanded, symbols), relaxed(expanded, symbols)));
  } catch (const ArgumentError&) {}
  return congruent(x, DimPolynomial::constant_of(d), divisor_of_terms(d, symbols));
}

std::string range_text(const DimBounds& b) {
  const std::string low = b.lower == int64_min ? "-inf" : std::to_string(b.lower);
  const std::string high = b.upper == int64_max ? "inf" : std::to_string(b.upper);
  return "[" + low + ", " + high + "]";
}

}  // namespace

DimBounds bounds(const Dim& d, const SymbolTable& symbols) {
  const Interval x = best_interval(d, symbols);
  const auto end = [](End e) {
    return e.infinite ? (e.infinite < 0 ? int64_min : int64_max) : static_cast<std::int64_t>(e.v);
  };
  return {end(x.lower), end(x.upper)};
}

std::int64_t divisor(const Dim& d, const SymbolTable& symbols) {
  const std::uint64_t g = divisor_of(d, symbols);
  return g > static_cast<std::uint64_t>(int64_max) ? std::int64_t{1} << 62 : static_cast<std::int64_t>(g);
}

std::string Predicate::to_string() const {
  return lhs.to_string() + (relation == Relation::equal ? " == " : " <= ") + rhs.to_string();
}

bool Predicate::holds(const Bindings& bindings) const {
  const std::int64_t a = lhs.evaluate(bindings), b = rhs.evaluate(bindings);
  return relation == Relation::equal ? a == b : a <= b;
}

Answer operator&&(Answer a, Answer b) {
  if (a.is_no()) return a;
  if (b.is_no()) return b;
  if (b.kind == Answer::Kind::needs) a.kind = Answer::Kind::needs;
  a.predicates.insert(a.predicates.end(), std::make_move_iterator(b.predicates.begin()),
                      std::make_move_iterator(b.predicates.end()));
  return a;
}

/// With the range of the difference, which of two numbers anyone sees.
static std::string never_holds(const Predicate& p, const DimBounds& range) {
  const std::string text = p.to_string() + " never holds";
  if (p.lhs.is_constant() && p.rhs.is_constant()) return text;
  return text + ": the difference is in " + range_text(range);
}

Answer prove_equal(const Dim& a, const Dim& b, const SymbolTable& symbols) {
  if (a == b) return true;
  const Predicate predicate{a, b, Relation::equal};
  try {
    const Dim difference = a - b;
    const DimBounds range = bounds(difference, symbols);
    if (range.lower == 0 && range.upper == 0) return true;
    if (range.lower > 0 || range.upper < 0) return Answer::no(never_holds(predicate, range));
    const std::uint64_t g = divisor_of_terms(difference, symbols),
                        k = magnitude(DimPolynomial::constant_of(difference));
    if (g ? k % g != 0 : k != 0)
      return Answer::no(predicate.to_string() + " never holds: the sides differ modulo " + std::to_string(g));
  } catch (const ArgumentError&) {  // the difference has no 64-bit form
  }
  return Answer::needs(predicate);
}

Answer prove_less_equal(const Dim& a, const Dim& b, const SymbolTable& symbols) {
  if (a == b) return true;
  const Predicate predicate{a, b, Relation::less_equal};
  try {
    const DimBounds excess = bounds(a - b, symbols);
    if (excess.upper <= 0) return true;
    if (excess.lower > 0) return Answer::no(never_holds(predicate, excess));
  } catch (const ArgumentError&) {  // the difference has no 64-bit form
  }
  return Answer::needs(predicate);
}

}  // namespace rlx
