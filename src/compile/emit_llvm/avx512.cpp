#include "compile/emit_llvm/avx512.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace rlx::emit_llvm::avx512 {

namespace {

constexpr int least_bits = 128, register_bits = 512;

int size(V x) { return Ir::bits(x.type()) * Ir::lanes(x.type()); }

/// In the low lanes of the least register; the others are what they may be.
V in_register(V x) {
  Ir& ir = *x.ir;
  const int lanes = Ir::lanes(x.type()), all = least_bits / Ir::bits(x.type());
  if (lanes == 1)
    return ir.wrap(
        LLVMBuildInsertElement(ir.b, ir.poison(Ir::widen(x.type(), all)).v, x.v, ir.integer(ir.i32, 0).v, ""));
  std::vector<int> first(static_cast<std::size_t>(all));
  std::iota(first.begin(), first.end(), 0);
  return ir.shuffle(x, {}, first);
}

/// `one` of what a register holds, for as many registers as there are.
V by_registers(V a, V b, const std::function<V(V, V)>& one) {
  Ir& ir = *a.ir;
  const int lanes = Ir::lanes(a.type()), half = lanes / 2;
  if (size(a) < least_bits) return ir.slice(one(in_register(a), in_register(b)), 0, lanes);
  if (size(a) <= register_bits) return one(a, b);
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

/// A comparison of numbers: bits 0 and 1 of `control` choose it, bits 2 and 3 the sign of what it gives.
V range(V a, V b, int control) {
  if (a.ir->isa != Isa::avx512) return {};
  return by_registers(a, b, [&](V x, V y) { return call("range", {x, y, x.ir->integer(x.ir->i32, control)}, x); });
}

}  // namespace

V scale(V x, V n) {
  if (x.ir->isa != Isa::avx512) return {};
  return by_registers(x, n, [](V a, V b) { return call("scalef", {a, b}, a); });
}

V either(Which which, V a, V b) {
  constexpr int smaller = 0, larger = 1, sign_of_chosen = 1 << 2;
  return range(a, b, (which == Which::larger ? larger : smaller) | sign_of_chosen);
}

V nearer_zero(V x, double limit) {
  constexpr int smaller_magnitude = 2, sign_of_first = 0 << 2;
  return range(x, number(x, limit), smaller_magnitude | sign_of_first);
}

}  // namespace rlx::emit_llvm::avx512
