#include "api/conformance/index_watch.hpp"

#include "runtime/index_checks.hpp"

namespace rlx::conformance {

bool stays_in_range(const Instance& i, const HostValues& in, const Registry& registry) {
  bool in_range = true;
  evaluate(i.graph, registry, in, [&](const Node& n, auto operands, auto results) {
    in_range = in_range && !runtime::check_indices(n, operands, results).refused();
  });
  return in_range;
}

HostValues evaluate_made(const Graph& g, const HostValues& in, bool checked, const Registry& registry) {
  if (!checked) return evaluate(g, registry, in);
  return evaluate(g, registry, in, [](const Node& n, auto operands, auto results) {
    if (const runtime::CheckReport c = runtime::check_indices(n, operands, results); c.refused())
      throw ArgumentError(c.what.kind + " " + std::to_string(c.index) +
                          " is out of range, and none of the operator's is");
  });
}

}  // namespace rlx::conformance
