// What ran, and why: one row a node of the user's graph.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/graph.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rlx {

/// recognised: the node is part of an operator that was written out, which another row has.
enum class Path : std::uint8_t { native, common, rewritten, recognised, unresolved };
RLX_API std::string_view name(Path p);

/// Why one way of lowering a node was not taken.
struct Refusal {
  std::string path;  ///< "native", "common" or "rewritten".
  std::string why;
  std::string where{};  ///< Source of the record, where there is one.
};

/// What the recognition pass made of a node; rows are named by their place in the report.
struct Recognised {
  /// In the row of the operator that was found: what the user wrote there ("div"), the rows of the other nodes that it
  /// stands for, and the pattern, which is the operator's name unless it is a form of its own.
  std::string written{}, pattern{};
  std::vector<int> from{};
  int into = -1;  ///< In a row of those others: that of the operator. -1: in no other.
};

/// One node of the user's graph, those inside loops and branches after the node that holds them. Numbers are those of
/// one run of the node.
struct ReportRow {
  std::string value;     ///< Name of the first result in the text form: "%17".
  std::string region{};  ///< Where it stands: "while/17.body", "scan/4.body/if/9.then"; empty: the graph itself.
  std::string op;        ///< What it is resolved as: the operator that was recognised, where one ends here.
  std::string types;
  Location location;
  Path path = Path::unresolved;
  std::string provider;  ///< "generated", "handwritten", "library:NAME"; several joined by " + ".
  std::string lowering;  ///< Record, rule, or "decomposition"; of a recognised node the operator that it is part of.
  std::vector<Refusal> refusals;
  std::vector<std::string> steps;  ///< Names of the LIR steps that it became, possibly shared with other rows.
  std::vector<std::string> notes;  ///< "loop: host-polled", "widened: f16 computed in f32"; Node::note.
  Recognised recognised{};
  double flops = 0, bytes = 0;  ///< 0 where the operator states no cost.
};

/// One step of the program; numbers are those of one run of it.
struct StepRow {
  std::string name, kind;  ///< kind: kernel, call, copy, while, if, size point.
  std::string provider;
  std::int64_t kernel_operations = 0;  ///< Nodes in the bodies of its kernels.
  /// What the nodes that it works out state as their cost; those that another step works out too count in both. Absent
  /// where one states none, where a size is known only at run time, and for loops and branches, whose steps have rows
  /// of their own.
  std::optional<double> flops{};
  /// Of buffers, read and written: at most what its kernels have loads and stores of, a call's operands and results
  /// whole. Absent where a size is known only at run time, and for loops and branches.
  std::optional<double> bytes{};
};

/// An input that the caller gives away (CompileOptions::donated).
struct DonationRow {
  std::string input;
  std::string result{};    ///< The result that is written over it; empty: none.
  std::int64_t bytes = 0;  ///< Of the input: what the result need not be given.
  std::string why{};       ///< Where there is none.
};

struct DispatchReport {
  std::string graph, device, policy;
  std::vector<ReportRow> rows;
  std::vector<StepRow> steps;
  std::vector<DonationRow> donations{};  ///< The arrays of donated inputs, in order.
  std::int64_t arena_bytes = 0;
  /// Of a graph with symbols: the values that steps and bytes are said for. Others have plans of their own.
  Bindings planned_for{};

  RLX_API std::size_t unresolved() const;
  /// A note of row `origin` (-1: none), which has each text once.
  RLX_API void add_note(int origin, std::string text);
  RLX_API std::string to_table() const;
  /// {"graph", "device", "policy", "nodes": [{"value", "region", "op", "path", "provider", "lowering", "recognised":
  /// {"pattern", "written", "from": ["%3"]}, "recognised_in": "%7", ...}],
  /// "unresolved": n, "steps": [{"name", "kind", "provider", "operations", "flops", "bytes"}], "donations": [{"input",
  /// "result", "bytes", "why"}], "planned_for": {"n": 1024}, ...}. A node whose location is known has "file" and
  /// "line"; what is absent is null.
  RLX_API std::string to_json() const;
};

/// Some nodes have no lowering. The message lists every one with each path's refusal.
class RLX_API CompileError : public Error {
 public:
  explicit CompileError(DispatchReport report);
  ~CompileError() override;
  const DispatchReport& report() const noexcept { return report_; }

 private:
  DispatchReport report_;
};

}  // namespace rlx
