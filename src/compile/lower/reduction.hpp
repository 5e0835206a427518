// The index space of reductions, and the emission of lir.reduce, shared by the lowerings that sum.
#pragma once
#include "compile/lower/lower.hpp"

#include <rlx/ops/attributes/reduction.hpp>

#include <functional>
#include <vector>

namespace rlx::compile {

/// What a `reduce` node traverses: rows (positions of the kept dimensions) of `terms` elements each.
struct ReductionSpace {
  std::vector<std::int64_t> shape, kept, reduced;
  std::vector<std::size_t> kept_axes, reduced_axes;
  std::int64_t rows = 1, terms = 1;
  std::int64_t chunks = 1;  ///< More than 1: a row is cut into this many parallel pieces, the last one may be short.
  bool contiguous = true;   ///< A row is one run of memory.
  bool columns = false;     ///< Rows lie side by side: neighbours in memory are terms of different ones.
  bool counts = false;      ///< Terms are as many as there are things: the leading dimension is reduced.
  static constexpr std::int64_t chunk = 16384;  ///< Terms of a piece: long enough to hide a task's cost.

  Extent extent_of_terms() const { return counts ? Extent::leading(terms) : Extent(terms); }
  Extent extent_of_chunks() const { return {chunks, counts}; }
  /// Coordinates in `shape` of term `i` of the row at `row`.
  Coordinates at(Elements& e, const Coordinates& row, const Index& i) const;
};
/// The shapes must be constant.
ReductionSpace reduction_space(const Graph& mir, const Node& reduce);

using Combination = std::function<Values(ValuesIn both)>;  ///< Of the values so far, then of as many new ones.

/// Combination of the terms of [lower, upper); every index lies in [0, extent). `term` may store.
Values emit_reduction(Elements& e, const Index& lower, const Index& upper, ValuesIn identities,
                      const std::function<Values(const Index&)>& term, const Combination& combine, std::int64_t extent);

/// The same with a named operator of two scalars ("add", "min") as combination, for one value.
Value emit_reduction(Elements& e, const Index& lower, const Index& upper, Value identity,
                     const std::function<Value(const Index&)>& term, std::string_view combine, std::int64_t extent);

/// How a reduce or associative_scan combines on a device. A minimum or maximum is the same in the operand's type, and a
/// sum or product of integers, which wraps, in the result's: what only has such results is combined there by operators,
/// which costs no conversion and no lanes. Everything else is combined by the region, in the types of `accumulate`.
class Combining {
 public:
  Combining(const Graph& mir, const Node& n);
  /// Of partial results, one for each result.
  const std::vector<DType>& types() const { return types_; }
  /// The values so far, then as many new ones, all of these types, in one.
  Values emit(Builder& b, ValuesIn both) const;

 private:
  const Graph& mir_;
  const Node& node_;
  std::vector<DType> types_;
  std::vector<ops::Combine> kinds_;  // Empty: the region combines.
};
/// The type in which a named combination of elements of `t` is formed: sums and products of small floats in f32. Those
/// of integers wrap, in whatever type.
DType summing_type(ops::Combine kind, DType t);

/// The neutral element of a combination as a scalar of type `t` ("set" has none).
Value identity_of(Elements& e, ops::Combine kind, DType t);
/// The operator that combines two of type `t`.
std::string_view combine_op(ops::Combine kind, DType t);

}  // namespace rlx::compile
