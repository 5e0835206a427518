// A LIR program while it is verified: its buffers, and the step that is looked at.
#pragma once
#include <rlx/compile/report.hpp>
#include <rlx/ir/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace rlx::compile {

class VerifiedProgram {
 public:
  /// Both outlive it.
  VerifiedProgram(const Graph& g, const DispatchReport& r)
      : graph(g), report(r), root_(g.value_count(), -1), memory_(g.value_count()) {}

  const Graph& graph;
  const DispatchReport& report;

  struct Memory {
    std::int64_t offset = -1, bytes = 0;  ///< Of a transient; bytes of any root.
    bool writable = false, transient = false, piecewise = false;
  };
  /// The buffer or input that a value is, or is a view of; -1: not known yet.
  ValueId root(ValueId v) const { return root_[static_cast<std::size_t>(v)]; }
  void set_root(ValueId v, ValueId r) { root_[static_cast<std::size_t>(v)] = r; }
  const Memory& memory(ValueId root) const { return memory_[static_cast<std::size_t>(root)]; }
  Memory& memory(ValueId root) { return memory_[static_cast<std::size_t>(root)]; }
  bool is_buffer(ValueId v) const { return std::holds_alternative<TensorType>(graph.type(v)); }

  /// What is refused from now on is this step's fault; null: the program's.
  void at(const Node* step) { step_ = step; }
  /// Throws LocatedVerifyError with the step, the rule and these buffers.
  [[noreturn]] void refuse(const std::string& rule, const std::string& why,
                           std::initializer_list<ValueId> buffers) const;

 private:
  std::string place(ValueId v) const;

  std::vector<ValueId> root_;
  std::vector<Memory> memory_;  // Of roots.
  const Node* step_ = nullptr;
};

}  // namespace rlx::compile
