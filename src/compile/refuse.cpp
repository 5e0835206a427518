#include "compile/refuse.hpp"

#include <rlx/compile/lir.hpp>

#include <utility>

namespace rlx::compile {

// A row of what belongs to none: a graph without nodes.
static void add_program(DispatchReport& report) {
  ReportRow row;
  row.value = "-";
  row.op = "program";
  report.rows.push_back(std::move(row));
}

static void refuse_row(ReportRow& row, const std::string& path, const std::string& why) {
  row.path = Path::unresolved;
  row.refusals.push_back({path, why});
}

void refuse_step(DispatchReport report, const Node& step, const std::string& why) {
  const bool owned = step.origin >= 0 && static_cast<std::size_t>(step.origin) < report.rows.size();
  if (!owned) add_program(report);
  refuse_row(owned ? report.rows[static_cast<std::size_t>(step.origin)] : report.rows.back(), "memory",
             lir::step_name(step) + " " + why);
  throw CompileError(std::move(report));
}

void refuse_program(DispatchReport report, const std::string& path, const std::string& why) {
  if (report.rows.empty()) add_program(report);
  for (ReportRow& row : report.rows) refuse_row(row, path, why);
  throw CompileError(std::move(report));
}

}  // namespace rlx::compile
