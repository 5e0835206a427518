// Sugar of constants and elementwise operators: one node each, after broadcasting the operands to one shape.
#include <rlx/ir/error.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace rlx::ops {

// --- Constants.
Value constant(Builder& b, HostTensor value) {
  return b.emit1("constant", ValuesIn{}, ConstantAttrs{.value = std::move(value)});
}
Value scalar(Builder& b, DType t, double v) { return constant(b, HostTensor::scalar(t, v)); }
Value full(Builder& b, DType t, Shape shape, double v) {
  const Value x = scalar(b, t, v);
  return shape.empty() ? x : broadcast(x, std::move(shape), {});
}
Value full_like(Value like, double v) { return full(*like.builder, like.dtype(), like.shape(), v); }
Value zeros_like(Value like) { return full_like(like, 0); }
Value dim_size(Builder& b, Dim d, DType t) {
  if (d.is_constant()) return constant(b, HostTensor::scalar_i64(t, d.constant()));
  return b.emit1("dim_size", ValuesIn{}, DimSizeAttrs{std::move(d), t});
}
Value iota(Builder& b, DType t, Shape shape, int axis) {
  return b.emit1("iota", ValuesIn{}, IotaAttrs{.dtype = t, .shape = std::move(shape), .axis = axis});
}

// --- Elementwise.
namespace {

bool is_one(const Dim& d) { return d.is_constant() && d.constant() == 1; }

/// Dimension `from_last`, counted from the end, of a shape that is padded with ones in front.
Dim dim_from_last(const Shape& s, std::size_t from_last) {
  return from_last < s.size() ? s[s.size() - 1 - from_last] : Dim(1);
}

/// NumPy's rule: dimensions are matched from the last one, and size 1 stretches. Dimensions that differ otherwise are
/// left as they are: the operator's own constraint refuses them, or makes their equality a guard.
template <std::size_t n>
void broadcast_together(std::array<Value, n>& xs) {
  std::size_t rank = 0;
  for (const Value& x : xs) rank = std::max(rank, x.shape().size());
  for (Value& x : xs) {
    Shape target;
    bool changes = x.shape().size() < rank;
    for (std::size_t k = rank; k-- > 0;) {
      const Dim own = dim_from_last(x.shape(), k);
      Dim wide = own;
      for (const Value& other : xs)
        if (is_one(wide)) wide = dim_from_last(other.shape(), k);
      changes |= !(wide == own);
      target.push_back(std::move(wide));
    }
    if (changes) x = broadcast_to(x, std::move(target));
  }
}

template <std::size_t n>
Value elementwise(std::string_view op, std::array<Value, n> xs, AnyAttrs attrs = {}) {
  for (const Value& x : xs)
    if (!x) throw InternalError(std::string(op) + ": an operand is absent");
  if constexpr (n > 1) broadcast_together(xs);
  return xs[0].builder->emit1(op, ValuesIn(xs), std::move(attrs));
}

}  // namespace

#define RLX_UNARY(f, op) \
  Value f(Value x) { return elementwise<1>(op, {x}); }
RLX_UNARY(neg, "neg")
RLX_UNARY(abs, "abs")
RLX_UNARY(sign, "sign")
RLX_UNARY(exp, "exp")
RLX_UNARY(log, "log")
RLX_UNARY(expm1, "expm1")
RLX_UNARY(log1p, "log1p")
RLX_UNARY(sqrt, "sqrt")
RLX_UNARY(rsqrt, "rsqrt")
RLX_UNARY(cbrt, "cbrt")
RLX_UNARY(sin, "sin")
RLX_UNARY(cos, "cos")
RLX_UNARY(tan, "tan")
RLX_UNARY(asin, "asin")
RLX_UNARY(acos, "acos")
RLX_UNARY(atan, "atan")
RLX_UNARY(sinh, "sinh")
RLX_UNARY(cosh, "cosh")
RLX_UNARY(tanh, "tanh")
RLX_UNARY(erf, "erf")
RLX_UNARY(erfc, "erfc")
RLX_UNARY(erfinv, "erfinv")
RLX_UNARY(lgamma, "lgamma")
RLX_UNARY(digamma, "digamma")
RLX_UNARY(floor, "floor")
RLX_UNARY(ceil, "ceil")
RLX_UNARY(round, "round")
RLX_UNARY(is_nan, "is_nan")
RLX_UNARY(is_finite, "is_finite")
RLX_UNARY(logical_not, "not")
RLX_UNARY(popcount, "popcount")
RLX_UNARY(clz, "clz")
#undef RLX_UNARY

// Of a real value they are known without a node.
Value conj(Value x) { return is_complex(x.dtype()) ? elementwise<1>("conj", {x}) : x; }
Value real(Value x) { return is_complex(x.dtype()) ? elementwise<1>("real", {x}) : x; }
Value imag(Value x) { return is_complex(x.dtype()) ? elementwise<1>("imag", {x}) : zeros_like(x); }

#define RLX_BINARY(f, op) \
  Value f(Value x, Value y) { return elementwise<2>(op, {x, y}); }
RLX_BINARY(add, "add")
RLX_BINARY(sub, "sub")
RLX_BINARY(mul, "mul")
RLX_BINARY(div, "div")
RLX_BINARY(rem, "rem")
RLX_BINARY(pow, "pow")
RLX_BINARY(atan2, "atan2")
RLX_BINARY(min, "min")
RLX_BINARY(max, "max")
RLX_BINARY(logical_and, "and")
RLX_BINARY(logical_or, "or")
RLX_BINARY(logical_xor, "xor")
RLX_BINARY(shift_left, "shift_left")
RLX_BINARY(shift_right_logical, "shift_right_logical")
RLX_BINARY(shift_right_arithmetic, "shift_right_arithmetic")
RLX_BINARY(complex, "complex")
#undef RLX_BINARY

Value fma(Value x, Value y, Value z) { return elementwise<3>("fma", {x, y, z}); }
Value select(Value predicate, Value on_true, Value on_false) {
  return elementwise<3>("select", {predicate, on_true, on_false});
}
Value clamp(Value low, Value x, Value high) { return elementwise<3>("clamp", {low, x, high}); }
Value compare(Value x, Value y, Direction d) { return elementwise<2>("compare", {x, y}, CompareAttrs{.direction = d}); }
Value convert(Value x, DType t) { return x.dtype() == t ? x : elementwise<1>("convert", {x}, DTypeAttrs{.dtype = t}); }
Value bitcast(Value x, DType t) {
  return x.dtype() == t && !x.tensor().quantization ? x : elementwise<1>("bitcast", {x}, DTypeAttrs{.dtype = t});
}

}  // namespace rlx::ops

namespace rlx {

Value operator+(Value x, double y) { return ops::add(x, ops::full_like(x, y)); }
Value operator-(Value x, double y) { return ops::sub(x, ops::full_like(x, y)); }
Value operator*(Value x, double y) { return ops::mul(x, ops::full_like(x, y)); }
Value operator/(Value x, double y) { return ops::div(x, ops::full_like(x, y)); }
Value operator+(double x, Value y) { return ops::add(ops::full_like(y, x), y); }
Value operator-(double x, Value y) { return ops::sub(ops::full_like(y, x), y); }
Value operator*(double x, Value y) { return ops::mul(ops::full_like(y, x), y); }
Value operator/(double x, Value y) { return ops::div(ops::full_like(y, x), y); }

}  // namespace rlx
