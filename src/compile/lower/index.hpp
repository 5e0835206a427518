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

/// Emits index arithmetic into the body that is being built.
class IndexEmitter {
 public:
  explicit IndexEmitter(Builder& b) : b_(b) {}

  Value emit(const Index& i);  ///< As an i64 scalar.
  Value number(std::int64_t v);
  /// Quotient and remainder by a positive constant; `i` must not be negative.
  Index divide(const Index& i, std::int64_t divisor);
  Index remainder(const Index& i, std::int64_t divisor);
  /// An arbitrary i64 scalar limited to [0, extent).
  Index clamped(Value i, std::int64_t extent);
  Index clamped(const Index& i, std::int64_t extent);
  /// Whether 0 <= i < extent, as a bool scalar.
  Value inside(const Index& i, std::int64_t extent);

  Index linear(const std::vector<Index>& coordinates, const std::vector<std::int64_t>& shape);
  std::vector<Index> coordinates(const Index& linear, const std::vector<std::int64_t>& shape);

 private:
  Builder& b_;
};

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape);

}  // namespace rlx::compile
