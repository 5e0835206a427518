// Index arithmetic of kernel bodies: affine forms over loop indices, so that reshapes, slices and transposes of
// contiguous data stay recognisably contiguous, and divisions cancel where ranges prove it.
#pragma once
#include <rlx/ir/builder.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace rlx::compile {

/// constant + sum of coefficient * value; each value is an i64 scalar of the body known to lie in [0, extent).
class Index {
 public:
  struct Term {
    ValueId value;
    std::int64_t coefficient, extent;
    auto operator<=>(const Term&) const = default;
  };
  Index(std::int64_t constant = 0) : constant_(constant) {}  // NOLINT: indices are written as numbers
  /// `value` lies in [0, extent). An extent of 1 is the constant 0.
  static Index of(Value value, std::int64_t extent);

  bool is_constant() const { return terms_.empty(); }
  std::int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }
  std::int64_t lower() const;  ///< Least and greatest values that the ranges allow.
  std::int64_t upper() const;

  friend Index operator+(const Index& a, const Index& b);
  friend Index operator*(const Index& a, std::int64_t factor);
  auto operator<=>(const Index&) const = default;

 private:
  std::int64_t constant_ = 0;
  std::vector<Term> terms_{};  ///< By value, no zero coefficients.
};

/// How far a dimension goes, as code knows it: by a number in its text, or by one that each launch hands over
/// (lir.size), so that programs which differ in it run the same code.
struct Extent {
  std::int64_t value = 0;
  bool is_handed_over = false;
  Extent(std::int64_t v, bool handed_over = false) : value(v), is_handed_over(handed_over) {}  // NOLINT: as Index

  /// Of a leading dimension, which tells how many things there are and no stride depends on: handed over, but where it
  /// is so small that it is rather part of what a thing is.
  static Extent leading(std::int64_t v) { return {v, v >= 32}; }
  /// Of dimension `d` of an array.
  static Extent of(const std::vector<std::int64_t>& shape, std::size_t d) {
    return d == 0 ? leading(shape[0]) : Extent(shape[d]);
  }
  friend Extent operator+(Extent e, std::int64_t more) { return {e.value + more, e.is_handed_over}; }
};

/// Emits index arithmetic into the body that is being built.
class IndexEmitter {
 public:
  explicit IndexEmitter(Builder& b) : b_(b) {}

  Value emit(const Index& i);  ///< As an i64 scalar.
  Value number(std::int64_t v);
  Value number(Extent e);
  /// Where a range over it ends.
  Index end(Extent e) { return e.is_handed_over ? Index::of(number(e), e.value + 1) : Index(e.value); }
  /// Quotient and remainder by a positive constant; `i` must not be negative.
  Index divide(const Index& i, std::int64_t divisor);
  Index remainder(const Index& i, std::int64_t divisor);
  /// An arbitrary i64 scalar limited to [0, extent).
  Index clamped(Value i, Extent extent);
  Index clamped(const Index& i, Extent extent);
  /// Whether 0 <= i < extent, as a bool scalar.
  Value inside(const Index& i, Extent extent);

  Index linear(const std::vector<Index>& coordinates, const std::vector<std::int64_t>& shape);
  std::vector<Index> coordinates(const Index& linear, const std::vector<std::int64_t>& shape);

 private:
  Builder& b_;
};

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape);

}  // namespace rlx::compile
