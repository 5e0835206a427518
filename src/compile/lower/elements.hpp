// Elements of MIR values inside a kernel body, by pulling: an element of a value is a load where the value has a
// buffer, and otherwise the scalar code of the node that makes it. This is all that fusion of elementwise and indexing
// operators is.
#pragma once
#include "compile/lower/index.hpp"

#include <rlx/ir/graph.hpp>
#include <rlx/ir/op.hpp>

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace rlx::compile {

using Coordinates = std::vector<Index>;

class Elements {
 public:
  /// `buffer` gives the body's buffer of a value that has one, absent otherwise. In `flat` mode coordinates are one
  /// linear index that all shapes of the kernel share (see Fusion::flat).
  Elements(Builder& b, const Graph& mir, std::function<Value(ValueId)> buffer, bool flat, bool checked)
      : b_(b), index_(b), mir_(mir), buffer_(std::move(buffer)), flat_(flat), checked_(checked) {}

  /// One element as a scalar. Asked twice in one scope for the same coordinates, it gives the same scalar.
  Value at(ValueId v, const Coordinates& c);
  /// Element of `v` at a linear position of its own row-major order.
  Value at_linear(ValueId v, const Index& i);
  Value load(Value buffer, const Index& i);
  /// From now on every element of `v` that the kernel may ask for is this scalar: what a row was reduced to.
  void bind(ValueId v, Value scalar) { bound_[v] = scalar; }
  /// From now on the elements of `v` that the kernel may ask for are in this buffer.
  void stored(ValueId v, Value buffer) { stored_[v] = buffer; }

  /// Remembered scalars are forgotten at the end of the region in which they were made.
  class Scope {
   public:
    explicit Scope(Elements& e) : e_(e) { e_.memo_.emplace_back(); }
    ~Scope() { e_.memo_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Elements& e_;
  };

  /// The nodes whose elements the body works out, where it does not load them.
  const std::set<NodeId>& worked_out() const { return worked_out_; }

  Builder& builder() { return b_; }
  IndexEmitter& index() { return index_; }
  const Graph& mir() const { return mir_; }
  bool flat() const { return flat_; }
  bool checked() const { return checked_; }
  std::vector<std::int64_t> shape(ValueId v) const { return constant_shape(mir_.tensor_type(v).shape); }

 private:
  Value compute(ValueId v, const Coordinates& c);
  Builder& b_;
  IndexEmitter index_;
  const Graph& mir_;
  std::function<Value(ValueId)> buffer_;
  bool flat_, checked_;
  std::map<ValueId, Value> bound_, stored_;
  std::set<NodeId> worked_out_;
  std::vector<std::map<std::pair<ValueId, Coordinates>, Value>> memo_{1};
};

/// Scalar code of one node: the element of its (single) result at `c`.
using ElementRule = Value (*)(Elements&, const Node&, const Coordinates& c);
/// The rule of an operator, null where its results need buffers of their own.
ElementRule element_rule(const Op& op);

}  // namespace rlx::compile
