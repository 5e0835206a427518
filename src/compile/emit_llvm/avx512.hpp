// Instructions of AVX-512 that no intrinsic of LLVM's own means. Each gives an absent value at other levels: the caller
// then spells the same bits by other instructions.
#pragma once
#include "compile/emit_llvm/ir.hpp"

namespace rlx::emit_llvm::avx512 {

/// x * 2^n for integral floats n, rounded once; n may lie outside the exponent range, be infinite (x is positive) or a
/// NaN.
V scale(V x, V n);
/// The smaller or the larger, -0 being below +0; of a number and a NaN the number.
enum class Which { smaller, larger };
V either(Which which, V a, V b);
/// x, or where that is farther from zero or a NaN, `limit` with some sign.
V nearer_zero(V x, double limit);

}  // namespace rlx::emit_llvm::avx512
