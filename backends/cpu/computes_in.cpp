#include "computes_in.hpp"

#include "compile/widening.hpp"

#include <algorithm>

namespace rlx::cpu {

// As src/compile/emit_llvm does it, whose text the tests compare: registers hold f16 and bf16 as f32; a few functions
// lose too much in f32; complex functions but sums and products would need scaling against overflow in between. That
// sin and cos bring arguments from 2^17 on near zero in f64 is not counted.
DType computes_in(std::string_view op, DType t) {
  static constexpr std::string_view in_f64[] = {"digamma", "erfc", "lgamma", "pow", "tan"};
  static constexpr std::string_view plain_complex[] = {"add", "fma", "mul", "sub"};
  const auto in = [&](std::span<const std::string_view> list) { return std::ranges::find(list, op) != list.end(); };
  if (t == DType::c64) return in(plain_complex) ? t : DType::c128;
  if ((t == DType::f16 || t == DType::bf16) && op == "fma") return DType::f64;
  if (is_floating(t) && in(in_f64)) return DType::f64;
  return compile::small_floats_in_f32(op, t);
}

}  // namespace rlx::cpu
