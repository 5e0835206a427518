#include "compile/open_rows.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ir/text.hpp>

#include <algorithm>

namespace rlx::compile {
namespace {

// One row for each node of the user's graph, which learns it as its origin. Regions of loops and branches hold nodes of
// their own; those of other operators (the combination of a reduce) are scalar functions, part of their node.
class RowOpener {
 public:
  RowOpener(Graph& g, DispatchReport& report) : g_(g), numbers_(print_numbers(g)), report_(report) {}

  void region(RegionId r, const std::string& where) {
    for (NodeId id : g_.region(r).nodes) {
      Node& n = g_.node(id);
      n.origin = static_cast<std::int32_t>(report_.rows.size());
      const std::string number =
          n.results.empty() ? "-" : std::to_string(numbers_[static_cast<std::size_t>(n.results.front())]);
      ReportRow row;
      row.value = n.results.empty() ? "-" : "%" + number;
      row.region = where;
      row.op = n.op->name();
      for (ValueId v : n.results) row.types += (row.types.empty() ? "" : ", ") + to_string(g_.type(v));
      row.location = n.location;
      if (!n.note.empty()) row.notes.push_back(n.note);
      report_.rows.push_back(std::move(row));
      const auto names = region_names(n.op->name());
      for (std::size_t i = 0; i < n.regions.size(); ++i) {
        if (i < names.size())
          region(n.regions[i], where + (where.empty() ? "" : "/") + std::string(n.op->name()) + "/" + number + "." +
                                   std::string(names[i]));
        else forget(n.regions[i]);
      }
    }
  }

 private:
  static std::vector<std::string_view> region_names(std::string_view op) {
    if (op == "while") return {"condition", "body"};
    if (op == "if") return {"then", "else"};
    if (op == "scan") return {"body"};
    return {};
  }
  // Whatever another pass left there would be taken for rows of this report.
  void forget(RegionId r) {
    for (NodeId id : g_.region(r).nodes) {
      g_.node(id).origin = -1;
      for (RegionId inner : g_.node(id).regions) forget(inner);
    }
  }

  Graph& g_;
  const std::vector<std::int32_t> numbers_;
  DispatchReport& report_;
};

// "prefer native": in a sentence.
std::string policy_text(const CompileOptions& o) {
  std::string text(name(o.preference));
  std::replace(text.begin(), text.end(), '-', ' ');
  return text;
}

}  // namespace

DispatchReport open_rows(Graph& hir, const Target& target, const CompileOptions& options) {
  DispatchReport report;
  report.graph = hir.name;
  report.device = target.device;
  report.policy = policy_text(options);
  RowOpener(hir, report).region(Graph::top, "");
  return report;
}

}  // namespace rlx::compile
