// Operators on f32 and f64; f16 and bf16 come here as f32.
#include "compile/emit_llvm/elementwise.hpp"
#include "compile/emit_llvm/math/math.hpp"

#include <limits>

namespace rlx::emit_llvm {

namespace {
struct FloatUnary {
  std::string_view name;
  V (*apply)(V);
};
// Rounding modes other than to nearest are never set while kernels run, so nearbyint rounds half to even.
constexpr FloatUnary float_unary_table[] = {
    {"neg", [](V x) { return -x; }},
    {"abs", [](V x) { return abs(x); }},
    {"sign", [](V x) { return select(gt(abs(x), 0.0), copysign(number(x, 1.0), x), x); }},
    {"exp", math::exp},
    {"expm1", math::expm1},
    {"log", math::log},
    {"log1p", math::log1p},
    {"sqrt", [](V x) { return sqrt(x); }},
    {"rsqrt", math::rsqrt},
    {"cbrt", math::cbrt},
    {"sin", math::sin},
    {"cos", math::cos},
    {"tan", math::tan},
    {"asin", math::asin},
    {"acos", math::acos},
    {"atan", math::atan},
    {"sinh", math::sinh},
    {"cosh", math::cosh},
    {"tanh", math::tanh},
    {"erf", math::erf},
    {"erfc", math::erfc},
    {"erfinv", math::erfinv},
    {"lgamma", math::lgamma},
    {"digamma", math::digamma},
    {"floor", [](V x) { return floor(x); }},
    {"ceil", [](V x) { return ceil(x); }},
    {"round", [](V x) { return x.ir->unary("llvm.nearbyint", x); }},
    {"is_nan", [](V x) { return is_nan(x); }},
    {"is_finite", [](V x) { return lt(abs(x), std::numeric_limits<double>::infinity()); }},
    {"real", [](V x) { return x; }},
    {"conj", [](V x) { return x; }},
    {"imag", [](V x) { return number(x, 0.0); }}};
}  // namespace

V float_operator(std::string_view op, std::span<const V> x) {
  if (x.size() == 1) {
    for (const FloatUnary& e : float_unary_table)
      if (e.name == op) return e.apply(x[0]);
  } else if (x.size() == 2) {
    const V a = x[0], b = x[1];
    if (op == "add") return a + b;
    if (op == "sub") return a - b;
    if (op == "mul") return a * b;
    if (op == "div") return Ir::lanes(b.type()) < Ir::lanes(a.type()) ? divide_by_shared(a, b) : a / b;
    if (op == "rem") return a.ir->wrap(LLVMBuildFRem(a.ir->b, a.v, b.v, ""));
    if (op == "min") return minimum(a, b);
    if (op == "max") return maximum(a, b);
    if (op == "pow") return math::pow(a, b);
    if (op == "atan2") return math::atan2(a, b);
  } else if (x.size() == 3) {
    if (op == "fma") return fma(x[0], x[1], x[2]);
    if (op == "clamp") return minimum(maximum(x[1], x[0]), x[2]);
  }
  return {};
}

}  // namespace rlx::emit_llvm
