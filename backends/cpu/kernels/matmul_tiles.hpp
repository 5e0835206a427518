// The microkernel on tile registers (Intel AMX): 32 x 32 sums in four tiles.
#pragma once
#include "matmul_microkernel.hpp"

#include <string>

namespace rlx::cpu {

/// Whether this process may use tile registers of the machine for `instruction` ("amx-bf16", "amx-int8"). The first
/// question asks Linux for the permission, which is the process's and lasts: its signal frames then hold tiles (8 KiB),
/// so that later alternate signal stacks must be larger. Refused where an alternate stack is too small already.
bool tiles_usable(const emit_llvm::Machine& machine, std::string_view instruction);

/// LLVM IR of the kernel for panels of `vectors` tiles (1 or 2), and what it declares.
std::string tiles_declarations();
std::string tiles_text(const Microkernel& shape, int vectors, const std::string& name);

}  // namespace rlx::cpu
