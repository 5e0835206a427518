// What the recognition pass looks for: one pattern a file, a line in all_patterns.inc.
#pragma once
#include <rlx/compile/compile.hpp>
#include <rlx/ir/builder.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rlx::compile {

/// An instance of the operator that the nodes above a value may be.
struct Candidate {
  AnyAttrs attrs;
  Types operands;
};

/// The types x and axes of reductions above a value that has its rank less the axes, or keeps them.
struct Reduced {
  std::vector<int> axes;
  bool keep;
  TensorType x;  ///< What is reduced, in the elements of the value.
};

/// What a value is computed from, as far as patterns look: its nearest 64 nodes.
class Above {
 public:
  Above(const Graph& g, ValueId root);
  const Graph& graph() const { return g_; }
  const TensorType& type() const { return g_.tensor_type(root_); }
  /// The node that makes it, first of its nodes.
  const Node& node() const { return g_.node(nodes_.front()); }
  bool has(std::string_view op) const;
  /// Values of floating-point scalars, without repeats; each the shortest decimal that the constant's type rounds to
  /// it, as a user would have written it.
  std::vector<double> scalars() const;
  /// None for a value of other elements than floating-point and complex ones.
  std::vector<Reduced> reductions() const;

 private:
  const Graph& g_;
  ValueId root_;
  std::vector<NodeId> nodes_;  // The nearest first.
};

/// A subgraph that is `op`, of one result, written out. What is compared with the user's nodes is built for each
/// candidate: the operator's own decomposition, or `form` where the pattern is another way to write the same bits.
struct Pattern {
  std::string_view name;  ///< That of the operator, or of the form.
  std::string_view op;    ///< A composite. A registry without it has no use for the pattern.
  /// Operators that the written-out result may come from. reshape and broadcast are looked through, and are none.
  std::span<const std::string_view> roots;
  /// Guesses, cheap to make: which attributes and operand types the nodes above a value may have. A wrong one costs
  /// time and nothing else, as it does not match.
  std::vector<Candidate> (*candidates)(const Above&);
  Values (*form)(Builder&, const AnyAttrs&, ValuesIn) = nullptr;
};
/// In the order in which they are tried: of two that fit a node the first wins.
std::span<const Pattern* const> patterns();

/// Elements along `axes`; none where that depends on a symbol or is beyond 64 bits.
std::optional<std::int64_t> count_along(const Shape& shape, const std::vector<int>& axes);
/// For softmax and its like: the axis of a reduction above of a tensor of the value's shape.
std::vector<Candidate> along_one_axis(const Above& above);
/// For mean and its like, whose attributes are MomentAttrs.
std::vector<Candidate> along_some_axes(const Above& above);

inline constexpr std::string_view quotient_roots[] = {"div", "convert"}, difference_roots[] = {"sub", "convert"},
                                  sum_roots[] = {"add", "convert"}, product_roots[] = {"mul", "convert"};

}  // namespace rlx::compile
