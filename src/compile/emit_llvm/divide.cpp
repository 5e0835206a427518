// Division of many numbers by one.
#include "compile/emit_llvm/elementwise.hpp"

#include <cmath>

namespace rlx::emit_llvm {

namespace {

/// Whether 1 / b is a constant without error: LLVM makes such a division a product.
bool is_power_of_two(V b) {
  if (!LLVMIsConstant(b.v)) return false;
  LLVMBool loses = 0;
  int exponent = 0;
  return std::fabs(std::frexp(LLVMConstRealGetDouble(b.v, &loses), &exponent)) == 0.5;
}

/// 2^e as the bits of a float of x's type, without the sign's: the rest one to the left.
std::uint64_t power_bits(V x, int e) {
  const bool wide = is_f64(x);
  return static_cast<std::uint64_t>(e + (wide ? 1023 : 127)) << (wide ? 53 : 24);
}

}  // namespace

V divide_by_shared(V x, V b) {
  Ir& ir = *x.ir;
  if (is_power_of_two(b)) return x / b;
  const bool wide = is_f64(x);
  // Within these exponents the quotient is far from overflow, and neither it nor its remainder is subnormal.
  const int most_x = wide ? 600 : 80, most_b = wide ? 300 : 40;
  const V size = abs(b);
  const V tame = ge(size, std::ldexp(1.0, -most_b)) & le(size, std::ldexp(1.0, most_b));
  // One signed comparison of |x|'s bits for both bounds: the lowest integer is moved to the lower bound. A divisor that
  // is not tame leaves no x within them.
  const LLVMTypeRef word = Ir::element(as_bits(b).type());
  const std::uint64_t low = power_bits(x, -most_x), high = power_bits(x, most_x),
                      lowest = std::uint64_t{1} << (Ir::bits(word) - 1);
  const auto integer = [&](LLVMTypeRef t, std::uint64_t bits) {
    return ir.integer(t, static_cast<std::int64_t>(bits));
  };
  const V limit = select(tame, integer(word, high - low + lowest), integer(word, lowest));
  const V place = shl(as_bits(x), 1) + integer(Ir::shaped(word, x.type()), lowest - low);
  const V reciprocal = number(b, 1.0) / b;
  const V q = x * reciprocal;
  const V remainder = fma(-b, q, x);
  return ir.if_rarely(any(ge(place, limit)), fma(remainder, reciprocal, q), [&] { return x / b; });
}

}  // namespace rlx::emit_llvm
