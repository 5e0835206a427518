// The one graph of all levels: nodes with several results, in regions. HIR, MIR and LIR differ only in what verify()
// demands.
#pragma once
#include <rlx/ir/attributes.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace rlx {

class Op;

using ValueId = std::int32_t;
using NodeId = std::int32_t;
using RegionId = std::int32_t;

/// Where a node came from: a user's source line or a line of a text graph. Empty file: unknown.
struct Location {
  std::string file{};
  std::uint32_t line = 0;
  RLX_API std::string to_string() const;  ///< "file:line", "" where unknown.
};

struct Node {
  const Op* op = nullptr;
  AnyAttrs attrs{};
  std::vector<ValueId> operands{}, results{};
  std::vector<RegionId> regions{};
  RegionId parent = 0;
  /// Set by dispatch on a node that a kernel record executes whole: a *call* of MIR. Empty otherwise.
  std::string record{};
  Location location{};
  /// What a transformation has to tell whoever wrote it: a note of its row of the dispatch report. Copies keep it; part
  /// of the text form, as the location is. Empty: nothing.
  std::string note{};
  /// The HIR node it was made from, which is its row of the dispatch report; -1: none. Not part of the text form.
  std::int32_t origin = -1;
};

struct ValueInfo {
  Type type;
  NodeId node = -1;        ///< The node whose result it is; -1 for a region's argument.
  std::int32_t index = 0;  ///< Which result or argument.
  RegionId region = 0;     ///< The region that defines it.
};

/// Arguments, nodes in order, results. In HIR and MIR a region uses only its own values and its arguments; in LIR it
/// may use those of the regions around it.
struct Region {
  std::vector<ValueId> arguments{}, results{};
  std::vector<NodeId> nodes{};
  NodeId owner = -1;  ///< -1 for the top region.
};

class Graph;
/// The nodes that introduce sizes, in all regions, by the symbol. One that two nodes introduce, which verify() refuses,
/// has the first of them.
RLX_API std::map<std::string, NodeId> size_nodes(const Graph& g);

class RLX_API Graph {
 public:
  explicit Graph(std::string name = "main");

  std::string name;
  SymbolTable symbols;
  /// Names of the top region's arguments and results; sizes equal theirs, names unique within each list.
  std::vector<std::string> input_names, output_names;

  static constexpr RegionId top = 0;
  const Region& region(RegionId r) const { return regions_.at(static_cast<std::size_t>(r)); }
  Region& region(RegionId r) { return regions_.at(static_cast<std::size_t>(r)); }
  const Node& node(NodeId n) const { return nodes_.at(static_cast<std::size_t>(n)); }
  Node& node(NodeId n) { return nodes_.at(static_cast<std::size_t>(n)); }
  const ValueInfo& value(ValueId v) const { return values_.at(static_cast<std::size_t>(v)); }
  const Type& type(ValueId v) const { return value(v).type; }
  /// Throws InternalError when the value is not a tensor.
  const TensorType& tensor_type(ValueId v) const;
  void set_type(ValueId v, Type t) { values_.at(static_cast<std::size_t>(v)).type = std::move(t); }

  std::size_t node_count() const { return nodes_.size(); }
  std::size_t value_count() const { return values_.size(); }
  std::size_t region_count() const { return regions_.size(); }

  const std::vector<ValueId>& inputs() const { return region(top).arguments; }
  const std::vector<ValueId>& outputs() const { return region(top).results; }
  ValueId add_input(Type t, std::string input_name);
  void add_output(ValueId v, std::string output_name);
  Types types_of(const std::vector<ValueId>& values) const;

  // Raw construction, for Builder, the parser and passes; nothing is checked here.
  RegionId add_region(NodeId owner);
  ValueId add_argument(RegionId r, Type t);
  NodeId add_node(RegionId parent, Node node, const Types& result_types);
  /// Allocates a node without placing it, so that its regions can be filled first; place_node appends it to its parent.
  NodeId reserve_node();
  void place_node(NodeId id, RegionId parent, Node node, const Types& result_types);

 private:
  // Deques, so that references to nodes, types and regions stay valid while the graph grows: rules hold them across
  // emission.
  std::deque<Node> nodes_;
  std::deque<ValueInfo> values_;
  std::deque<Region> regions_;
};

}  // namespace rlx
