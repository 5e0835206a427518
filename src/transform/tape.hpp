// Reverse mode over one region: the nodes emitted forward, and what their rules need, for emission in reverse. A tape
// stays within one region of the new graph: bodies of control flow get tapes of their own.
#pragma once
#include "transform/tangents.hpp"

#include <memory>

namespace rlx::transform {

class Tape {
 public:
  /// Emits the region's nodes, its arguments standing for `arguments`, of which `varied` are differentiated. `useful`
  /// names the results that may get a cotangent. `g` must outlive the tape.
  Tape(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Mask& varied, const Mask& useful,
       int depth = 0);

  const Values& results() const { return results_; }
  /// Cotangents of the arguments: absent where zero or not varied. One cotangent a result, or absent.
  Values pull(ValuesIn cotangents);

 private:
  struct Step {
    const Node* node;
    Mask wanted, useful;  ///< One an operand, one a result.
    Values in, out, residuals;
    std::unique_ptr<Graph> body;  ///< Of a composite that was decomposed.
    std::unique_ptr<Tape> tape;   ///< Of that body.
  };
  Values forward(const Node& n);
  Values differentiated(const Node& n, Step& s);
  Values pull_step(const Step& s, ValuesIn cotangents);

  Builder& b_;
  const Graph& g_;
  RegionId region_;
  int depth_;
  ValueSet varied_, useful_;
  ResourceTrace resources_;
  std::unordered_map<ValueId, Value> values_;
  std::vector<Step> steps_;
  Values results_;
};

/// Forward and reverse at once: cotangents of the arguments.
Values pull_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Mask& wanted, ValuesIn cotangents);

/// What a control-flow node is called with in reverse.
struct ControlPull {
  Builder& b;
  const Graph& g;
  const Node& n;
  ValuesIn in, residuals;
  const Mask& wanted;   ///< One an operand.
  ValuesIn cotangents;  ///< One a result.
};
/// Emits the node so that it also gives the residuals of its reverse; these follow its own results.
Values control_forward(Builder& b, const Graph& g, const Node& n, ValuesIn in);
/// One Value an operand, absent where zero or unwanted.
Values control_pull(const ControlPull& c);

}  // namespace rlx::transform
