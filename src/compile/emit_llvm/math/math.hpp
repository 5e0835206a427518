// Transcendental functions of f32 and f64 as LLVM IR: no calls of a math library, the same bits in every lane count and
// at every instruction level. Errors are measured against MPFR by tests/compile/math_accuracy_test.cpp; goals: f32 2
// ulp, f64 4 ulp; erfinv, lgamma and digamma 4 and 8, the latter two in absolute terms near their zeros at negative x.
// Polynomials were fitted for this code by Remez's exchange in 60-digit arithmetic; methods are cited where used.
#pragma once
#include "compile/emit_llvm/ir.hpp"

namespace rlx::emit_llvm::math {

V exp(V x);
V expm1(V x);
V log(V x);
V log1p(V x);
V rsqrt(V x);
V cbrt(V x);
V sin(V x);
V cos(V x);
V tan(V x);
V asin(V x);
V acos(V x);
V atan(V x);
V atan2(V y, V x);
V sinh(V x);
V cosh(V x);
V tanh(V x);
V erf(V x);
V erfc(V x);
V erfinv(V x);
V lgamma(V x);
V digamma(V x);
V pow(V x, V y);

}  // namespace rlx::emit_llvm::math
