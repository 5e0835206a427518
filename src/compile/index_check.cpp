#include "compile/index_check.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

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

std::string index_check(std::string_view kind, const Node& n) {
  return std::string(kind) + "|" + std::to_string(n.origin) + "|";
}
std::string index_check(std::string_view kind, const Node& n, const Dim& most) {
  const bool none = most.is_constant() && most.constant() < 0;
  return index_check(kind, n) + (none ? "none, there is nothing to read" : "0 to " + most.to_string());
}

IndexCheck read_index_check(std::string_view text) {
  IndexCheck c{std::string(text.substr(0, text.find('|'))), -1, {}};
  const std::size_t row = c.kind.size() + 1, end = text.find('|', row);
  if (end == std::string_view::npos) return c;
  std::from_chars(text.data() + row, text.data() + end, c.row);
  c.expected = text.substr(end + 1);
  return c;
}

std::string index_error(const IndexCheck& c, std::int64_t index, const std::string& program,
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
