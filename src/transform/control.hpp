// The operators with regions that transformations treat themselves, and how operands, arguments and results correspond.
#pragma once
#include <rlx/ir/builder.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/control_flow.hpp>

#include <string_view>
#include <type_traits>
#include <vector>

namespace rlx::transform {

/// One flag a value of some list.
using Mask = std::vector<bool>;
bool any(const Mask& m);
std::size_t count(const Mask& m);
/// Which are present.
Mask present(ValuesIn values);
/// Those that `m` names, in order.
Values pick(ValuesIn values, const Mask& m);
/// The reverse: `picked` at the places that `m` names, absent elsewhere.
Values spread(ValuesIn picked, const Mask& m);
Values joined(std::initializer_list<ValuesIn> lists);

enum class Control { none, if_, while_, scan, checkpoint };
Control control_of(const Node& n);
/// Whether the regions run at most once, on the operands behind the first `predicates_of`: `if` and `checkpoint`.
bool is_branch(const Node& n);
/// Operands that decide which region runs and that no region gets.
std::size_t predicates_of(const Node& n);

/// Operands of a loop: carried state, sequences (scan only), invariants. Arguments of its regions are in the same
/// order.
struct Loop {
  std::size_t carried, sequences, invariants;
  std::size_t outputs;  ///< Stacked results of scan, after the carried ones.
  RegionId body;
  ops::ScanAttrs scan{};     ///< Of a scan.
  ops::WhileAttrs while_{};  ///< Of a while.
  std::size_t first_invariant() const { return carried + sequences; }
  ValuesIn state(ValuesIn v) const { return v.first(carried); }
  ValuesIn sequence(ValuesIn v) const { return v.subspan(carried, sequences); }
  ValuesIn invariant(ValuesIn v) const { return v.subspan(carried + sequences, invariants); }
};
Loop loop_of(const Node& n);
/// Condition of a while.
inline RegionId condition_of(const Node& n) { return n.regions.at(0); }

/// Whether a node orders effects by tokens.
bool has_effect(const Graph& g, const Node& n);
/// Whether a node of the region has, or one in its regions.
bool region_has_effect(const Graph& g, RegionId r);

/// Throws VerifyError(op, rule) with the reason and the node's location.
[[noreturn]] void refuse(const Node& n, std::string_view rule, const std::string& why);

/// What a rule made of `of` says what that said of itself: the nodes of the same operator that stand where `b` emits,
/// but for the first `before` of the graph.
void keep_note(Builder& b, std::size_t before, const Node& of);

/// Runs a rule: what it emits has the node's location and keeps its note; what it refuses gets the location.
template <class F>
auto located(Builder& b, const Node& n, F f) {
  struct Restore {
    Builder& b;
    Location outer;
    ~Restore() { b.set_location(std::move(outer)); }
  } restore{b, b.location()};
  b.set_location(n.location);
  const std::size_t before = b.graph().node_count();
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      keep_note(b, before, n);
    } else {
      auto result = f();
      keep_note(b, before, n);
      return result;
    }
  } catch (const VerifyError& e) {
    const std::string at = n.location.to_string(), what = e.what();
    if (at.empty() || what.find(at) != std::string::npos) throw;
    throw LocatedVerifyError(e.op(), e.constraint(), what + "  " + at, {n.location.file, n.location.line, {}});
  }
}

/// Composites may be made of composites whose rules are derived too; a definition that never ends stops here.
inline constexpr int max_decompositions = 64;
/// The decomposition of `n` on operands of these types, as a graph.
Graph decomposition(const Registry& registry, const Node& n, const Types& operands, const SymbolTable& symbols);

/// `base`, or `base` with a number, so that it is not among `taken`; adds it to them.
std::string unique_name(std::string base, std::vector<std::string>& taken);

}  // namespace rlx::transform
