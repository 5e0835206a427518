// Dimensions: constants or integer polynomials of symbols, in canonical form, and what can be proved about them.
#pragma once
#include <rlx/ir/export.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rlx {

/// What is known of a symbol: inclusive bounds and a divisor of every value it takes.
struct SymbolInfo {
  std::int64_t lower = 0;
  std::int64_t upper = INT64_MAX;
  std::int64_t divisor = 1;
  bool operator==(const SymbolInfo&) const = default;
};
/// The symbols of a graph by name, sorted.
using SymbolTable = std::map<std::string, SymbolInfo, std::less<>>;
/// Values given to symbols when a program is specialised or called.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

namespace detail {
struct DimPolynomial;
}

/// A constant, or a sum of products of symbols, `floordiv(d, c)` and `mod(d, c)` with constants c > 0. Canonical: equal
/// polynomials compare equal. Overflow of a coefficient, more than 1024 factors or 32 nested floordiv and mod throw
/// ArgumentError.
class RLX_API Dim {
 public:
  Dim(std::int64_t constant = 0) : constant_(constant) {}  // NOLINT: implicit, so that shapes are written {2, n}
  static Dim symbol(std::string_view name);

  bool is_constant() const { return !polynomial_; }
  /// The constant value; throws ArgumentError, naming the expression, when it depends on a symbol.
  std::int64_t constant() const;
  /// Value under `bindings`; throws ArgumentError naming the first unbound symbol.
  std::int64_t evaluate(const Bindings& bindings) const;
  Dim substitute(const Bindings& bindings) const;
  /// Names of the symbols it depends on, sorted, without repeats.
  std::vector<std::string> symbols() const;

  friend RLX_API Dim operator+(const Dim& a, const Dim& b);
  friend RLX_API Dim operator-(const Dim& a, const Dim& b);
  friend RLX_API Dim operator*(const Dim& a, const Dim& b);
  friend RLX_API Dim floordiv(const Dim& a, std::int64_t divisor);
  friend RLX_API Dim mod(const Dim& a, std::int64_t divisor);
  friend RLX_API bool operator==(const Dim& a, const Dim& b);
  /// "4", "n", "2*n+1", "floordiv(n, 2)", "m*n-3": what parse reads.
  std::string to_string() const;
  /// Reads the text form of one dimension; throws FormatError (file empty) with the offset in `text`.
  static Dim parse(std::string_view text);

 private:
  friend struct detail::DimPolynomial;
  std::int64_t constant_ = 0;
  std::shared_ptr<const detail::DimPolynomial> polynomial_;  ///< Null for a constant.
};

/// What a term of a dimension multiplies: a symbol, or the floor quotient or remainder of `inner` by a constant, to a
/// power.
struct DimFactor {
  enum class Kind : std::uint8_t { symbol, floordiv, mod } kind = Kind::symbol;
  std::string symbol{};
  Dim inner{};
  std::int64_t divisor = 1;
  int power = 1;
};
/// coefficient * product of factors.
struct DimTerm {
  std::int64_t coefficient = 0;
  std::vector<DimFactor> factors{};
};
/// What `d` is the sum of, for code that computes it at run time; the constant, where it is not 0, is a term without
/// factors.
RLX_API std::vector<DimTerm> terms(const Dim& d);

/// Inclusive bounds of `d` over all values of its symbols; saturates at the limits of int64.
struct DimBounds {
  std::int64_t lower, upper;
};
RLX_API DimBounds bounds(const Dim& d, const SymbolTable& symbols);
/// Largest known divisor of every value of `d` (0 for the constant 0).
RLX_API std::int64_t divisor(const Dim& d, const SymbolTable& symbols);

enum class Relation { equal, less_equal };
/// A condition on symbols that a program's guards check when it is called.
struct Predicate {
  Dim lhs, rhs;
  Relation relation = Relation::equal;
  RLX_API std::string to_string() const;
  RLX_API bool holds(const Bindings& bindings) const;
};

/// Answer of a constraint or of a record: yes, no (with the reason), or yes if `predicates` hold at run time.
struct Answer {
  enum class Kind { yes, no, needs } kind = Kind::yes;
  std::string why{};
  std::vector<Predicate> predicates{};

  Answer() = default;
  Answer(bool holds) : kind(holds ? Kind::yes : Kind::no) {}  // NOLINT: constraints are written as plain conditions
  static Answer no(std::string why) {
    Answer a{false};
    a.why = std::move(why);
    return a;
  }
  static Answer needs(Predicate p) {
    Answer a;
    a.kind = Kind::needs;
    a.predicates.push_back(std::move(p));
    return a;
  }
  bool is_no() const { return kind == Kind::no; }
  /// Both must hold; the first refusal wins, needed predicates add up.
  RLX_API friend Answer operator&&(Answer a, Answer b);
};

/// Symbols without an entry in `symbols` have the bounds of a default SymbolInfo.
RLX_API Answer prove_equal(const Dim& a, const Dim& b, const SymbolTable& symbols = {});
RLX_API Answer prove_less_equal(const Dim& a, const Dim& b, const SymbolTable& symbols = {});

/// Outermost dimension first.
using Shape = std::vector<Dim>;
RLX_API Dim element_count(const Shape& shape);
RLX_API bool is_constant(const Shape& shape);
/// The constant dimensions; throws ArgumentError when one depends on a symbol.
RLX_API std::vector<std::int64_t> constant_shape(const Shape& shape);
RLX_API std::string to_string(const Shape& shape);  ///< "[2,n]"
RLX_API Shape substitute(const Shape& shape, const Bindings& bindings);

}  // namespace rlx
