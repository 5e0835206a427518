// What the operators that are not elementwise share: lists of axes, shapes, zero derivatives, costs, sharding by
// position.
#pragma once
#include <rlx/ops/build.hpp>

#include "ops/elementwise.hpp"
#include "ops/positions.hpp"

#include <string>
#include <vector>

namespace rlx::ops {

using Axes = std::vector<int>;

std::vector<int> axes_upto(int rank);                      ///< 0 .. rank - 1
std::vector<int> axes_except(int rank, const Axes& axes);  ///< The others, ascending.
std::vector<int> shifted(Axes axes, int by = 1);
bool contains(const Axes& axes, int axis);
Axes inverse_permutation(const Axes& permutation);
Shape shape_without(const Shape& shape, const Axes& axes);
Shape with_front(const Dim& size, const Shape& shape);
template <class T>
std::vector<T> prepended(T first, std::vector<T> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}
/// Entry `i` of a list that may be empty, which means `otherwise` everywhere.
inline std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}
/// prepended, where an empty list stays empty.
std::vector<std::int64_t> batch_entry(std::vector<std::int64_t> list, std::int64_t first);

Answer axis_within(int axis, int rank);
Answer axes_ascending(const Axes& axes, int rank);  ///< Within the rank, ascending, without repeats.
Answer axes_distinct(const Axes& axes, int rank);   ///< Within the rank, without repeats.
Answer has_length(std::size_t length, int wanted, std::string_view list);
Answer empty_or_length(std::size_t length, int wanted, std::string_view list);
/// Operands first .. last - 1 are scalars of one dtype.
Answer index_scalars(const Signature& s, std::size_t first, std::size_t count);

// --- Emission. Shapes come by value: those of a graph move when nodes are added.
Value lead(Value x, int axis, const Dim& size);  ///< The new dimension to the front; broadcast where axis is -1.
Value move_axis(Value x, int from, int to);
Value zeros(Builder& b, TensorType t);
/// `r`, a result of reducing `axes` away, stretched over them again.
Value stretch(Value r, Shape shape, const Axes& axes);
/// x converted to the type in which its sums accumulate.
Value widened(Value x);
/// Adds zeros: `low` before and as many after as make dimension `axis` equal to `size`; symbolic amounts are allowed,
/// and negative constant ones cut.
Value extend(Value x, int axis, Dim low, Dim size);

[[noreturn]] void refuse_rule(std::string_view op, std::string_view rule, const std::string& why);

// --- Costs: every operand read and every result written once, `flops` a result element.
Dim bytes_of(const Type& t);
Cost cost_of(const Signature& s, const Types& results, Dim flops);
template <auto infer, int flops, class A>
Cost cost_moving(const A& a, const Signature& s) {
  const Types results = infer(a, s);
  return cost_of(s, results, std::get<TensorType>(results.front()).numel() * flops);
}
/// `flops` an element of the first operand.
template <auto infer, int flops, class A>
Cost cost_consuming(const A& a, const Signature& s) {
  return cost_of(s, infer(a, s), s.tensor(0).numel() * flops);
}

/// Every dimension of the first operand is a factor; `whole` ones may not be cut. Operands and results of the same rank
/// follow it dimension by dimension, others are replicated.
ShardRule shard_positions(const Signature& s, const Types& results, const Axes& whole);

}  // namespace rlx::ops
