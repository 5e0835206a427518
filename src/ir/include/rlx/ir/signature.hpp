// What rules see of an operator instance: types of operands and regions, and the symbols of the graph.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/type.hpp>

#include <span>

namespace rlx {

/// Types of a region's arguments and results.
struct RegionType {
  Types arguments, results;
  bool operator==(const RegionType&) const = default;
};

struct RLX_API Signature {
  std::span<const Type> types;
  std::span<const RegionType> regions{};
  const SymbolTable* symbols = nullptr;

  std::size_t size() const { return types.size(); }
  /// Operand `i` as the kind its declaration promises; InternalError otherwise (kinds are checked before any rule
  /// runs).
  const TensorType& tensor(std::size_t i) const;
  const SparseType& sparse(std::size_t i) const;
  const ResourceType& resource(std::size_t i) const;
  DType dtype(std::size_t i) const { return tensor(i).dtype; }
  const Shape& shape(std::size_t i) const { return tensor(i).shape; }
  int rank(std::size_t i) const { return tensor(i).rank(); }

  Answer equal(const Dim& a, const Dim& b) const;
  Answer less_equal(const Dim& a, const Dim& b) const;
  Answer same_shape(const Shape& a, const Shape& b) const;
};

}  // namespace rlx
