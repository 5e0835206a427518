#include "ir/node_check.hpp"
#include "ir/within.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/located.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/registry.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rlx {

const Type& Value::type() const { return builder->graph().type(id); }
const TensorType& Value::tensor() const { return builder->graph().tensor_type(id); }

namespace {

std::vector<ValueId> ids_of(ValuesIn values, const Builder* owner, std::string_view where) {
  std::vector<ValueId> ids;
  ids.reserve(values.size());
  for (const Value& v : values) {
    if (v.builder != owner)
      throw InternalError(std::string(where) + ": operand " + std::to_string(ids.size()) +
                          (v.builder ? " is a value of another graph" : " is absent"));
    ids.push_back(v.id);
  }
  return ids;
}

}  // namespace

Values transcribe(const Graph& from, RegionId region, ValuesIn arguments,
                  const std::function<Values(const Node&, ValuesIn)>& emit) {
  const Region& source = from.region(region);
  std::unordered_map<ValueId, Value> map;
  for (std::size_t i = 0; i < arguments.size(); ++i) map[source.arguments[i]] = arguments[i];
  const auto at = [&](ValueId v) {
    const auto it = map.find(v);
    if (it == map.end()) throw InternalError("a copied region uses value %" + std::to_string(v) + " from outside");
    return it->second;
  };
  for (NodeId id : source.nodes) {
    const Node& n = from.node(id);
    Values operands;
    for (ValueId v : n.operands) operands.push_back(at(v));
    const Values out = emit(n, operands);
    for (std::size_t i = 0; i < out.size(); ++i) map[n.results[i]] = out[i];
  }
  Values results;
  for (ValueId v : source.results) results.push_back(at(v));
  return results;
}

Value Builder::input(Type t, std::string name) { return {this, graph_->add_input(std::move(t), std::move(name))}; }

void Builder::output(Value v, std::string name) {
  graph_->add_output(ids_of({&v, 1}, this, "output").front(), std::move(name));
}

Values Builder::values(const std::vector<ValueId>& ids) {
  Values out;
  out.reserve(ids.size());
  for (ValueId id : ids) out.push_back({this, id});
  return out;
}

RegionId Builder::fill_region(NodeId owner, const Types& argument_types, const RegionBody& body) {
  const RegionId r = graph_->add_region(owner);
  for (const Type& t : argument_types) graph_->add_argument(r, t);
  const RegionId outer = std::exchange(region_, r);
  struct Restore {
    RegionId& slot;
    RegionId value;
    ~Restore() { slot = value; }
  } restore{region_, outer};
  const std::vector<ValueId> arguments = graph_->region(r).arguments;
  const Values results = body(values(arguments));
  graph_->region(r).results = ids_of(results, this, "region");
  return r;
}

Values Builder::place(const Op& op, ValuesIn operands, AnyAttrs attrs,
                      const std::function<std::vector<RegionId>(NodeId)>& fill, std::string record, std::string note) {
  const NodeId id = graph_->reserve_node();
  Node node{&op,
            std::move(attrs),
            ids_of(operands, this, op.name()),
            {},
            {},
            region_,
            std::move(record),
            location_,
            std::move(note),
            origin_};
  node.regions = fill(id);
  const Types types = graph_->types_of(node.operands);
  std::vector<RegionType> regions;
  for (RegionId r : node.regions)
    regions.push_back({graph_->types_of(graph_->region(r).arguments), graph_->types_of(graph_->region(r).results)});
  const Signature signature{types, regions, &graph_->symbols};
  Types results;
  try {
    results = check_node(op, node.attrs, signature);
  } catch (const VerifyError&) { detail::rethrow_at(location_); }
  graph_->place_node(id, region_, std::move(node), results);
  const std::vector<ValueId> ids = graph_->node(id).results;
  return values(ids);
}

Values Builder::emit(std::string_view name, ValuesIn operands, AnyAttrs attrs, std::span<const RegionBody> regions) {
  const Op& op = registry_->get(name);
  if (attrs.get_if<NoAttributes>()) attrs = op.default_attrs();
  return place(op, operands, attrs,
               [&](NodeId id) {
                 std::vector<RegionId> filled;
                 if (regions.empty()) return filled;
                 const Types types = graph_->types_of(ids_of(operands, this, name));
                 const Signature signature{types, {}, &graph_->symbols};
                 // Operands that do not fit are refused by check_node; no rule may look at them before.
                 if (!operands_fit(op, signature)) return filled;
                 const std::vector<Types> arguments = op.region_arguments(attrs, signature);
                 for (std::size_t i = 0; i < std::min(arguments.size(), regions.size()); ++i)
                   filled.push_back(fill_region(id, arguments[i], regions[i]));
                 return filled;
               },
               {});
}

Value Builder::emit1(std::string_view op, ValuesIn operands, AnyAttrs attrs, std::span<const RegionBody> regions) {
  const Values out = emit(op, operands, std::move(attrs), regions);
  if (out.size() != 1)
    throw InternalError(std::string(op) + " has " + counted(out.size(), "result") + ", expected one");
  return out.front();
}

Values Builder::clone(const Graph& from, const Node& node, ValuesIn operands) {
  const Location outer = std::exchange(location_, node.location);
  Values out = place(
      *node.op, operands, node.attrs,
      [&](NodeId id) {
        std::vector<RegionId> filled;
        for (RegionId r : node.regions)
          filled.push_back(fill_region(id, from.types_of(from.region(r).arguments),
                                       [&](ValuesIn a) { return inline_region(from, r, a); }));
        return filled;
      },
      node.record, node.note);
  location_ = outer;
  return out;
}

void Builder::keep_note(const Node& of, ValuesIn made) {
  if (of.note.empty() || made.empty()) return;
  const NodeId id = graph_->value(made[0].id).node;
  if (id < 0) return;
  Node& n = graph_->node(id);
  if (n.op == of.op && n.note.empty()) n.note = of.note;
}

Values Builder::inline_region(const Graph& from, RegionId region, ValuesIn arguments) {
  if (arguments.size() != from.region(region).arguments.size())
    throw InternalError("inline_region: argument count differs");
  ids_of(arguments, this, "inline_region");
  // The nodes were checked where they come from: they are copied with their types, locations, notes and origins.
  return transcribe(from, region, arguments, [&](const Node& n, ValuesIn operands) {
    const NodeId id = graph_->reserve_node();
    Node copy{n.op,   n.attrs, ids_of(operands, this, n.op->name()), {}, {}, region_, n.record, n.location,
              n.note, n.origin};
    for (RegionId r : n.regions)
      copy.regions.push_back(fill_region(id, from.types_of(from.region(r).arguments),
                                         [&](ValuesIn a) { return inline_region(from, r, a); }));
    graph_->place_node(id, region_, std::move(copy), from.types_of(n.results));
    const std::vector<ValueId> ids = graph_->node(id).results;
    return values(ids);
  });
}

}  // namespace rlx
