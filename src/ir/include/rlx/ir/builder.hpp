// Emits nodes into a graph: checks constraints and infers types at once, so that a graph under construction is always
// legal.
#pragma once
#include <rlx/ir/graph.hpp>

#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>

namespace rlx {

class Builder;
class Registry;

/// Handle of a value in a graph under construction. A default one is *absent*: a symbolic zero among cotangents.
struct RLX_API Value {
  Builder* builder = nullptr;
  ValueId id = -1;
  explicit operator bool() const { return builder != nullptr; }
  const Type& type() const;
  const TensorType& tensor() const;  ///< Throws InternalError when it is not a tensor.
  DType dtype() const { return tensor().dtype; }
  const Shape& shape() const { return tensor().shape; }
  int rank() const { return tensor().rank(); }
};
using Values = std::vector<Value>;
using ValuesIn = std::span<const Value>;
/// Fills a region: gets its arguments, returns its results.
using RegionBody = std::function<Values(ValuesIn arguments)>;

/// Walks the nodes of a region in order, `arguments` standing for its arguments: `emit` gives what stands for the
/// results of a node, from what stands for its operands. Gives what stands for the region's results. For passes that
/// emit every node anew.
RLX_API Values transcribe(const Graph& from, RegionId region, ValuesIn arguments,
                          const std::function<Values(const Node&, ValuesIn operands)>& emit);

class RLX_API Builder {
 public:
  /// `graph` and `registry` must outlive it. Emission starts at the end of `region`.
  Builder(Graph& graph, const Registry& registry, RegionId region = Graph::top)
      : graph_(&graph), registry_(&registry), region_(region) {}

  Graph& graph() { return *graph_; }
  const Registry& registry() const { return *registry_; }
  RegionId region() const { return region_; }

  Value input(Type t, std::string name);
  void output(Value v, std::string name);
  Value value(ValueId id) { return {this, id}; }
  Values values(const std::vector<ValueId>& ids);

  /// One node; without attributes it gets the operator's defaults. Throws VerifyError, naming the operator, the
  /// constraint and the location, when the instance is refused.
  Values emit(std::string_view op, ValuesIn operands, AnyAttrs attrs = {}, std::span<const RegionBody> regions = {});
  Values emit(std::string_view op, std::initializer_list<Value> operands, AnyAttrs attrs = {}) {
    return emit(op, ValuesIn(operands.begin(), operands.size()), std::move(attrs));
  }
  /// The same for an operator that has exactly one result.
  Value emit1(std::string_view op, ValuesIn operands, AnyAttrs attrs = {}, std::span<const RegionBody> regions = {});
  Value emit1(std::string_view op, std::initializer_list<Value> operands, AnyAttrs attrs = {}) {
    return emit1(op, ValuesIn(operands.begin(), operands.size()), std::move(attrs));
  }
  /// A copy of `node` of another graph with these operands; its regions are copied whole. Keeps record, location
  /// and note.
  Values clone(const Graph& from, const Node& node, ValuesIn operands);
  /// `made` stands for the results of `of`, a node of another graph: where a node of the same operator gave them, which
  /// says nothing of its own, it gets the note.
  void keep_note(const Node& of, ValuesIn made);
  /// Emits the nodes of `region` of another graph, its arguments standing for `arguments`; gives its results.
  Values inline_region(const Graph& from, RegionId region, ValuesIn arguments);

  void set_location(Location l) { location_ = std::move(l); }
  const Location& location() const { return location_; }
  /// Node::origin of what is emitted from now on.
  void set_origin(std::int32_t origin) { origin_ = origin; }
  std::int32_t origin() const { return origin_; }

 private:
  Values place(const Op& op, ValuesIn operands, AnyAttrs attrs,
               const std::function<std::vector<RegionId>(NodeId)>& fill, std::string record, std::string note = {});
  RegionId fill_region(NodeId owner, const Types& argument_types, const RegionBody& body);
  Graph* graph_;
  const Registry* registry_;
  RegionId region_;
  Location location_;
  std::int32_t origin_ = -1;
};

}  // namespace rlx
