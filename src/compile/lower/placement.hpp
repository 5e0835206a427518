// Where a kernel reads a value: which dimensions of the kernel's index space run along the value's dimensions.
#pragma once
#include <rlx/ir/graph.hpp>

#include <optional>
#include <vector>

namespace rlx::compile {

/// For each dimension of a value the dimension of the space whose index is used, `fixed` where its size is 1.
/// Dimensions of size 1 of a space do not count, so that a kept dimension makes no difference.
using Placement = std::vector<int>;
inline constexpr int fixed = -1;

Shape without_units(const Shape& s);

/// The dimensions of an index space but for those of size 1, and those of them that count rows.
struct SpaceDimensions {
  std::vector<int> all, kept;
};
SpaceDimensions space_of(const Shape& s);  ///< Of a loop: nothing is reduced.
SpaceDimensions space_of(const Graph& g, const Node& reduce);

/// The placement of a value whose dimensions, but for those of size 1, run along these of the space, in order.
Placement placed_along(const Shape& s, const std::vector<int>& dimensions);
/// Where an operand is read at for a result at `p`; absent where that is not one element per position of the space, or
/// unknown.
std::optional<Placement> operand_placement(const Graph& g, const Node& n, std::size_t operand, const Placement& p);

}  // namespace rlx::compile
