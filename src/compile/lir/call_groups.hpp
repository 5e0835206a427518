// Calls against the kernels that they run: rules "prologue" and "epilogue" of verify_program().
#pragma once
#include "compile/lir/verified_program.hpp"

#include <span>
#include <vector>

namespace rlx::compile {

class CallGroups {
 public:
  explicit CallGroups(const VerifiedProgram& program) : program_(program) {}

  /// The steps in their order, buffers and views aside.
  void visit(const Node& step);
  void end_region();

  /// Of a call and the kernels that it runs, those that have come, the last step included; empty where that is on its
  /// own.
  std::span<const Node* const> group() const { return group_; }

 private:
  void follow(const Node& n);
  void pieces(const Node& n) const;
  bool waits() const;
  bool is_prologue(const Node& n) const;

  const VerifiedProgram& program_;
  std::vector<const Node*> group_;
};

}  // namespace rlx::compile
