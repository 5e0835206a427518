// A graph with its symbols replaced by values.
#include <rlx/compile/compile.hpp>

#include <rlx/ir/builder.hpp>

#include <map>

namespace rlx {

namespace {

// Emits the nodes of a region anew, so that types follow from the substituted operands and attributes.
Values specialise_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Bindings& bindings) {
  const Region& source = g.region(r);
  std::map<ValueId, Value> map;
  for (std::size_t i = 0; i < arguments.size(); ++i) map[source.arguments[i]] = arguments[i];
  for (NodeId id : source.nodes) {
    const Node& n = g.node(id);
    Values operands;
    for (ValueId v : n.operands) operands.push_back(map.at(v));
    std::vector<RegionBody> bodies;
    for (RegionId inner : n.regions)
      bodies.push_back([&, inner](ValuesIn a) { return specialise_region(b, g, inner, a, bindings); });
    b.set_location(n.location);
    const Values out = b.emit(n.op->name(), operands, n.attrs.substitute(bindings), bodies);
    for (std::size_t i = 0; i < out.size(); ++i) map[n.results[i]] = out[i];
  }
  Values results;
  for (ValueId v : source.results) results.push_back(map.at(v));
  return results;
}

}  // namespace

Graph specialise(const Graph& g, const Registry& registry, const Bindings& bindings) {
  Graph out(g.name);
  for (const auto& [symbol, info] : g.symbols) {
    const auto it = bindings.find(symbol);
    if (it == bindings.end()) out.symbols.emplace(symbol, info);
    else if (it->second < info.lower || it->second > info.upper || it->second % info.divisor != 0)
      throw ArgumentError("symbol \"" + symbol + "\" is " + std::to_string(it->second) + ", expected " +
                          std::to_string(info.lower) + " to " + std::to_string(info.upper) + " in multiples of " +
                          std::to_string(info.divisor));
  }
  Builder b(out, registry);
  Values in;
  for (std::size_t i = 0; i < g.inputs().size(); ++i)
    in.push_back(b.input(substitute(g.type(g.inputs()[i]), bindings), g.input_names[i]));
  const Values results = specialise_region(b, g, Graph::top, in, bindings);
  for (std::size_t i = 0; i < results.size(); ++i) b.output(results[i], g.output_names[i]);
  return out;
}

}  // namespace rlx
