#include <rlx/ir/error.hpp>
#include <rlx/ir/graph.hpp>
#include <rlx/ir/op.hpp>

namespace rlx {

std::string Location::to_string() const { return file.empty() ? std::string() : file + ":" + std::to_string(line); }

Graph::Graph(std::string graph_name) : name(std::move(graph_name)), regions_(1) {}

const TensorType& Graph::tensor_type(ValueId v) const {
  if (const auto* t = std::get_if<TensorType>(&type(v))) return *t;
  throw InternalError("value %" + std::to_string(v) + " is " + rlx::to_string(type(v)) + ", not a tensor");
}

std::map<std::string, NodeId> size_nodes(const Graph& g) {
  std::map<std::string, NodeId> found;
  for (std::size_t i = 0; i < g.node_count(); ++i) {
    const Node& n = g.node(static_cast<NodeId>(i));
    if (!n.op) continue;
    if (std::string symbol = n.op->introduces(n.attrs); !symbol.empty())
      found.emplace(std::move(symbol), static_cast<NodeId>(i));
  }
  return found;
}

ValueId Graph::add_input(Type t, std::string input_name) {
  input_names.push_back(std::move(input_name));
  return add_argument(top, std::move(t));
}

void Graph::add_output(ValueId v, std::string output_name) {
  output_names.push_back(std::move(output_name));
  region(top).results.push_back(v);
}

Types Graph::types_of(const std::vector<ValueId>& values) const {
  Types types;
  types.reserve(values.size());
  for (ValueId v : values) types.push_back(type(v));
  return types;
}

RegionId Graph::add_region(NodeId owner) {
  regions_.push_back({{}, {}, {}, owner});
  return static_cast<RegionId>(regions_.size() - 1);
}

ValueId Graph::add_argument(RegionId r, Type t) {
  const auto index = static_cast<std::int32_t>(region(r).arguments.size());
  values_.push_back({std::move(t), -1, index, r});
  const auto id = static_cast<ValueId>(values_.size() - 1);
  region(r).arguments.push_back(id);
  return id;
}

NodeId Graph::reserve_node() {
  nodes_.emplace_back();
  return static_cast<NodeId>(nodes_.size() - 1);
}

void Graph::place_node(NodeId id, RegionId parent, Node n, const Types& result_types) {
  n.parent = parent;
  n.results.clear();
  for (std::size_t i = 0; i < result_types.size(); ++i) {
    values_.push_back({result_types[i], id, static_cast<std::int32_t>(i), parent});
    n.results.push_back(static_cast<ValueId>(values_.size() - 1));
  }
  node(id) = std::move(n);
  region(parent).nodes.push_back(id);
}

NodeId Graph::add_node(RegionId parent, Node n, const Types& result_types) {
  const NodeId id = reserve_node();
  place_node(id, parent, std::move(n), result_types);
  return id;
}

}  // namespace rlx
