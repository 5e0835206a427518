// A graph with its symbols replaced by values.
#include <rlx/compile/compile.hpp>

#include <rlx/ir/builder.hpp>

#include <limits>

namespace rlx {

namespace {

// Emits the nodes of a region anew, so that types follow from the substituted operands and attributes.
Values specialise_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Bindings& bindings) {
  return transcribe(g, r, arguments, [&](const Node& n, ValuesIn operands) {
    std::vector<RegionBody> bodies;
    for (RegionId inner : n.regions)
      bodies.push_back([&, inner](ValuesIn a) { return specialise_region(b, g, inner, a, bindings); });
    b.set_location(n.location);
    Values out = b.emit(n.op->name(), operands, n.attrs.substitute(bindings), bodies);
    b.keep_note(n, out);
    return out;
  });
}

/// "1 to 8", "at least 1 in multiples of 8"
std::string values_of(const SymbolInfo& s) {
  const std::string lower = std::to_string(s.lower);
  return (s.upper == std::numeric_limits<std::int64_t>::max() ? "at least " + lower
                                                              : lower + " to " + std::to_string(s.upper)) +
         (s.divisor == 1 ? "" : " in multiples of " + std::to_string(s.divisor));
}

}  // namespace

Graph specialise(const Graph& g, const Registry& registry, const Bindings& bindings) {
  Graph out(g.name);
  for (const auto& [symbol, info] : g.symbols) {
    const auto it = bindings.find(symbol);
    if (it == bindings.end()) out.symbols.emplace(symbol, info);
    else if (it->second < info.lower || it->second > info.upper || it->second % info.divisor != 0)
      throw ArgumentError("symbol \"" + symbol + "\" is " + std::to_string(it->second) + ", expected " +
                          values_of(info));
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
