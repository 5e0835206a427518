#include "runtime/trial_values.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>
#include <optional>

namespace rlx::runtime {
namespace {

/// A value that overflows holds nothing.
bool holds(const Predicate& p, const Bindings& values) try { return p.holds(values); } catch (const ArgumentError&) {
  return false;
}

/// The value nearest to that of `values` for which `p` holds, of those that the symbol may have.
std::optional<std::int64_t> solved(const Predicate& p, const std::string& symbol, const SymbolInfo& info,
                                   Bindings values) {
  const std::int64_t was = values.at(symbol);
  const auto fits = [&](std::int64_t v) {
    if (v < info.lower || v > info.upper || v % info.divisor != 0) return false;
    values[symbol] = v;
    return holds(p, values);
  };
  // Of a condition that is linear in it, the root and its neighbours; of others (quotients, remainders) what is near.
  std::vector<std::int64_t> around{was};
  const auto slack = [&](std::int64_t v) {
    values[symbol] = v;
    return p.rhs.evaluate(values) - p.lhs.evaluate(values);
  };
  try {
    if (const std::int64_t at = slack(was), slope = slack(was + 1) - at; slope != 0) around.push_back(was - at / slope);
  } catch (const ArgumentError&) {  // No slope can be told.
  }
  const std::int64_t reach = 64 * info.divisor;
  for (auto center = around.rbegin(); center != around.rend(); ++center) {
    const std::int64_t multiple = *center - *center % info.divisor;
    for (std::int64_t d = 0; d <= reach; d += info.divisor)
      for (const std::int64_t v : {multiple + d, multiple - d})
        if (fits(v)) return v;
  }
  return {};
}

}  // namespace

std::vector<Predicate> guards_of(const Graph& g) {
  std::vector<Predicate> out;
  const auto collect = [&](RegionId region, const auto& self) -> void {
    for (const NodeId id : g.region(region).nodes) {
      const Node& n = g.node(id);
      std::vector<RegionType> regions;
      for (const RegionId r : n.regions) {
        regions.push_back({g.types_of(g.region(r).arguments), g.types_of(g.region(r).results)});
        self(r, self);
      }
      const Types types = g.types_of(n.operands);
      const Answer a = n.op->check(n.attrs, Signature{types, regions, &g.symbols});
      out.insert(out.end(), a.predicates.begin(), a.predicates.end());
    }
  };
  collect(Graph::top, collect);
  return out;
}

Bindings satisfying(Bindings values, const std::vector<Predicate>& guards, const SymbolTable& symbols) {
  // Each round mends what does not hold, by another symbol than the round before, lest two guards pull at one.
  for (std::size_t round = 0; round < 4 * (symbols.size() + 1); ++round) {
    bool all = true;
    for (const Predicate& p : guards) {
      const std::vector<std::string> free = (p.lhs - p.rhs).symbols();
      const auto has_value = [&](const std::string& s) { return values.contains(s); };  // Others are introduced.
      if (!std::ranges::all_of(free, has_value) || holds(p, values)) continue;
      all = false;
      for (std::size_t k = 0; k < free.size(); ++k) {
        const std::string& s = free[(k + round) % free.size()];
        if (const auto v = solved(p, s, symbols.at(s), values)) {
          values[s] = *v;
          break;
        }
      }
    }
    if (all) break;
  }
  return values;
}

}  // namespace rlx::runtime
