#include <rlx/conformance.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace rlx::conformance {

std::string_view name(Outcome o) {
  return o == Outcome::passed ? "passed" : o == Outcome::refused ? "refused" : "failed";
}

namespace {

std::string row(const std::string& rung, const Counts& c) {
  char text[160];
  std::snprintf(text, sizeof text, "  %-22s %7zu %7zu %7zu\n", rung.c_str(), c.passed, c.refused, c.failed);
  return text;
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

void list(std::string& out, const std::string& title, const std::vector<Pair>& pairs) {
  if (pairs.empty()) return;
  out += title + "\n";
  for (const Pair& p : pairs) out += "  " + p.op + " " + p.dtype + ": " + p.reason + "\n";
}

nlohmann::json json_of(const Counts& c) { return {{"passed", c.passed}, {"refused", c.refused}, {"failed", c.failed}}; }
nlohmann::json json_of(const std::vector<Pair>& pairs) {
  nlohmann::json all = nlohmann::json::array();
  for (const Pair& p : pairs) all.push_back({{"op", p.op}, {"dtype", p.dtype}, {"reason", p.reason}});
  return all;
}

}  // namespace

std::string Summary::to_table() const {
  const bool plans = std::ranges::any_of(cases, [](const CaseResult& c) { return c.kind == "plan"; });
  std::string out = "conformance on " + device + (plans ? ", which runs nothing: plans alone" : "") +
                    "\n  rung                    passed refused  failed\n";
  for (const auto& [rung, c] : rungs) out += row(rung, c);
  out += row("all", counts);
  out += "  (operator, dtype) pairs without a lowering: " + std::to_string(refused.size()) + " of " +
         std::to_string(pairs) + " (" + percent(refused_share()) +
         "), Extern operators apart: " + std::to_string(extern_refused.size()) + "\n";
  for (const auto& [reason, n] : skipped) out += "  no case: " + std::to_string(n) + " of " + reason + "\n";
  list(out, "refused:", refused);
  list(out, "refused, Extern:", extern_refused);
  bool first = true;
  for (const CaseResult& c : cases) {
    // Those of the default path are listed by pairs.
    const bool other_refusal =
        c.outcome == Outcome::refused && ((c.kind != "value" && c.kind != "plan") || !c.path.empty());
    if (c.outcome != Outcome::failed && !other_refusal) continue;
    if (std::exchange(first, false)) out += "cases:\n";
    out += "  " + std::string(name(c.outcome)) + " " + c.name + ": " + c.reason + "\n";
  }
  return out;
}

std::string Summary::to_json() const {
  using nlohmann::json;
  json j = json_of(counts);
  j["device"] = device;
  j["rungs"] = json::array();
  for (const auto& [rung, c] : rungs) {
    json r = json_of(c);
    r["rung"] = rung;
    j["rungs"].push_back(std::move(r));
  }
  j["pairs"] = pairs;
  j["refused_share"] = refused_share();
  j["refused_pairs"] = json_of(refused);
  j["extern_refused_pairs"] = json_of(extern_refused);
  j["skipped"] = skipped;
  j["cases"] = json::array();
  for (const CaseResult& c : cases)
    j["cases"].push_back({{"name", c.name},
                          {"op", c.op},
                          {"dtype", c.dtype},
                          {"kind", c.kind},
                          {"rung", c.rung},
                          {"path", c.path},
                          {"outcome", name(c.outcome)},
                          {"reason", c.reason}});
  return j.dump(2);
}

}  // namespace rlx::conformance
