// Scalar operators of kernel bodies, on operands that all have the same number of lanes, but for a divisor that lanes
// share.
#pragma once
#include "compile/emit_llvm/kernel.hpp"
#include "compile/emit_llvm/math/complex.hpp"

#include <span>
#include <string_view>

namespace rlx::emit_llvm {

/// The result of node `n`, an elementwise primitive, on `in`. Throws DeviceError for what it refuses.
Val elementwise(Ir& ir, const Machine& machine, const Node& n, std::span<const Val> in);

/// LLVM type of a value of this type in registers (of one part, for complex types) and in memory.
LLVMTypeRef register_type(Ir& ir, DType t);
LLVMTypeRef storage_type(Ir& ir, DType t);
V from_storage(Ir& ir, const Machine& machine, DType t, V stored);
V to_storage(Ir& ir, const Machine& machine, DType t, V x);
inline bool index_is_run(std::int64_t stride) { return stride == 1; }

// --- By class of operand; false or an absent value: no such operator for this class.
V float_operator(std::string_view op, std::span<const V> x);
V integer_operator(std::string_view op, std::span<const V> x, bool is_signed);
V boolean_operator(std::string_view op, std::span<const V> x);
/// Real results (abs, real, imag) leave `im` absent; `done` is false where there is no such operator.
Complex complex_operator(std::string_view op, std::span<const Complex> x, bool& done);
Complex complex_multiply(Complex a, Complex b);

/// x / b, correctly rounded, for lanes x that share the scalar b: x times b's reciprocal, corrected once by its exact
/// remainder (Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor is
/// known in advance", IEEE Trans. Computers 53, 2004), or by division where exponents are so large or small that this
/// is not exact. On levels with fma as an instruction.
V divide_by_shared(V x, V b);

// --- convert.cpp
Val convert(Ir& ir, const Machine& machine, const Val& x, DType to);
/// A float that is a value of `t`, from a float or double `x`, rounded to nearest even; t is f16, bf16, f32 or f64.
V round_to_type(Ir& ir, const Machine& machine, DType t, V x);
V reduce_precision(Ir& ir, const Machine& machine, DType t, V x, int exponent_bits, int mantissa_bits);

// --- small_float.cpp: floats of 16 and 8 bits by integer arithmetic.
V half_to_float(Ir& ir, const Machine& machine, V bits16);
V float_to_half(Ir& ir, const Machine& machine, V x);
V bfloat_to_float(V bits16);
V float_to_bfloat(V x);
V float8_to_float(DType t, V code);
V float_to_float8(DType t, V x);
/// double -> float that a further rounding to 16 or 8 bits does not round twice: inexact results get an odd last bit.
V to_float_odd(V x);
/// x y + z of f16 or bf16 values in float, as a double that further roundings do not round twice.
V fma_odd(V x, V y, V z);

}  // namespace rlx::emit_llvm
