#include "compile/index_check.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rlx::compile {
namespace {

// What is checked, of which operator, in which of its operands.
struct CheckedKind {
  std::string_view name, op, operand;
};
constexpr CheckedKind checked_kinds[] = {{"gather index", "gather", "indices"},
                                         {"group size", "ragged_dot", "group_sizes"},
                                         {"repeat count", "repeat", "counts"},
                                         {"scatter index", "scatter", "indices"},
                                         {"segment offset", "segment_reduce", "offsets"}};

}  // namespace

lir::CheckAttrs index_check(std::string_view kind, const Node& n, std::string expected) {
  return {std::string(kind), n.origin, std::move(expected), {}};
}

std::string index_range(const Dim& most) {
  const bool none = most.is_constant() && most.constant() < 0;
  return none ? "none, there is nothing to read" : "0 to " + most.to_string();
}

std::string index_error(const lir::CheckAttrs& c, std::int64_t index, const std::string& program,
                        const DispatchReport& report) {
  std::string s = c.kind + " " + std::to_string(index) + " is out of range in program \"" + program + "\"";
  const auto known = std::find_if(std::begin(checked_kinds), std::end(checked_kinds),
                                  [&](const CheckedKind& k) { return k.name == c.kind; });
  if (known == std::end(checked_kinds)) return s;
  const std::string_view op = known->op;
  s += c.expected.empty() ? ": refused" : ": expected " + c.expected;
  s += " by the operand " + std::string(known->operand) + " of ";
  if (c.row < 0 || static_cast<std::size_t>(c.row) >= report.rows.size()) return s + std::string(op);
  const ReportRow& row = report.rows[static_cast<std::size_t>(c.row)];
  s += row.op == op ? row.value + " " + row.op : std::string(op) + " in " + row.value + " " + row.op;
  if (!row.region.empty()) s += " of " + row.region;
  if (!row.location.file.empty()) s += " (" + row.location.file + ":" + std::to_string(row.location.line) + ")";
  return s;
}

}  // namespace rlx::compile
