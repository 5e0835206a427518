// Samples: the cases that prove an operator. Conformance generates values, gradients, batching and refusals from them.
#pragma once
#include <rlx/ir/builder.hpp>

#include <string_view>
#include <vector>

namespace rlx {

/// How a sample's operand is filled where no literal is given.
enum class Fill : std::uint8_t {
  uniform,            ///< [low, high), rounded to the type; integers inclusive of both ends.
  index,              ///< Integers in [0, high): positions in a dimension.
  positive_definite,  ///< Symmetric or Hermitian, eigenvalues in about [0.5, n + 1].
  well_conditioned,   ///< Diagonally dominant, both in dense and in sparse form.
  lower_triangular,   ///< Diagonal in [1, 2].
  permutation,        ///< Of 0 .. n-1 along the last dimension.
  offsets,            ///< Ascending from 0 to `high` along one dimension.
  distinct,           ///< A shuffled arithmetic progression over [low, high]: no ties.
  key,                ///< 64 random bits, for random number generators.
};

struct SampleOperand {
  SampleOperand(Type t) : type(std::move(t)) {}              // NOLINT: {f32({2, 3}), ...} reads as a list of types
  SampleOperand(TensorType t) : type(Type(std::move(t))) {}  // NOLINT
  SampleOperand(SparseType t) : type(Type(std::move(t))) {}  // NOLINT
  SampleOperand(TensorType t, std::vector<double> v) : type(Type(std::move(t))), literal(std::move(v)) {}
  SampleOperand(Type t, Fill f, double l = -1, double h = 1) : type(std::move(t)), fill(f), low(l), high(h) {}
  Type type;
  Fill fill = Fill::uniform;
  double low = -1, high = 1;
  /// Row-major elements, (real, imaginary) pairs for complex ones; overrides `fill`.
  std::vector<double> literal{};
  bool differentiable = true;  ///< Checked by finite differences where the dtype is f64.
};

/// What can be said of a sample whatever its attributes are.
struct SampleBase {
  std::vector<SampleOperand> in{};
  std::vector<std::vector<double>> expect{};  ///< One literal a result, as in SampleOperand::literal.
  std::vector<RegionBody> regions{};
  std::string_view breaks{};  ///< Id of the constraint (or "kind", "dtype", "arity") that this instance must break.
  /// Allowed error in units of the result's scale: |got - expected| <= rtol * max|expected|; 0: exact.
  /// Negative: the default of the result's dtype (8 ulp).
  double rtol = -1;
  bool gradients = true;  ///< False where the operator is not differentiable at these points.
};

template <class A>
struct Sample : SampleBase {
  A attrs{};
};

/// Reads as a sentence: sample<A>({f32({2, 3})}, {.axis = 1}).expects({{...}}).within(1e-6).
template <class A>
struct SampleBuilder : Sample<A> {
  SampleBuilder&& expects(std::vector<std::vector<double>> e) && {
    this->expect = std::move(e);
    return std::move(*this);
  }
  SampleBuilder&& breaking(std::string_view id) && {
    this->breaks = id;
    return std::move(*this);
  }
  SampleBuilder&& within(double rtol) && {
    this->rtol = rtol;
    return std::move(*this);
  }
  SampleBuilder&& exact() && {
    this->rtol = 0;
    return std::move(*this);
  }
  SampleBuilder&& without_gradients() && {
    this->gradients = false;
    return std::move(*this);
  }
  SampleBuilder&& with(RegionBody r) && {
    this->regions.push_back(std::move(r));
    return std::move(*this);
  }
};
template <class A>
SampleBuilder<A> sample(std::vector<SampleOperand> in, A attrs = {}) {
  SampleBuilder<A> s;
  s.in = std::move(in);
  s.attrs = std::move(attrs);
  return s;
}

}  // namespace rlx
