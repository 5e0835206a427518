#include "api/conformance/checks.hpp"
#include "api/conformance/rungs.hpp"

#include <rlx/runtime/backends.hpp>

#include <algorithm>

namespace rlx::conformance {

namespace {

// LIR operators are kernels' words: the tests of lowering and emitters run them, no sample does.
std::vector<const Op*> chosen(const Registry& registry, const std::string& filter) {
  std::vector<const Op*> all;
  for (const Op* op : registry.all())
    if (!op->has_trait(Trait::lir) && (filter.empty() || op->name().find(filter) != std::string_view::npos))
      all.push_back(op);
  const auto exact = std::find_if(all.begin(), all.end(), [&](const Op* op) { return op->name() == filter; });
  if (exact != all.end()) return {*exact};
  if (all.empty()) throw ArgumentError("no operator's name contains \"" + filter + "\"");
  return all;
}

Counts& rung_counts(Summary& s, std::string_view rung) {
  for (auto& [name, counts] : s.rungs)
    if (name == rung) return counts;
  throw InternalError("a rung that is not on the ladder: " + std::string(rung));
}

void count(Summary& s, const Registry& registry) {
  struct Seen {
    bool refused = false, is_extern = false;
    std::string reason;
  };
  std::map<std::pair<std::string, std::string>, Seen> pairs;
  for (const CaseResult& c : s.cases) {
    for (Counts* k : {&s.counts, &rung_counts(s, c.rung)})
      ++(c.outcome == Outcome::passed ? k->passed : c.outcome == Outcome::refused ? k->refused : k->failed);
    if ((c.kind != "value" && c.kind != "plan" && c.kind != "claim") || !c.path.empty()) continue;
    Seen& seen = pairs[{c.op, c.dtype}];
    seen.is_extern = registry.get(c.op).meaning() == Meaning::extern_;
    if (c.outcome == Outcome::refused && !seen.refused) seen.refused = true, seen.reason = c.reason;
  }
  for (auto& [key, seen] : pairs) {
    if (!seen.is_extern) ++s.pairs;
    if (seen.refused)
      (seen.is_extern ? s.extern_refused : s.refused).push_back({key.first, key.second, std::move(seen.reason)});
  }
  std::erase_if(s.rungs, [](const auto& r) { return r.second.total() == 0; });
}

}  // namespace

Summary run(const runtime::Catalog& catalog, const Options& options) {
  const Registry& registry = catalog.operators;
  const std::vector<const Op*> ops = chosen(registry, options.filter);
  const std::shared_ptr<runtime::Device> device = runtime::open_device(options.device);
  const bool is_reference = device->target().interprets();
  // Where a device's own compiler makes the code, each form takes that compiler's time.
  const bool compiles_slowly = device->computes() && !device->host_addressable();
  const Forms forms = compiles_slowly && !options.full ? Forms::one : Forms::all;
  Summary s{options.device};
  for (std::string_view rung : ladder()) s.rungs.push_back({std::string(rung), {}});
  Collector out(s, options, registry);
  if (options.filter.empty() && device->computes()) check_memory(*device, out);
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (options.progress) options.progress({ops[k]->name(), k, ops.size()});
    const std::vector<Instance> instances = instances_of(*ops[k], device->target(), forms, out);
    const std::vector<Expected> expected = expected_of(instances, options.device, out);
    if (is_reference) {
      check_definition(*ops[k], out);
      check_graphs(instances, out);
      check_derivatives(expected, out);
      check_batching(expected, out);
      check_sharding(expected, out);
    }
    check_values(expected, device, catalog, out);
  }
  if (options.progress) options.progress({"", ops.size(), ops.size()});
  count(s, registry);
  return s;
}

}  // namespace rlx::conformance
