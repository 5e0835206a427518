// What this backend's records know of the processor that they run on.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"

#include <rlx/compile/target.hpp>
#include <rlx/ir/error.hpp>

namespace rlx::cpu {

struct CpuFacts final : DeviceFacts {
  explicit CpuFacts(emit_llvm::Machine m) : machine(std::move(m)) {}
  emit_llvm::Machine machine;
};

/// The level that a target of this backend stands for, on this host's processor.
inline const emit_llvm::Machine& machine_of(const Target& t) {
  const auto* facts = dynamic_cast<const CpuFacts*>(t.facts.get());
  if (!facts) throw InternalError("a record of the device cpu runs for the target " + t.description);
  return facts->machine;
}

}  // namespace rlx::cpu
