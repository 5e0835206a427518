// The steps of a LIR program against the report, and a call against the kernels that it runs: rules "claimed",
// "prologue" and "epilogue" of verify_program().
#pragma once
#include "compile/lir/verified_program.hpp"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rlx::compile {

class StepClaims {
 public:
  explicit StepClaims(const VerifiedProgram& program);

  /// The steps in their order, buffers and views aside.
  void visit(const Node& step);
  void end_region();
  void finish() const;  ///< After the last.

  /// Of a call and the kernels that it runs, those that have come, the last step included; empty where that is on its
  /// own.
  std::span<const Node* const> group() const { return group_; }

 private:
  void follow(const Node& n);
  void pieces(const Node& n) const;
  void claim(const Node& n);
  void row_names(const Node& n, const std::string& name) const;
  bool waits() const;
  bool is_prologue(const Node& n) const;

  const VerifiedProgram& program_;
  std::map<std::pair<std::string, std::string>, int> unclaimed_;  // Kind and name.
  std::vector<const Node*> group_;
  std::vector<const Node*> prologues_;  // Whose call has not come.
};

}  // namespace rlx::compile
