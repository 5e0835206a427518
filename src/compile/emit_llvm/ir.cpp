#include "compile/emit_llvm/ir.hpp"

#include "compile/emit_llvm/avx512.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <vector>

namespace rlx::emit_llvm {

Ir::Ir(LLVMContextRef context, LLVMModuleRef module, Isa level)
    : c(context), m(module), b(LLVMCreateBuilderInContext(context)), isa(level) {
  i1 = LLVMInt1TypeInContext(c);
  i8 = LLVMInt8TypeInContext(c);
  i16 = LLVMInt16TypeInContext(c);
  i32 = LLVMInt32TypeInContext(c);
  i64 = LLVMInt64TypeInContext(c);
  half = LLVMHalfTypeInContext(c);
  f32 = LLVMFloatTypeInContext(c);
  f64 = LLVMDoubleTypeInContext(c);
  ptr = LLVMPointerTypeInContext(c, 0);
}
Ir::~Ir() { LLVMDisposeBuilder(b); }

int Ir::lanes(LLVMTypeRef t) {
  return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? static_cast<int>(LLVMGetVectorSize(t)) : 1;
}
LLVMTypeRef Ir::element(LLVMTypeRef t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t; }
bool Ir::is_float(LLVMTypeRef t) {
  const LLVMTypeKind k = LLVMGetTypeKind(element(t));
  return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind || k == LLVMHalfTypeKind;
}
int Ir::bits(LLVMTypeRef t) {
  const LLVMTypeRef e = element(t);
  switch (LLVMGetTypeKind(e)) {
    case LLVMHalfTypeKind:
      return 16;
    case LLVMFloatTypeKind:
      return 32;
    case LLVMDoubleTypeKind:
      return 64;
    case LLVMIntegerTypeKind:
      return static_cast<int>(LLVMGetIntTypeWidth(e));
    default:
      return 64;
  }
}

namespace {
V splat_constant(Ir& ir, LLVMTypeRef t, LLVMValueRef x) {
  const int n = Ir::lanes(t);
  if (n == 1) return ir.wrap(x);
  std::vector<LLVMValueRef> all(static_cast<std::size_t>(n), x);
  return ir.wrap(LLVMConstVector(all.data(), static_cast<unsigned>(n)));
}
}  // namespace

V Ir::real(LLVMTypeRef t, double x) { return splat_constant(*this, t, LLVMConstReal(element(t), x)); }
V Ir::integer(LLVMTypeRef t, std::int64_t x) {
  return splat_constant(*this, t, LLVMConstInt(element(t), static_cast<unsigned long long>(x), 1));
}
V Ir::iota(LLVMTypeRef element, int lanes, std::int64_t step) {
  std::vector<LLVMValueRef> all;
  for (int i = 0; i < lanes; ++i) all.push_back(LLVMConstInt(element, static_cast<unsigned long long>(i * step), 1));
  return lanes == 1 ? wrap(all[0]) : wrap(LLVMConstVector(all.data(), static_cast<unsigned>(lanes)));
}

V Ir::splat(V x, int n) {
  if (n == 1 || lanes(x.type()) == n) return x;
  if (lanes(x.type()) != 1) throw InternalError("emit_llvm: a vector of other lanes cannot be splat");
  if (LLVMIsConstant(x.v)) return splat_constant(*this, widen(x.type(), n), x.v);
  const LLVMTypeRef t = widen(x.type(), n);
  const LLVMValueRef first = LLVMBuildInsertElement(b, LLVMGetPoison(t), x.v, LLVMConstInt(i32, 0, 0), "");
  return wrap(LLVMBuildShuffleVector(b, first, LLVMGetPoison(t), LLVMConstNull(widen(i32, n)), ""));
}
V Ir::lane(V x, int i) { return lane(x, integer(i32, i)); }
V Ir::lane(V x, V i) { return lanes(x.type()) == 1 ? x : wrap(LLVMBuildExtractElement(b, x.v, i.v, "")); }
V Ir::shuffle(V a, V b2, std::span<const int> mask) {
  std::vector<LLVMValueRef> indices;
  for (int i : mask) indices.push_back(LLVMConstInt(i32, static_cast<unsigned long long>(i), 0));
  return wrap(LLVMBuildShuffleVector(b, a.v, b2 ? b2.v : LLVMGetPoison(a.type()),
                                     LLVMConstVector(indices.data(), static_cast<unsigned>(indices.size())), ""));
}
V Ir::slice(V x, int first, int count) {
  if (count == lanes(x.type())) return x;
  if (count == 1) return lane(x, first);
  std::vector<int> mask(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) mask[static_cast<std::size_t>(i)] = first + i;
  return shuffle(x, {}, mask);
}

V Ir::intrinsic(std::string_view name, std::initializer_list<LLVMTypeRef> overloads, std::initializer_list<V> args) {
  const unsigned id = LLVMLookupIntrinsicID(name.data(), name.size());
  if (!id) throw InternalError("emit_llvm: no intrinsic " + std::string(name));
  std::vector<LLVMTypeRef> types(overloads);
  const LLVMValueRef f = LLVMGetIntrinsicDeclaration(m, id, types.data(), types.size());
  const LLVMTypeRef t = LLVMIntrinsicGetType(c, id, types.data(), types.size());
  return call(t, f, std::span<const V>(args.begin(), args.size()));
}
V Ir::intrinsic(std::string_view name, std::span<const V> args) {
  const unsigned id = LLVMLookupIntrinsicID(name.data(), name.size());
  if (!id) throw InternalError("emit_llvm: no intrinsic " + std::string(name));
  return call(LLVMIntrinsicGetType(c, id, nullptr, 0), LLVMGetIntrinsicDeclaration(m, id, nullptr, 0), args);
}
V Ir::call(LLVMTypeRef type, LLVMValueRef callee, std::span<const V> args) {
  std::vector<LLVMValueRef> values;
  for (const V& a : args) values.push_back(a.v);
  return wrap(LLVMBuildCall2(b, type, callee, values.data(), static_cast<unsigned>(values.size()), ""));
}

V Ir::if_then(V condition, V otherwise, const std::function<V()>& then) {
  const LLVMBasicBlockRef from = here(), yes = block("then"), join = block("join");
  branch(condition, yes, join);
  at(yes);
  const V value = then();
  const LLVMBasicBlockRef last = here();
  jump(join);
  at(join);
  const V p = phi(otherwise.type());
  incoming(p, otherwise, from);
  incoming(p, value, last);
  return p;
}

V Ir::if_rarely(V condition, V otherwise, const std::function<V()>& then) {
  const LLVMBasicBlockRef from = here();
  const V r = if_then(condition, otherwise, then);
  constexpr std::string_view kind = "prof", weights = "branch_weights";
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(c, weights.data(), weights.size()),
                             LLVMValueAsMetadata(integer(i32, 1).v), LLVMValueAsMetadata(integer(i32, 1000).v)};
  LLVMSetMetadata(LLVMGetBasicBlockTerminator(from),
                  LLVMGetMDKindIDInContext(c, kind.data(), static_cast<unsigned>(kind.size())),
                  LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, parts, std::size(parts))));
  return r;
}

// Rotated: the guard stands before the loop, so that what the body loads unconditionally may be hoisted.
void Ir::loop(V from, V to, std::int64_t step, const std::function<void(V)>& body) {
  const LLVMBasicBlockRef before = here(), head = block("loop"), done = block("done");
  branch(lt(from, to), head, done);
  at(head);
  const V i = phi(from.type());
  incoming(i, from, before);
  body(i);
  const V next = wrap(LLVMBuildNSWAdd(b, i.v, integer(from.type(), step).v, ""));
  incoming(i, next, here());
  branch(lt(next, to), head, done);
  at(done);
}

namespace {
/// Brings both to the wider of the two.
void match(V& a, V& b) {
  const int n = std::max(Ir::lanes(a.type()), Ir::lanes(b.type()));
  a = a.ir->splat(a, n);
  b = b.ir->splat(b, n);
}
V both(V a, V b, LLVMOpcode on_float, LLVMOpcode on_int) {
  match(a, b);
  return a.ir->wrap(LLVMBuildBinOp(a.ir->b, Ir::is_float(a.type()) ? on_float : on_int, a.v, b.v, ""));
}
V compare(V a, V b, LLVMRealPredicate f, LLVMIntPredicate i) {
  match(a, b);
  return a.ir->wrap(Ir::is_float(a.type()) ? LLVMBuildFCmp(a.ir->b, f, a.v, b.v, "")
                                           : LLVMBuildICmp(a.ir->b, i, a.v, b.v, ""));
}
V cast(V x, LLVMOpcode op, LLVMTypeRef element) {
  const LLVMTypeRef t = Ir::shaped(element, x.type());
  return t == x.type() ? x : x.ir->wrap(LLVMBuildCast(x.ir->b, op, x.v, t, ""));
}
}  // namespace

V operator-(V a) {
  return a.ir->wrap(Ir::is_float(a.type()) ? LLVMBuildFNeg(a.ir->b, a.v, "") : LLVMBuildNeg(a.ir->b, a.v, ""));
}
V operator+(V a, V b) { return both(a, b, LLVMFAdd, LLVMAdd); }
V operator-(V a, V b) { return both(a, b, LLVMFSub, LLVMSub); }
V operator*(V a, V b) { return both(a, b, LLVMFMul, LLVMMul); }
V operator/(V a, V b) { return both(a, b, LLVMFDiv, LLVMSDiv); }
V operator&(V a, V b) { return both(a, b, LLVMAnd, LLVMAnd); }
V operator|(V a, V b) { return both(a, b, LLVMOr, LLVMOr); }
V operator^(V a, V b) { return both(a, b, LLVMXor, LLVMXor); }
V operator~(V a) { return a.ir->wrap(LLVMBuildNot(a.ir->b, a.v, "")); }
V number(V like, double x) {
  return Ir::is_float(like.type()) ? like.ir->real(like.type(), x)
                                   : like.ir->integer(like.type(), static_cast<std::int64_t>(x));
}
V bits_and(V a, std::int64_t mask) { return a & a.ir->integer(a.type(), mask); }
V bits_or(V a, std::int64_t mask) { return a | a.ir->integer(a.type(), mask); }
V bits_xor(V a, std::int64_t mask) { return a ^ a.ir->integer(a.type(), mask); }
V shl(V a, int n) { return both(a, a.ir->integer(a.type(), n), LLVMShl, LLVMShl); }
V lshr(V a, int n) { return both(a, a.ir->integer(a.type(), n), LLVMLShr, LLVMLShr); }
V ashr(V a, int n) { return both(a, a.ir->integer(a.type(), n), LLVMAShr, LLVMAShr); }

V lt(V a, V b) { return compare(a, b, LLVMRealOLT, LLVMIntSLT); }
V le(V a, V b) { return compare(a, b, LLVMRealOLE, LLVMIntSLE); }
V eq(V a, V b) { return compare(a, b, LLVMRealOEQ, LLVMIntEQ); }
V ne(V a, V b) { return compare(a, b, LLVMRealUNE, LLVMIntNE); }
V ult(V a, V b) { return compare(a, b, LLVMRealULT, LLVMIntULT); }
V uno(V a, V b) { return compare(a, b, LLVMRealUNO, LLVMIntNE); }
V is_nan(V a) { return uno(a, a); }
V any(V condition) {
  if (Ir::lanes(condition.type()) == 1) return condition;
  return condition.ir->intrinsic("llvm.vector.reduce.or", {condition.type()}, {condition});
}
V select(V condition, V yes, V no) {
  match(yes, no);
  const int n = Ir::lanes(condition.type());
  if (n > 1 && Ir::lanes(yes.type()) == 1) {
    yes = yes.ir->splat(yes, n);
    no = no.ir->splat(no, n);
  }
  return yes.ir->wrap(LLVMBuildSelect(yes.ir->b, condition.v, yes.v, no.v, ""));
}

V fma(V a, V b, V c) {
  match(a, b);
  match(b, c);
  match(a, b);
  return a.ir->intrinsic("llvm.fma", {a.type()}, {a, b, c});
}
V sqrt(V x) { return x.ir->unary("llvm.sqrt", x); }
V abs(V x) { return x.ir->unary("llvm.fabs", x); }
V copysign(V magnitude, V sign) {
  match(magnitude, sign);
  return magnitude.ir->binary("llvm.copysign", magnitude, sign);
}
V floor(V x) { return x.ir->unary("llvm.floor", x); }
V ceil(V x) { return x.ir->unary("llvm.ceil", x); }
V trunc(V x) { return x.ir->unary("llvm.trunc", x); }
// LLVM's own forms of these cost about twice as much.
static V extreme(V a, V b, avx512::Which which) {
  match(a, b);
  const bool larger = which == avx512::Which::larger;
  const V unordered = uno(a, b);
  if (const V number = avx512::either(which, a, b)) return select(unordered, a + b, number);
  if (Ir::lanes(a.type()) == 1 || a.ir->isa == Isa::generic)
    return a.ir->binary(larger ? "llvm.maximum" : "llvm.minimum", a, b);
  // The instruction gives its second operand where the two are equal or one is a NaN. Both orders have the same bits
  // but for zeros of different signs, of which these keep the wanted one; all bits set are a NaN.
  const V ab = larger ? select(gt(a, b), a, b) : select(lt(a, b), a, b);
  const V ba = larger ? select(gt(b, a), b, a) : select(lt(b, a), b, a);
  const V bits = larger ? as_bits(ab) & as_bits(ba) : as_bits(ab) | as_bits(ba);
  const V all = bits | a.ir->wrap(LLVMBuildSExt(a.ir->b, unordered.v, bits.type(), ""));
  // Frozen: where the sign is changed next, LLVM makes a selection of both, which costs as much as all this.
  return as_float(a.ir->wrap(LLVMBuildFreeze(a.ir->b, all.v, "")));
}
V minimum(V a, V b) { return extreme(a, b, avx512::Which::smaller); }
V maximum(V a, V b) { return extreme(a, b, avx512::Which::larger); }

V as_bits(V x) {
  const LLVMTypeRef t = Ir::shaped(LLVMIntTypeInContext(x.ir->c, static_cast<unsigned>(Ir::bits(x.type()))), x.type());
  return x.ir->wrap(LLVMBuildBitCast(x.ir->b, x.v, t, ""));
}
V as_float(V x) {
  const LLVMTypeRef e = Ir::bits(x.type()) == 64 ? x.ir->f64 : Ir::bits(x.type()) == 32 ? x.ir->f32 : x.ir->half;
  return x.ir->wrap(LLVMBuildBitCast(x.ir->b, x.v, Ir::shaped(e, x.type()), ""));
}
V to_f64(V x) { return cast(x, LLVMFPExt, x.ir->f64); }
V to_f32(V x) { return cast(x, Ir::bits(x.type()) < 32 ? LLVMFPExt : LLVMFPTrunc, x.ir->f32); }
V signed_to_float(V x, LLVMTypeRef element) { return cast(x, LLVMSIToFP, element); }
V unsigned_to_float(V x, LLVMTypeRef element) { return cast(x, LLVMUIToFP, element); }
V float_to_signed(V x, LLVMTypeRef element) { return cast(x, LLVMFPToSI, element); }
V resize_signed(V x, LLVMTypeRef element) {
  return cast(x, Ir::bits(x.type()) < Ir::bits(element) ? LLVMSExt : LLVMTrunc, element);
}
V resize_unsigned(V x, LLVMTypeRef element) {
  return cast(x, Ir::bits(x.type()) < Ir::bits(element) ? LLVMZExt : LLVMTrunc, element);
}

V polynomial(V x, std::span<const double> c) {
  V p = number(x, c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;) p = fma(p, x, number(x, c[i]));
  return p;
}

}  // namespace rlx::emit_llvm
