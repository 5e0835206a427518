// One node with a dimension that is introduced by a result, while it is emitted on bounded buffers: what the rules of
// single operators (rules.hpp) see.
//
// Along such a dimension a bounded value holds its elements first and then *padding*: elements beyond the count, of any
// value. An operator that keeps positions apart (elementwise, transpose, ...) runs as it is and leaves padding behind
// its own elements; one that brings them together must see a neutral element in place of padding.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/ops/attributes/reduction.hpp>

#include <map>
#include <string>
#include <vector>

namespace rlx::compile {

using Axes = std::vector<int>;

/// Introduced sizes that are known where a node stands.
struct Sizes {
  std::map<std::string, Value> counts{};  ///< i64[], of the region being filled.
  Bindings capacities{};                  ///< Extent of the buffers, at least 1.
  SymbolTable symbols{};  ///< Those of the graph, introduced ones with their capacities as upper bounds.
};

/// Thrown by a rule where the node has no bounded form.
struct SizeRefusal {
  std::string why;
};

/// What combines with any value to that value.
Value neutral_of(Builder& b, ops::Combine kind, DType t);

class SizedNode {
 public:
  SizedNode(Builder& builder, const Graph& graph, const Node& node, ValuesIn operands, const Sizes& known,
            bool checked);

  Builder& b;
  const Graph& graph;
  const Node& node;
  const AnyAttrs attrs;  ///< With capacities for introduced sizes.
  const ValuesIn in;     ///< On bounded buffers.
  const bool checked;    ///< Whether indices out of range are to be reported.

  template <class A>
  const A& as() const {  ///< The attributes as written, with symbols.
    return node.attrs.as<A>();
  }
  // Shapes as written, with symbols.
  const Shape& shape(std::size_t operand) const { return graph.tensor_type(node.operands[operand]).shape; }
  const Shape& result_shape(std::size_t result = 0) const { return graph.tensor_type(node.results[result]).shape; }

  bool varies(const Dim& d) const;
  bool varies(std::size_t operand, int axis) const { return varies(shape(operand)[static_cast<std::size_t>(axis)]); }
  /// Those of `axes` along which the operand varies.
  Axes varying(std::size_t operand, const Axes& axes) const;
  Axes varying(std::size_t operand) const;

  /// Extent of the buffer. Throws SizeRefusal where `d` does not grow with its sizes, so that none is large enough.
  std::int64_t capacity(const Dim& d) const;
  /// What `d` is at run time, a scalar.
  Value value(const Dim& d, DType t = DType::i64) const;
  /// bool of the bounded form of `shape`: where a position lies in front of the padding along all of `axes`.
  Value within(const Shape& shape, const Axes& axes) const;
  /// Operand `i` with the scalar `fill` for padding along these of its axes; itself where it varies along none of them.
  Value masked(std::size_t i, const Axes& axes, Value fill) const;
  Value masked(std::size_t i, const Axes& axes, double fill) const;
  /// The same operator on these operands.
  Values emit(ValuesIn operands) const;

 private:
  const Sizes& known_;
};

}  // namespace rlx::compile
