// Instructions of AVX-512 that no intrinsic of LLVM's own means. Each gives an absent value where the level, or so few
// lanes, have none: the caller then spells the same bits by other instructions.
#pragma once
#include "compile/emit_llvm/ir.hpp"

namespace rlx::emit_llvm::avx512 {

/// x * 2^n for integral floats n, rounded once; n may lie outside the exponent range.
V scale(V x, V n);
/// The smaller or the larger, -0 being below +0; of a number and a NaN the number.
enum class Which { smaller, larger };
V either(Which which, V a, V b);

}  // namespace rlx::emit_llvm::avx512
