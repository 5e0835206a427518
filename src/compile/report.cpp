#include <rlx/compile/report.hpp>

#include <rlx/ir/counted.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <sstream>

namespace rlx {

std::string_view name(Path p) {
  static constexpr std::array<std::string_view, 5> names{"native", "common-IR", "rewritten", "recognised",
                                                         "unresolved"};
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

// Lines of cells, each column as wide as its widest, below each what `below` says of its line.
template <std::size_t n>
static std::string aligned(const std::vector<std::array<std::string, n>>& lines,
                           const std::function<std::string(std::size_t)>& below = {}) {
  std::array<std::size_t, n> width{};
  for (const auto& l : lines)
    for (std::size_t c = 0; c < n; ++c) width[c] = std::max(width[c], l[c].size());
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = " ";
    for (std::size_t c = 0; c < n; ++c) line += " " + lines[i][c] + std::string(width[c] - lines[i][c].size() + 1, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (below) out += below(i);
  }
  return out;
}

// "1.31e+05", "-" where absent.
static std::string amount(const std::optional<double>& x) {
  if (!x) return "-";
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g", *x);
  return text.data();
}

// "recognised: softmax from 3 nodes: %3 exp, %4 reduce, %6 div"; empty where it was written so.
static std::string recognised_text(const DispatchReport& report, const ReportRow& r) {
  const Recognised& found = r.recognised;
  if (found.written.empty()) return {};
  std::string out = "recognised: " + r.op;
  if (found.pattern != r.op) out += " (" + found.pattern + ")";
  out += " from " + counted(found.from.size() + 1, "node") + ": ";
  for (int i : found.from) {
    const ReportRow& part = report.rows.at(static_cast<std::size_t>(i));
    out += part.value + " " + part.op + ", ";
  }
  return out + r.value + " " + found.written;
}

std::string DispatchReport::to_table() const {
  std::vector<std::array<std::string, 7>> nodes{{"node", "op", "type", "path", "provider", "lowering", "location"}};
  const auto row = [this](int i) -> const ReportRow& { return rows.at(static_cast<std::size_t>(i)); };
  for (const ReportRow& r : rows)
    nodes.push_back({(r.region.empty() ? "" : r.region + " ") + r.value, r.op, r.types, std::string(name(r.path)),
                     r.provider, r.lowering + (r.recognised.into < 0 ? "" : " of " + row(r.recognised.into).value),
                     r.location.to_string()});
  std::string out = graph + " on " + device + " (" + policy + "): " + counted(rows.size(), "node") + ", " +
                    counted(steps.size(), "step") + ", arena " + counted(arena_bytes, "byte") + "\n";
  for (const auto& [symbol, value] : planned_for)
    out += "  planned for " + symbol + " = " + std::to_string(value) + "\n";
  out += aligned<7>(nodes, [this](std::size_t line) {
    std::string notes;
    if (line == 0) return notes;
    if (const std::string text = recognised_text(*this, rows[line - 1]); !text.empty())
      notes += "      note: " + text + "\n";
    for (const std::string& note : rows[line - 1].notes) notes += "      note: " + note + "\n";
    return notes;
  });
  if (!steps.empty()) {
    std::vector<std::array<std::string, 6>> lines{{"step", "kind", "provider", "operations", "flops", "bytes"}};
    for (const StepRow& s : steps)
      lines.push_back(
          {s.name, s.kind, s.provider, std::to_string(s.kernel_operations), amount(s.flops), amount(s.bytes)});
    out += aligned<6>(lines);
  }
  for (const DonationRow& d : donations)
    out += "  donated \"" + d.input + "\" (" + counted(d.bytes, "byte") +
           "): " + (d.result.empty() ? d.why : "\"" + d.result + "\" is written over it") + "\n";
  return out;
}

std::string DispatchReport::to_json() const {
  using nlohmann::json;
  const auto number = [](const std::optional<double>& x) { return x ? json(*x) : json(); };
  json j{{"graph", graph},
         {"device", device},
         {"policy", policy},
         {"unresolved", unresolved()},
         {"arena_bytes", arena_bytes},
         {"planned_for", json::object()}};
  for (const auto& [symbol, value] : planned_for) j["planned_for"][symbol] = value;
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
    json& node = j["nodes"].back();
    node["recognised"] = node["recognised_in"] = nullptr;
    if (const Recognised& found = r.recognised; !found.written.empty()) {
      json from = json::array();
      for (int i : found.from) from.push_back(rows.at(static_cast<std::size_t>(i)).value);
      node["recognised"] = {{"pattern", found.pattern}, {"written", found.written}, {"from", from}};
    }
    if (r.recognised.into >= 0) node["recognised_in"] = rows.at(static_cast<std::size_t>(r.recognised.into)).value;
    if (r.location.file.empty()) continue;
    node["file"] = r.location.file;
    node["line"] = r.location.line;
  }
  j["steps"] = json::array();
  for (const StepRow& s : steps)
    j["steps"].push_back({{"name", s.name},
                          {"kind", s.kind},
                          {"provider", s.provider},
                          {"operations", s.kernel_operations},
                          {"flops", number(s.flops)},
                          {"bytes", number(s.bytes)}});
  j["donations"] = json::array();
  for (const DonationRow& d : donations)
    j["donations"].push_back({{"input", d.input}, {"result", d.result}, {"bytes", d.bytes}, {"why", d.why}});
  return j.dump(2);
}

static std::string compile_message(const DispatchReport& r) {
  std::ostringstream out;
  out << r.unresolved() << " of " << counted(r.rows.size(), "node") << " " << (r.unresolved() == 1 ? "has" : "have")
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
