// A thin layer over LLVM's C API: values with operators that work alike on scalars and on vectors of lanes. The
// formulas of math/ are written against it, so none of them knows how wide it runs.
#pragma once
#include "compile/emit_llvm/emit_llvm.hpp"

#include <llvm-c/Core.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace rlx::emit_llvm {

class Ir;

/// A value of type T or <lanes x T>, with T an integer, i1, float, double, half or ptr.
struct V {
  LLVMValueRef v = nullptr;
  Ir* ir = nullptr;
  explicit operator bool() const { return v != nullptr; }
  LLVMTypeRef type() const { return LLVMTypeOf(v); }
};

class Ir {
 public:
  Ir(LLVMContextRef context, LLVMModuleRef module, Isa isa);
  ~Ir();
  Ir(const Ir&) = delete;
  Ir& operator=(const Ir&) = delete;

  LLVMContextRef c;
  LLVMModuleRef m;
  LLVMBuilderRef b;
  Isa isa;
  LLVMValueRef fn = nullptr;  ///< The function under construction.
  LLVMTypeRef i1, i8, i16, i32, i64, half, f32, f64, ptr;

  V wrap(LLVMValueRef v) { return {v, this}; }
  // --- Types.
  static int lanes(LLVMTypeRef t);            ///< 1 for scalars.
  static LLVMTypeRef element(LLVMTypeRef t);  ///< t itself for scalars.
  static LLVMTypeRef widen(LLVMTypeRef scalar, int lanes) {
    return lanes == 1 ? scalar : LLVMVectorType(scalar, static_cast<unsigned>(lanes));
  }
  /// `element` with as many lanes as `like`.
  static LLVMTypeRef shaped(LLVMTypeRef element, LLVMTypeRef like) { return widen(element, lanes(like)); }
  static bool is_float(LLVMTypeRef t);
  static int bits(LLVMTypeRef t);  ///< Width of an element.

  // --- Constants.
  V real(LLVMTypeRef t, double x);           ///< Splat over the lanes of t.
  V integer(LLVMTypeRef t, std::int64_t x);  ///< Splat, sign-extended.
  V iota(LLVMTypeRef element, int lanes, std::int64_t step = 1);
  V poison(LLVMTypeRef t) { return wrap(LLVMGetPoison(t)); }
  V zero(LLVMTypeRef t) { return wrap(LLVMConstNull(t)); }

  // --- Shapes of values.
  V splat(V scalar, int lanes);
  V lane(V vector, int i);
  V lane(V vector, V i);
  /// Lanes [first, first + count) of a vector.
  V slice(V vector, int first, int count);
  V shuffle(V a, V b2, std::span<const int> mask);

  // --- Calls.
  V intrinsic(std::string_view name, std::initializer_list<LLVMTypeRef> overloads, std::initializer_list<V> args);
  V intrinsic(std::string_view name, std::span<const V> args);  ///< Of one type only.
  /// An elementwise intrinsic overloaded on the type of its first argument.
  V unary(std::string_view name, V x) { return intrinsic(name, {x.type()}, {x}); }
  V binary(std::string_view name, V x, V y) { return intrinsic(name, {x.type()}, {x, y}); }
  V call(LLVMTypeRef type, LLVMValueRef callee, std::span<const V> args);

  // --- Control flow. Blocks are appended to `fn`.
  LLVMBasicBlockRef block(const char* name) { return LLVMAppendBasicBlockInContext(c, fn, name); }
  LLVMBasicBlockRef here() const { return LLVMGetInsertBlock(b); }
  void at(LLVMBasicBlockRef bb) { LLVMPositionBuilderAtEnd(b, bb); }
  void jump(LLVMBasicBlockRef to) { LLVMBuildBr(b, to); }
  void branch(V condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) { LLVMBuildCondBr(b, condition.v, yes, no); }
  V phi(LLVMTypeRef t) { return wrap(LLVMBuildPhi(b, t, "")); }
  static void incoming(V phi, V value, LLVMBasicBlockRef from) { LLVMAddIncoming(phi.v, &value.v, &from, 1); }
  /// `value` where `condition` (a scalar i1) is false, else what `then` gives; `then` runs only if it is true.
  V if_then(V condition, V otherwise, const std::function<V()>& then);
  /// The same where `condition` is hardly ever true: the code for it is out of the way.
  V if_rarely(V condition, V otherwise, const std::function<V()>& then);
  /// Runs `body(i)` for i = from, from + step, ... < to.
  void loop(V from, V to, std::int64_t step, const std::function<void(V)>& body);
};

// --- Arithmetic; a double or int operand is a splat of the other operand's type.
V operator-(V a);
V operator+(V a, V b);
V operator-(V a, V b);
V operator*(V a, V b);
V operator/(V a, V b);  ///< Floating point only.
V operator&(V a, V b);
V operator|(V a, V b);
V operator^(V a, V b);
V operator~(V a);
V number(V like, double x);
inline V operator+(V a, double x) { return a + number(a, x); }
inline V operator-(V a, double x) { return a - number(a, x); }
inline V operator*(V a, double x) { return a * number(a, x); }
inline V operator/(V a, double x) { return a / number(a, x); }
inline V operator+(double x, V a) { return number(a, x) + a; }
inline V operator-(double x, V a) { return number(a, x) - a; }
inline V operator*(double x, V a) { return number(a, x) * a; }
inline V operator/(double x, V a) { return number(a, x) / a; }
V bits_and(V a, std::int64_t mask);
V bits_or(V a, std::int64_t mask);
V bits_xor(V a, std::int64_t mask);
V shl(V a, int n);
V lshr(V a, int n);
V ashr(V a, int n);

// --- Comparisons: floats ordered (false on NaN), integers signed.
V lt(V a, V b);
V le(V a, V b);
V eq(V a, V b);
inline V gt(V a, V b) { return lt(b, a); }
inline V ge(V a, V b) { return le(b, a); }
inline V lt(V a, double x) { return lt(a, number(a, x)); }
inline V le(V a, double x) { return le(a, number(a, x)); }
inline V gt(V a, double x) { return gt(a, number(a, x)); }
inline V ge(V a, double x) { return ge(a, number(a, x)); }
inline V eq(V a, double x) { return eq(a, number(a, x)); }
V ne(V a, V b);  ///< Floats: true on NaN.
V ult(V a, V b);
V uno(V a, V b);  ///< Floats only: whether one is a NaN.
V is_nan(V a);
V any(V condition);  ///< Scalar i1: whether a lane is true.
/// The arms, and the condition, may differ in lanes: scalars are splat.
V select(V condition, V yes, V no);
inline V select(V condition, V yes, double no) { return select(condition, yes, number(yes, no)); }
inline V select(V condition, double yes, V no) { return select(condition, number(no, yes), no); }

// --- Functions that every target has as instructions, or as calls of host_imports.
V fma(V a, V b, V c);
inline V fma(V a, V b, double c) { return fma(a, b, number(a, c)); }
inline V fma(V a, double b, V c) { return fma(a, number(a, b), c); }
inline V fma(V a, double b, double c) { return fma(a, number(a, b), number(a, c)); }
V sqrt(V x);
V abs(V x);
V copysign(V magnitude, V sign);
V floor(V x);
V ceil(V x);
V trunc(V x);
V minimum(V a, V b);  ///< NaN, of any payload, wins; -0 < +0.
V maximum(V a, V b);

// --- Conversions; lanes stay.
V as_bits(V x);   ///< Float to the integer of its width.
V as_float(V x);  ///< i32 to float, i64 to double, by bits.
V to_f64(V x);
V to_f32(V x);
V signed_to_float(V x, LLVMTypeRef element);
V unsigned_to_float(V x, LLVMTypeRef element);
V float_to_signed(V x, LLVMTypeRef element);  ///< Poison outside the range.
V resize_signed(V x, LLVMTypeRef element);    ///< Sign-extends or truncates.
V resize_unsigned(V x, LLVMTypeRef element);
inline bool is_f64(V x) { return Ir::bits(x.type()) == 64; }

/// c[0] + c[1] x + c[2] x^2 + ... by Horner's rule.
V polynomial(V x, std::span<const double> c);
inline V polynomial(V x, std::initializer_list<double> c) {
  return polynomial(x, std::span<const double>(c.begin(), c.size()));
}

}  // namespace rlx::emit_llvm
