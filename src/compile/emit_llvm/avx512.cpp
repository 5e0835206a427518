#include "compile/emit_llvm/avx512.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace rlx::emit_llvm::avx512 {

namespace {

constexpr int register_bits = 512;

int size(V x) { return Ir::bits(x.type()) * Ir::lanes(x.type()); }
bool is_available(V x) { return x.ir->isa == Isa::avx512 && size(x) >= 128; }

/// `one` of what a register holds, for as many registers as there are.
V by_registers(V a, V b, const std::function<V(V, V)>& one) {
  if (size(a) <= register_bits) return one(a, b);
  const int lanes = Ir::lanes(a.type()), half = lanes / 2;
  Ir& ir = *a.ir;
  const V low = by_registers(ir.slice(a, 0, half), ir.slice(b, 0, half), one);
  const V high = by_registers(ir.slice(a, half, half), ir.slice(b, half, half), one);
  std::vector<int> all;
  for (int i = 0; i < lanes; ++i) all.push_back(i);
  return ir.shuffle(low, high, all);
}

/// The unmasked instruction llvm.x86.avx512.mask.<name>.<p[sd]>.<bits>; whole registers take a rounding mode besides.
V call(const std::string& name, std::vector<V> operands, V a) {
  Ir& ir = *a.ir;
  const int bits = size(a), mask_bits = std::max(8, Ir::lanes(a.type()));
  operands.push_back(ir.zero(a.type()));
  operands.push_back(ir.integer(LLVMIntTypeInContext(ir.c, static_cast<unsigned>(mask_bits)), -1));
  constexpr int current_rounding = 4;
  if (bits == register_bits) operands.push_back(ir.integer(ir.i32, current_rounding));
  return ir.intrinsic("llvm.x86.avx512.mask." + name + (is_f64(a) ? ".pd." : ".ps.") + std::to_string(bits), operands);
}

}  // namespace

V scale(V x, V n) {
  if (!is_available(x)) return {};
  return by_registers(x, n, [](V a, V b) { return call("scalef", {a, b}, a); });
}

V either(Which which, V a, V b) {
  if (!is_available(a)) return {};
  // Bits 0 and 1 choose the comparison, bits 2 and 3 the sign, here that of what was chosen.
  const int control = which == Which::larger ? 5 : 4;
  return by_registers(a, b, [&](V x, V y) { return call("range", {x, y, x.ir->integer(x.ir->i32, control)}, x); });
}

}  // namespace rlx::emit_llvm::avx512
