// Where windows and index arrays point: arithmetic that several lowerings share.
#pragma once
#include "compile/lower/elements.hpp"

#include <vector>

namespace rlx::compile {

/// Positions that may lie outside of an array: each is limited to the array, and whether all lie inside is a scalar of
/// the body.
class Inside {
 public:
  explicit Inside(Elements& e) : e_(e) {}

  /// `i` limited to [0, extent). Emits a condition only where the range of `i` does not prove it.
  Index limited(const Index& i, Extent extent);
  void require(Value condition);
  /// bool[]; absent where nothing is in doubt.
  Value value() const { return all_; }
  Value choose(Value inside, Value outside) const;

 private:
  Elements& e_;
  Value all_{};
};

/// The index vectors of gather and scatter, in StableHLO's terms: an array whose dimension `vector_dim` (its rank: an
/// implied one of extent 1) holds the components, and whose others are addressed by batch coordinates.
class IndexVectors {
 public:
  IndexVectors(Elements& e, ValueId indices, int vector_dim, Coordinates batch)
      : e_(e), indices_(indices), vector_dim_(static_cast<std::size_t>(vector_dim)), batch_(std::move(batch)) {}

  /// Component k of the vector, as an i64 scalar.
  Value component(std::size_t k) const;
  /// The batch coordinate of dimension `dim` of the index array.
  const Index& coordinate(int dim) const;

 private:
  Elements& e_;
  ValueId indices_;
  std::size_t vector_dim_;
  Coordinates batch_;
};

inline bool contains(const std::vector<int>& dims, std::size_t d) {
  for (int x : dims)
    if (x == static_cast<int>(d)) return true;
  return false;
}

}  // namespace rlx::compile
