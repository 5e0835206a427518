// Operators on integers and bool, with every case that C++ leaves undefined defined as StableHLO does.
#include "compile/emit_llvm/elementwise.hpp"

namespace rlx::emit_llvm {

namespace {

V build(V a, V b, LLVMOpcode op) { return a.ir->wrap(LLVMBuildBinOp(a.ir->b, op, a.v, b.v, "")); }
V zero_like(V x) { return number(x, 0); }

/// A divisor that cannot trap: 1 instead of 0 and of -1 under the smallest number.
struct Division {
  V zero, divisor;
};
Division guarded(V a, V b, bool is_signed) {
  V bad = eq(b, zero_like(b));
  const V zero = bad;
  if (is_signed) {
    const V smallest = a.ir->integer(a.type(), static_cast<std::int64_t>(std::uint64_t{1} << (Ir::bits(a.type()) - 1)));
    bad = bad | (eq(b, number(b, -1)) & eq(a, smallest));
  }
  return {zero, select(bad, number(b, 1), b)};
}

/// x^y by squaring, on all lanes until the last exponent is used up. Negative exponents give 0 but for x = 1 and -1.
V power(V x, V y, bool is_signed) {
  Ir& ir = *x.ir;
  const LLVMBasicBlockRef before = ir.here(), head = ir.block("power"), done = ir.block("power.done");
  const V one = number(x, 1), magnitude = is_signed ? select(lt(y, 0.0), zero_like(y), y) : y;
  ir.jump(head);
  ir.at(head);
  const V base = ir.phi(x.type()), exponent = ir.phi(x.type()), product = ir.phi(x.type());
  const V next = select(ne(bits_and(exponent, 1), zero_like(x)), product * base, product);
  const V square = base * base, rest = lshr(exponent, 1);
  const V more = any(ne(rest, zero_like(x)));
  Ir::incoming(base, x, before), Ir::incoming(base, square, head);
  Ir::incoming(exponent, magnitude, before), Ir::incoming(exponent, rest, head);
  Ir::incoming(product, one, before), Ir::incoming(product, next, head);
  ir.branch(more, head, done);
  ir.at(done);
  if (!is_signed) return next;
  const V odd = ne(bits_and(y, 1), zero_like(y));
  const V inverse =
      select(eq(x, one), one, select(eq(x, number(x, -1)), select(odd, number(x, -1), one), zero_like(x)));
  return select(lt(y, 0.0), inverse, next);
}

}  // namespace

V integer_operator(std::string_view op, std::span<const V> x, bool is_signed) {
  const V a = x[0];
  Ir& ir = *a.ir;
  const V zero = zero_like(a);
  const int width = Ir::bits(a.type());
  if (x.size() == 1) {
    if (op == "neg") return -a;
    if (op == "not") return ~a;
    if (op == "abs") return is_signed ? ir.intrinsic("llvm.abs", {a.type()}, {a, ir.integer(ir.i1, 0)}) : a;
    if (op == "sign") {
      const V positive = resize_unsigned(ne(a, zero), Ir::element(a.type()));
      return is_signed ? positive | ashr(a, width - 1) : positive;
    }
    if (op == "popcount") return ir.unary("llvm.ctpop", a);
    if (op == "clz") return ir.intrinsic("llvm.ctlz", {a.type()}, {a, ir.integer(ir.i1, 0)});
    if (op == "real" || op == "conj") return a;
    return {};
  }
  const V b = x[1];
  if (x.size() == 3) {
    if (op == "fma") return a * b + x[2];
    if (op == "clamp") {
      const V low[] = {b, a};
      const V raised[] = {integer_operator("max", low, is_signed), x[2]};
      return integer_operator("min", raised, is_signed);
    }
    return {};
  }
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "mul") return a * b;
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "min") return ir.binary(is_signed ? "llvm.smin" : "llvm.umin", a, b);
  if (op == "max") return ir.binary(is_signed ? "llvm.smax" : "llvm.umax", a, b);
  if (op == "pow") return power(a, b, is_signed);
  if (op == "div") {
    const Division d = guarded(a, b, is_signed);
    return select(d.zero, number(a, -1), build(a, d.divisor, is_signed ? LLVMSDiv : LLVMUDiv));
  }
  if (op == "rem") {
    const Division d = guarded(a, b, is_signed);
    return select(d.zero, a, build(a, d.divisor, is_signed ? LLVMSRem : LLVMURem));
  }
  const V fits = ult(b, number(b, width));
  const V amount = select(fits, b, zero);
  if (op == "shift_left") return select(fits, build(a, amount, LLVMShl), zero);
  if (op == "shift_right_logical") return select(fits, build(a, amount, LLVMLShr), zero);
  if (op == "shift_right_arithmetic") return build(a, select(fits, b, number(b, width - 1)), LLVMAShr);
  return {};
}

V boolean_operator(std::string_view op, std::span<const V> x) {
  const V a = x[0];
  if (x.size() == 1) return op == "not" ? ~a : V{};
  if (x.size() != 2) return {};
  if (op == "and" || op == "mul" || op == "min") return a & x[1];
  if (op == "or" || op == "add" || op == "max") return a | x[1];
  if (op == "xor") return a ^ x[1];
  return {};
}

}  // namespace rlx::emit_llvm
