// The microkernel on vector registers: LLVM IR whose sums stay in registers along k.
#pragma once
#include "matmul_microkernel.hpp"

#include <string>

namespace rlx::cpu {

constexpr int register_bytes(emit_llvm::Isa isa) {
  return isa == emit_llvm::Isa::avx512 ? 64 : isa == emit_llvm::Isa::avx2 ? 32 : 16;
}

/// What the kernels of a shape declare, and that for panels of `vectors` registers; `in_place`: A is not packed.
std::string registers_declarations(const Microkernel& shape, const emit_llvm::Machine& machine);
std::string registers_text(const Microkernel& shape, const emit_llvm::Machine& machine, int vectors, bool in_place,
                           const std::string& name);

}  // namespace rlx::cpu
