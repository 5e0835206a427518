// Canonical form of dimensions: sums of sorted terms, and the reduction of floordiv and mod by constants.
#include "ir/dim_polynomial.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace rlx::detail {

[[noreturn]] static void overflow() { throw ArgumentError("a dimension overflows 64 bits"); }

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) overflow();
  return r;
}
std::int64_t checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) overflow();
  return r;
}
std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) overflow();
  return r;
}

// --- Orders
// -----------------------------------------------------------------------------------------------------------

template <class T>
static int order(const T& a, const T& b) {
  return a < b ? -1 : b < a;
}

int compare(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (int c = order(a.kind, b.kind)) return c;
  if (a.kind == Atom::Kind::symbol) return order(a.name, b.name);
  if (int c = compare(a.inner, b.inner)) return c;
  return order(a.divisor, b.divisor);
}

static int degree(const Term& t) {
  return std::accumulate(t.factors.begin(), t.factors.end(), 0, [](int sum, const Factor& f) { return sum + f.power; });
}

/// By the product alone: higher degrees first, as polynomials are written.
static int compare_products(const Term& a, const Term& b) {
  if (int c = order(degree(b), degree(a))) return c;
  for (std::size_t i = 0; i < std::min(a.factors.size(), b.factors.size()); ++i) {
    if (int c = compare(*a.factors[i].atom, *b.factors[i].atom)) return c;
    if (int c = order(b.factors[i].power, a.factors[i].power)) return c;
  }
  return order(a.factors.size(), b.factors.size());
}

int compare(const Dim& a, const Dim& b) {
  const auto& x = DimPolynomial::terms_of(a);
  const auto& y = DimPolynomial::terms_of(b);
  if (&x != &y) {
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (int c = compare_products(x[i], y[i])) return c;
      if (int c = order(x[i].coefficient, y[i].coefficient)) return c;
    }
    if (int c = order(x.size(), y.size())) return c;
  }
  return order(DimPolynomial::constant_of(a), DimPolynomial::constant_of(b));
}

// --- Construction
// -----------------------------------------------------------------------------------------------------

const std::vector<Term>& DimPolynomial::terms_of(const Dim& d) {
  static const std::vector<Term> none;
  return d.polynomial_ ? d.polynomial_->terms : none;
}

Dim DimPolynomial::make(std::vector<Term> terms, std::int64_t constant) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return compare_products(a, b) < 0; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < terms.size();) {
    std::int64_t sum = 0;
    std::size_t j = i;
    for (; j < terms.size() && compare_products(terms[i], terms[j]) == 0; ++j)
      sum = checked_add(sum, terms[j].coefficient);
    if (sum != 0) {
      if (kept != i) terms[kept] = std::move(terms[i]);
      terms[kept++].coefficient = sum;
    }
    i = j;
  }
  terms.resize(kept);
  Dim d(constant);
  if (terms.empty()) return d;
  std::size_t size = 0;
  int depth = 0;
  for (const Term& t : terms)
    for (const Factor& f : t.factors) {
      const DimPolynomial* inner = of(f.atom->inner);
      size += (1 + (inner ? inner->size : 0)) * static_cast<std::size_t>(f.power);
      depth = std::max(depth, inner ? 1 + inner->depth : 0);
    }
  if (size > max_dim_size || depth > max_dim_depth) throw ArgumentError("a dimension has too many terms");
  d.polynomial_ = std::make_shared<const DimPolynomial>(DimPolynomial{std::move(terms), size, depth});
  return d;
}

Dim atom_dim(Atom atom) {
  std::vector<Term> terms(1);
  terms[0] = {{{std::make_shared<const Atom>(std::move(atom)), 1}}, 1};
  return DimPolynomial::make(std::move(terms), 0);
}

static Term product(const Term& a, const Term& b) {
  Term t{{}, checked_mul(a.coefficient, b.coefficient)};
  auto i = a.factors.begin(), j = b.factors.begin();
  while (i != a.factors.end() || j != b.factors.end()) {
    const int c = i == a.factors.end() ? 1 : j == b.factors.end() ? -1 : compare(*i->atom, *j->atom);
    if (c == 0) t.factors.push_back({i->atom, i->power + j->power});
    else t.factors.push_back(c < 0 ? *i : *j);
    i += c <= 0;
    j += c >= 0;
  }
  return t;
}

static Dim scaled(const Dim& d, std::int64_t by) {
  std::vector<Term> terms = DimPolynomial::terms_of(d);
  for (Term& t : terms) t.coefficient = checked_mul(t.coefficient, by);
  return DimPolynomial::make(std::move(terms), checked_mul(DimPolynomial::constant_of(d), by));
}

// --- floordiv and mod by constants
// ------------------------------------------------------------------------------------

/// Greatest common divisor of `c` and the coefficients of all terms; at least 1, since c > 0.
static std::int64_t content(const std::vector<Term>& terms, std::int64_t c) {
  // No coefficient is the least int64 here: all are below c in magnitude.
  for (const Term& t : terms) c = std::gcd(c, t.coefficient);
  return c;
}

static void divide(std::vector<Term>& terms, std::int64_t g) {
  for (Term& t : terms) t.coefficient /= g;
}

/// The atom if `d` is it alone plus a constant.
static const Atom* lone_atom(const std::vector<Term>& terms, Atom::Kind kind) {
  if (terms.size() != 1 || terms[0].coefficient != 1 || degree(terms[0]) != 1) return nullptr;
  const Atom& atom = *terms[0].factors[0].atom;
  return atom.kind == kind ? &atom : nullptr;
}

/// `positive`: leave nonnegative coefficients inside, else ones of the original's sign, which bounds see through
/// better.
static Dim reduced_floordiv(const Dim& d, std::int64_t c, bool positive) {
  if (c == 1) return d;
  std::vector<Term> outside, inside;
  for (const Term& t : DimPolynomial::terms_of(d)) {
    const std::int64_t q = positive ? floor_div(t.coefficient, c) : t.coefficient / c;
    const std::int64_t r = t.coefficient - q * c;
    if (q) outside.push_back({t.factors, q});
    if (r) inside.push_back({t.factors, r});
  }
  std::int64_t k = DimPolynomial::constant_of(d);
  const Dim whole = DimPolynomial::make(std::move(outside), floor_div(k, c));
  if (inside.empty()) return whole;
  k = floor_mod(k, c);
  const std::int64_t g = content(inside, c);  // floor((g*x + k) / (g*c)) = floor((x + floor(k/g)) / c)
  divide(inside, g);
  k /= g;
  c /= g;  // still above 1: the coefficients are not multiples of c
  if (const Atom* nested =
          lone_atom(inside, Atom::Kind::floordiv)) {  // floor((floor(x/b) + k) / c) = floor((x + k*b) / (b*c))
    std::int64_t shift, divisor;
    const std::int64_t b = nested->divisor, constant = DimPolynomial::constant_of(nested->inner);
    if (!__builtin_mul_overflow(b, c, &divisor) && !__builtin_mul_overflow(k, b, &shift) &&
        !__builtin_add_overflow(shift, constant, &shift))
      return whole +
             reduced_floordiv(DimPolynomial::make(DimPolynomial::terms_of(nested->inner), shift), divisor, positive);
  }
  return whole + atom_dim({Atom::Kind::floordiv, {}, DimPolynomial::make(std::move(inside), k), c});
}

static std::int64_t product_mod(std::int64_t a, std::int64_t b, std::int64_t c) {
  __extension__ using Wide = __int128;  // a*b need not fit 64 bits
  return floor_mod(static_cast<std::int64_t>(Wide{a} * b % c), c);
}

static Dim reduced_mod(const Dim& d, std::int64_t c) {
  if (c == 1) return 0;
  std::vector<Term> inside;
  for (const Term& t : DimPolynomial::terms_of(d))
    if (const std::int64_t r = floor_mod(t.coefficient, c)) inside.push_back({t.factors, r});
  std::int64_t k = floor_mod(DimPolynomial::constant_of(d), c);
  for (std::size_t i = 0; i < inside.size(); ++i) {  // r*mod(x, b) = r*x modulo c where c divides r*b
    if (degree(inside[i]) != 1 || inside[i].factors[0].atom->kind != Atom::Kind::mod) continue;
    const std::shared_ptr<const Atom> atom = inside[i].factors[0].atom;
    const std::int64_t r = inside[i].coefficient;
    if (atom->divisor % (c / std::gcd(r, c)) != 0) continue;
    inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(i));
    for (const Term& t : DimPolynomial::terms_of(atom->inner))
      inside.push_back({t.factors, product_mod(t.coefficient, r, c)});
    k = checked_add(k, product_mod(DimPolynomial::constant_of(atom->inner), r, c));
    return reduced_mod(DimPolynomial::make(std::move(inside), k), c);
  }
  if (inside.empty()) return k;
  const std::int64_t g = content(inside, c);  // mod(g*x + k, g*c) = g*mod(x + floor(k/g), c) + mod(k, g)
  divide(inside, g);
  Dim rest = atom_dim({Atom::Kind::mod, {}, DimPolynomial::make(std::move(inside), k / g), c / g});
  return scaled(rest, g) + k % g;
}

Dim expand(const Dim& d) {
  if (d.is_constant()) return d;
  Dim sum = DimPolynomial::constant_of(d);
  for (const Term& t : DimPolynomial::terms_of(d)) {
    Dim term = t.coefficient;
    for (const Factor& f : t.factors) {
      Dim value = 0;
      if (f.atom->kind == Atom::Kind::symbol) {
        value = atom_dim(*f.atom);
      } else {
        const Dim inner = expand(f.atom->inner);
        const Dim quotient = reduced_floordiv(inner, f.atom->divisor, true);
        value = f.atom->kind == Atom::Kind::floordiv ? quotient : inner - scaled(quotient, f.atom->divisor);
      }
      for (int i = 0; i < f.power; ++i) term = term * value;
    }
    sum = sum + term;
  }
  return sum;
}

}  // namespace rlx::detail

namespace rlx {
using detail::DimPolynomial;
using detail::Term;

Dim operator+(const Dim& a, const Dim& b) {
  const std::int64_t constant = detail::checked_add(DimPolynomial::constant_of(a), DimPolynomial::constant_of(b));
  std::vector<Term> terms = DimPolynomial::terms_of(a);
  const std::vector<Term>& more = DimPolynomial::terms_of(b);
  terms.insert(terms.end(), more.begin(), more.end());
  return DimPolynomial::make(std::move(terms), constant);
}

Dim operator-(const Dim& a, const Dim& b) {
  const std::int64_t constant = detail::checked_sub(DimPolynomial::constant_of(a), DimPolynomial::constant_of(b));
  std::vector<Term> terms = DimPolynomial::terms_of(a);
  for (Term t : DimPolynomial::terms_of(b)) {
    t.coefficient = detail::checked_mul(t.coefficient, -1);
    terms.push_back(std::move(t));
  }
  return DimPolynomial::make(std::move(terms), constant);
}

Dim operator*(const Dim& a, const Dim& b) {
  const auto& x = DimPolynomial::terms_of(a);
  const auto& y = DimPolynomial::terms_of(b);
  if (a.is_constant()) return detail::scaled(b, DimPolynomial::constant_of(a));
  if (b.is_constant()) return detail::scaled(a, DimPolynomial::constant_of(b));
  const std::int64_t p = DimPolynomial::constant_of(a), q = DimPolynomial::constant_of(b);
  if (x.size() * y.size() > 16 * detail::max_dim_size) throw ArgumentError("a dimension has too many terms");
  std::vector<Term> terms;
  for (const Term& s : x)
    for (const Term& t : y) terms.push_back(product(s, t));
  for (Term s : x)
    if (q) {
      s.coefficient = detail::checked_mul(s.coefficient, q);
      terms.push_back(std::move(s));
    }
  for (Term t : y)
    if (p) {
      t.coefficient = detail::checked_mul(t.coefficient, p);
      terms.push_back(std::move(t));
    }
  return DimPolynomial::make(std::move(terms), detail::checked_mul(p, q));
}

static void check_divisor(std::int64_t c) {
  if (c <= 0) throw ArgumentError("a dimension is divided by " + std::to_string(c) + ", which is not positive");
}

Dim floordiv(const Dim& a, std::int64_t divisor) {
  check_divisor(divisor);
  return detail::reduced_floordiv(a, divisor, false);
}

Dim mod(const Dim& a, std::int64_t divisor) {
  check_divisor(divisor);
  return detail::reduced_mod(a, divisor);
}

bool operator==(const Dim& a, const Dim& b) { return detail::compare(a, b) == 0; }

}  // namespace rlx
