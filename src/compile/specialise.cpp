// A graph with its symbols replaced by values.
#include <rlx/compile/compile.hpp>

#include <rlx/ir/bind.hpp>
#include <rlx/ir/builder.hpp>

namespace rlx {

namespace {

// Emits the nodes of a region anew, so that types follow from the substituted operands and attributes.
Values specialise_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Bindings& bindings) {
  return transcribe(g, r, arguments, [&](const Node& n, ValuesIn operands) {
    std::vector<RegionBody> bodies;
    for (RegionId inner : n.regions)
      bodies.push_back([&, inner](ValuesIn a) { return specialise_region(b, g, inner, a, bindings); });
    b.set_location(n.location);
    Values results = b.emit(n.op->name(), operands, n.attrs.substitute(bindings), bodies);
    b.keep_note(n, results);
    Types are, stated;
    for (std::size_t i = 0; i < results.size(); ++i) {
      are.push_back(results[i].type());
      stated.push_back(substitute(g.type(n.results[i]), bindings));
    }
    check_stated(n.op->name(), are, stated);
    return results;
  });
}

}  // namespace

Graph specialise(const Graph& g, const Registry& registry, const Bindings& bindings) {
  check_values(g.symbols, bindings);
  Graph out(g.name);
  for (const auto& s : g.symbols)
    if (!bindings.contains(s.first)) out.symbols.insert(s);
  Builder b(out, registry);
  Values in;
  for (std::size_t i = 0; i < g.inputs().size(); ++i)
    in.push_back(b.input(substitute(g.type(g.inputs()[i]), bindings), g.input_names[i]));
  const Values results = specialise_region(b, g, Graph::top, in, bindings);
  for (std::size_t i = 0; i < results.size(); ++i) b.output(results[i], g.output_names[i]);
  return out;
}

}  // namespace rlx
