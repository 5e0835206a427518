// The text form of dimensions: sums of products of integers, symbols, floordiv(d, c), mod(d, c) and parentheses.
#include "ir/dim_polynomial.hpp"
#include "ir/text_cursor.hpp"

#include <utility>

namespace rlx {
namespace detail {
namespace {

class DimParser {
 public:
  explicit DimParser(TextCursor& cursor) : in_(cursor) {}

  Dim sum() {
    if (++depth_ > max_depth) TextCursor::fail_at(in_.offset(), "dimension is nested too deeply");
    const std::size_t start = in_.offset();
    // Terms are gathered and merged now and then: adding one by one would cost the square of the length.
    std::vector<Term> terms;
    std::int64_t constant = 0;
    bool negative = in_.accept('-');
    try {
      for (bool more_terms = true; more_terms;) {
        const Dim d = product(negative);
        constant = checked_add(constant, DimPolynomial::constant_of(d));
        const std::vector<Term>& more = DimPolynomial::terms_of(d);
        terms.insert(terms.end(), more.begin(), more.end());
        if (terms.size() > 4 * max_dim_size) terms = DimPolynomial::terms_of(DimPolynomial::make(std::move(terms), 0));
        negative = in_.accept('-');
        more_terms = negative || in_.accept('+');
      }
      --depth_;
      return DimPolynomial::make(std::move(terms), constant);
    } catch (const ArgumentError& e) {  // overflow, or too large
      TextCursor::fail_at(start, e.what());
    }
  }

 private:
  // The printer nests max_dim_depth deep at most.
  static constexpr int max_depth = 2 * max_dim_depth;

  Dim product(bool negative) {
    in_.skip_space();
    // The sign belongs to a leading integer, else -2^63 could not be read.
    Dim d = is_digit(in_.peek()) ? Dim(in_.digits(negative)) : negative ? factor() * -1 : factor();
    while (in_.accept('*')) d = d * factor();
    return d;
  }

  Dim factor() {
    in_.skip_space();
    if (is_digit(in_.peek())) return in_.digits();
    if (in_.accept('(')) {
      Dim d = sum();
      in_.expect(')');
      return d;
    }
    const std::string_view name = in_.name();
    if (name.empty()) in_.fail("a dimension");
    if ((name == "floordiv" || name == "mod") && in_.accept('(')) {
      const Dim d = sum();
      in_.expect(',');
      in_.skip_space();
      const std::size_t at = in_.offset();
      const std::int64_t divisor = in_.integer();
      if (divisor <= 0) TextCursor::fail("a positive divisor", at);
      in_.expect(')');
      return name == "mod" ? mod(d, divisor) : floordiv(d, divisor);
    }
    return Dim::symbol(name);
  }

  TextCursor& in_;
  int depth_ = 0;
};

void print(const Dim& d, std::string& s);

void print(const Atom& atom, std::string& s) {
  if (atom.kind == Atom::Kind::symbol) {
    s += atom.name;
    return;
  }
  s += atom.kind == Atom::Kind::floordiv ? "floordiv(" : "mod(";
  print(atom.inner, s);
  s += ", " + std::to_string(atom.divisor) + ")";
}

void print(const Dim& d, std::string& s) {
  bool first = true;
  for (const Term& t : DimPolynomial::terms_of(d)) {
    if (t.coefficient > 0 && !first) s += '+';
    if (t.coefficient == -1) s += '-';
    else if (t.coefficient != 1) s += std::to_string(t.coefficient) + "*";
    bool star = false;
    for (const Factor& f : t.factors)
      for (int p = 0; p < f.power; ++p) {
        if (std::exchange(star, true)) s += '*';
        print(*f.atom, s);
      }
    first = false;
  }
  const std::int64_t k = DimPolynomial::constant_of(d);
  if (k > 0 && !first) s += '+';
  if (k != 0 || first) s += std::to_string(k);
}

}  // namespace

Dim parse_dim(TextCursor& cursor) { return DimParser(cursor).sum(); }

}  // namespace detail

std::string Dim::to_string() const {
  std::string s;
  detail::print(*this, s);
  return s;
}

Dim Dim::parse(std::string_view text) {
  return detail::inside(TextReader(text), 0, text, "a dimension", detail::parse_dim);
}

}  // namespace rlx
