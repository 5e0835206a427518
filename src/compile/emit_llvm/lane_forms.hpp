// How each value of a region depends on the index whose consecutive values share a vector: not at all, linearly, or
// freely.
#pragma once
#include <rlx/ir/graph.hpp>

#include <optional>
#include <unordered_map>

namespace rlx::emit_llvm {

struct LaneForm {
  enum class Kind : std::uint8_t { uniform, linear, varying } kind = Kind::uniform;
  std::int64_t stride = 0;  ///< Of linear i64 values, elements a lane.
  bool operator==(const LaneForm&) const = default;
  bool is_uniform() const { return kind == Kind::uniform; }
};

/// Forms of all values in `body` and the regions in it. Values from outside are uniform. Emission follows the same
/// rules, so that what is uniform here is a scalar there.
class LaneForms {
 public:
  LaneForms() = default;
  LaneForms(const Graph& g, RegionId body, ValueId index);
  LaneForm of(ValueId v) const {
    const auto it = forms_.find(v);
    return it == forms_.end() ? LaneForm{} : it->second;
  }

 private:
  void walk(const Graph& g, RegionId r);
  void node(const Graph& g, const Node& n);
  bool set(ValueId v, LaneForm f);
  /// Marks `to` with the forms of `from`; true when something changed.
  bool join(const Graph& g, ValueId to, ValueId from, bool force_varying);
  std::unordered_map<ValueId, LaneForm> forms_;
};

/// The value of a constant i64[] node.
std::optional<std::int64_t> constant_i64(const Graph& g, ValueId v);

/// The form of add, sub, mul or neg on i64 from those of its operands; `constant` is the value of a uniform operand,
/// where known.
LaneForm linear_result(std::string_view op, LaneForm a, LaneForm b, std::optional<std::int64_t> constant_a,
                       std::optional<std::int64_t> constant_b);

}  // namespace rlx::emit_llvm
