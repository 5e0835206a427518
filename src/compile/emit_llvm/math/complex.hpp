// Functions of complex numbers, on c128; c64 comes here as c128, where nothing that it holds over- or underflows on the
// way. Small relative to the modulus of the result, the errors are a few units of the last place. Special values are
// those of C99's annex G, except where a comment says otherwise.
#pragma once
#include "compile/emit_llvm/ir.hpp"

namespace rlx::emit_llvm {

struct Complex {
  V re, im;
};

namespace math {

V modulus(Complex z);
Complex sign(Complex z);
Complex exp(Complex z);
Complex expm1(Complex z);
Complex log(Complex z);
Complex log1p(Complex z);
Complex sqrt(Complex z);
Complex sinh(Complex z);
Complex cosh(Complex z);
Complex tanh(Complex z);
Complex multiply(Complex x, Complex y);  ///< Without annex G's repair of infinities.
Complex divide(Complex x, Complex y);
Complex pow(Complex x, Complex y);

}  // namespace math
}  // namespace rlx::emit_llvm
