#include <rlx/compile/report.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sstream>

namespace rlx {

std::string_view name(Path p) {
  static constexpr std::array<std::string_view, 4> names{"native", "common-IR", "rewritten", "unresolved"};
  return names[static_cast<std::size_t>(p)];
}

std::size_t DispatchReport::unresolved() const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const ReportRow& r) { return r.path == Path::unresolved; }));
}

void DispatchReport::add_note(int origin, std::string text) {
  if (origin < 0) return;
  auto& notes = rows.at(static_cast<std::size_t>(origin)).notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

void DispatchReport::drop_step(std::string_view step, int origin) {
  if (const auto s = std::find_if(steps.rbegin(), steps.rend(), [&](const StepRow& x) { return x.name == step; });
      s != steps.rend())
    steps.erase(std::next(s).base());
  if (origin < 0) return;
  auto& of_row = rows.at(static_cast<std::size_t>(origin)).steps;
  if (const auto s = std::find(of_row.rbegin(), of_row.rend(), step); s != of_row.rend())
    of_row.erase(std::next(s).base());
}

std::string DispatchReport::to_table() const {
  constexpr std::size_t columns = 7;
  std::vector<std::array<std::string, columns>> lines{
      {"node", "op", "type", "path", "provider", "lowering", "location"}};
  for (const ReportRow& r : rows)
    lines.push_back({(r.region.empty() ? "" : r.region + " ") + r.value, r.op, r.types, std::string(name(r.path)),
                     r.provider, r.lowering, r.location.to_string()});
  std::array<std::size_t, columns> width{};
  for (const auto& l : lines)
    for (std::size_t c = 0; c < columns; ++c) width[c] = std::max(width[c], l[c].size());
  std::string out = graph + " on " + device + " (" + policy + "): " + std::to_string(rows.size()) + " nodes, " +
                    std::to_string(steps.size()) + " steps, arena " + std::to_string(arena_bytes) + " bytes\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = " ";
    for (std::size_t c = 0; c < columns; ++c)
      line += " " + lines[i][c] + std::string(width[c] - lines[i][c].size() + 1, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (i == 0) continue;
    for (const std::string& note : rows[i - 1].notes) out += "      note: " + note + "\n";
  }
  for (const DonationRow& d : donations)
    out += "  donated \"" + d.input + "\" (" + std::to_string(d.bytes) +
           " bytes): " + (d.result.empty() ? d.why : "\"" + d.result + "\" is written over it") + "\n";
  return out;
}

std::string DispatchReport::to_json() const {
  using nlohmann::json;
  json j{{"graph", graph},
         {"device", device},
         {"policy", policy},
         {"unresolved", unresolved()},
         {"arena_bytes", arena_bytes}};
  j["nodes"] = json::array();
  for (const ReportRow& r : rows) {
    json refusals = json::array();
    for (const Refusal& f : r.refusals) refusals.push_back({{"path", f.path}, {"why", f.why}, {"where", f.where}});
    j["nodes"].push_back({{"value", r.value},
                          {"region", r.region},
                          {"op", r.op},
                          {"types", r.types},
                          {"path", name(r.path)},
                          {"provider", r.provider},
                          {"lowering", r.lowering},
                          {"refusals", refusals},
                          {"steps", r.steps},
                          {"notes", r.notes},
                          {"flops", r.flops},
                          {"bytes", r.bytes}});
    if (r.location.file.empty()) continue;
    j["nodes"].back()["file"] = r.location.file;
    j["nodes"].back()["line"] = r.location.line;
  }
  j["steps"] = json::array();
  for (const StepRow& s : steps)
    j["steps"].push_back(
        {{"name", s.name}, {"kind", s.kind}, {"provider", s.provider}, {"operations", s.kernel_operations}});
  j["donations"] = json::array();
  for (const DonationRow& d : donations)
    j["donations"].push_back({{"input", d.input}, {"result", d.result}, {"bytes", d.bytes}, {"why", d.why}});
  return j.dump(2);
}

static std::string compile_message(const DispatchReport& r) {
  std::ostringstream out;
  out << r.unresolved() << " of " << r.rows.size() << " nodes " << (r.unresolved() == 1 ? "has" : "have")
      << " no lowering for " << r.device << " (policy: " << r.policy << ")";
  for (const ReportRow& row : r.rows) {
    if (row.path != Path::unresolved) continue;
    out << "\n  " << (row.region.empty() ? "" : row.region + " ") << row.value << " " << row.op << " " << row.types;
    if (!row.location.file.empty()) out << "  " << row.location.to_string();
    for (const Refusal& f : row.refusals) {
      out << "\n      " << f.path << std::string(11 - std::min<std::size_t>(10, f.path.size()), ' ') << f.why;
      if (!f.where.empty()) out << "  " << f.where;
    }
  }
  return out.str();
}

CompileError::CompileError(DispatchReport report)
    : Error("CompileError", compile_message(report)), report_(std::move(report)) {}
CompileError::~CompileError() = default;

}  // namespace rlx
