// Estimated cycles of kernel bodies, by which lanes are placed and work is divided.
#pragma once
#include "compile/emit_llvm/lane_forms.hpp"

#include <rlx/compile/lir.hpp>

#include <optional>
#include <unordered_map>

namespace rlx::emit_llvm {

/// Estimated cycles of a scalar elementwise node. Dividing by a power of two costs what the product with its reciprocal
/// does, which LLVM makes of it: lanes lie, and so sums are ordered, alike for both ways of writing a number.
double node_cost(const Graph& g, const Node& n);

/// Estimates a kernel's cost under a choice of lanes, and makes the choice.
class Costs {
 public:
  /// What shapes the code must not know what lir.size gives; how the work is divided may.
  Costs(const Graph& g, int lanes, bool knows_sizes) : g_(g), lanes_(lanes), knows_sizes_(knows_sizes) {}

  static constexpr std::int64_t unknown_trips = 64;
  /// Lanes for a range of `count` positions, as a power of two.
  int lanes_for(std::int64_t count) const;
  /// Positions a vector carries on average.
  double filled(std::int64_t count) const;
  /// Cycles of one trip of `r` for all lanes together, divided by the lanes that are filled: cycles a position.
  double vector_cost(RegionId r, const LaneForms& forms, double fill) const;
  /// Cycles of `r` in scalar code whose inner loops take lanes where that pays; the choices go into `chosen`.
  double scalar_cost(RegionId r, std::unordered_map<NodeId, int>& chosen) const;

 private:
  std::int64_t trips(const Node& n) const;
  std::optional<std::int64_t> size_of(ValueId v) const;

  const Graph& g_;
  int lanes_;
  bool knows_sizes_;
};

}  // namespace rlx::emit_llvm
