// Reports of graphs for a target and with a record that are made up: nothing runs.
#pragma once
#include "compile/dispatch.hpp"

#include "catalog.hpp"
#include "compile/open_rows.hpp"

#include <rlx/ir/error.hpp>

#include <string>

namespace rlx::dispatched {

inline const Target target{.device = "made_up"};
inline const KernelRecord softmax_record{.name = "made_up.softmax",
                                         .op = "softmax",
                                         .provider = "handwritten",
                                         .action = Launch{[](const LaunchCall&) {}},
                                         .deterministic = false,
                                         .synchronises = true};

inline DispatchReport report_of(Graph g, const CompileOptions& options = {}, std::span<const KernelRecord> records = {},
                                const Target& on = target) {
  DispatchReport report = compile::open_rows(g, on, options);
  compile::dispatch(g, registry(), on, records, options, report);
  return report;
}

inline const ReportRow& row_of(const DispatchReport& r, std::string_view op) {
  for (const ReportRow& row : r.rows)
    if (row.op == op) return row;
  throw InternalError("no row of " + std::string(op));
}

}  // namespace rlx::dispatched
