#include <rlx/compile/compile.hpp>

#include "compile/dispatch.hpp"
#include "compile/elide_copies.hpp"
#include "compile/fuse_epilogues.hpp"
#include "compile/lir/verify_program.hpp"
#include "compile/lower/lower.hpp"
#include "compile/plan_memory.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/verify.hpp>

#include <array>
#include <cstdlib>
#include <map>

namespace rlx {

std::string_view name(Preference p) {
  static constexpr std::array<std::string_view, 3> names{"prefer-native", "force-common", "force-native"};
  return names[static_cast<std::size_t>(p)];
}

std::optional<Preference> parse_preference(std::string_view text) {
  for (const Preference p : {Preference::native, Preference::force_common, Preference::force_native})
    if (text == name(p)) return p;
  return {};
}

CompileOptions options_from_environment(CompileOptions o) {
  const auto flag = [](const char* name, bool& value) {
    const char* text = std::getenv(name);
    if (!text || !*text) return;
    const std::string_view given = text;
    if (given != "0" && given != "1") throw ArgumentError(std::string(name) + " is \"" + text + "\", expected 0 or 1");
    value = given == "1";
  };
  if (const char* text = std::getenv("RLX_POLICY"); text && *text) {
    const std::optional<Preference> p = parse_preference(text);
    if (!p)
      throw ArgumentError(std::string("RLX_POLICY is \"") + text + "\", expected " + std::string(preference_names));
    o.preference = *p;
  }
  flag("RLX_REPRODUCIBLE", o.reproducible);
  flag("RLX_CHECKED", o.checked);
  flag("RLX_CHECK_NUMERICS", o.check_numerics);
  return o;
}

Program compile_program(const Graph& hir, const Registry& registry, const Target& target,
                        std::span<const KernelRecord> records, const CompileOptions& given) {
  CompileOptions options = given;
  options.fuse = given.fuse && !given.check_numerics;  // A check of every node needs every node's result in memory.
  verify(hir, Level::hir);
  compile::Dispatched d = compile::dispatch(hir, registry, target, records, options);
  verify(d.mir, Level::mir);
  Program p{std::move(d.mir), Graph(hir.name), {}, 0};
  if (!target.interprets) {
    const auto check = [&](const std::optional<compile::MemoryPlan>& plan) {
      verify(p.lir, Level::lir);
      compile::verify_program(p.lir, target, d.report, plan);
    };
    p.lir = compile::lower(p.mir, registry, target, records, options, d.report);
    check({});
    compile::elide_copies(p.lir, d.report);
    check({});
    if (options.fuse) compile::fuse_epilogues(p.lir, records, d.report);
    check({});
    p.arena_bytes = compile::plan_memory(p.lir, target);
    check(compile::MemoryPlan{p.arena_bytes});
  }
  d.report.arena_bytes = p.arena_bytes;
  p.report = std::move(d.report);
  return p;
}

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
