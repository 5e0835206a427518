// The inside of a Dim that depends on symbols, for the files that build, print and bound it.
#pragma once
#include <rlx/ir/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rlx::detail {

class TextCursor;

/// What a term multiplies: a symbol, or the floor quotient or remainder of `inner` by a constant.
struct Atom {
  enum class Kind { symbol, floordiv, mod } kind;  ///< In the order of DimFactor::Kind.
  std::string name{};                              ///< Of a symbol.
  Dim inner{};               ///< Else; never constant, and reduced as floordiv() and mod() leave it.
  std::int64_t divisor = 1;  ///< Above 1 for floordiv and mod.
};

struct Factor {
  std::shared_ptr<const Atom> atom;
  int power;
};

/// coefficient * product of factors; the factors sorted, each atom once.
struct Term {
  std::vector<Factor> factors;
  std::int64_t coefficient;
};

/// The terms that are not constant, sorted, at least one; the constant is in the Dim.
struct DimPolynomial {
  std::vector<Term> terms;
  std::size_t size;  ///< Atoms to print, those inside atoms included.
  int depth;         ///< Nesting of floordiv and mod.

  /// Empty for a constant.
  static const std::vector<Term>& terms_of(const Dim& d);
  static std::int64_t constant_of(const Dim& d) { return d.constant_; }
  static const DimPolynomial* of(const Dim& d) { return d.polynomial_.get(); }
  /// Sorts and merges `terms`, whose factors are sorted already. Throws ArgumentError when the result is too large.
  static Dim make(std::vector<Term> terms, std::int64_t constant);
};

// Limits that no sensible shape meets: they bound the work that a hostile text can ask for.
inline constexpr std::size_t max_dim_size = 1024;
inline constexpr int max_dim_depth = 32;

/// Total orders, the same in every run; they decide how a Dim is printed.
int compare(const Atom& a, const Atom& b);
int compare(const Dim& a, const Dim& b);

Dim atom_dim(Atom atom);
/// Rewrites every remainder as x - c*floordiv(x, c) and gives floordiv nonnegative coefficients below c: fewer distinct
/// forms of one function than the printed one, but worse bounds. Throws ArgumentError on overflow.
Dim expand(const Dim& d);

/// Reads one dimension and stops behind it.
Dim parse_dim(TextCursor& cursor);

/// Overflow throws ArgumentError.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_sub(std::int64_t a, std::int64_t b);
std::int64_t checked_mul(std::int64_t a, std::int64_t b);
/// Quotient rounded down, and its remainder in [0, c); c > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t c) { return a / c - (a % c < 0); }
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t c) { return a % c + (a % c < 0 ? c : 0); }

}  // namespace rlx::detail
