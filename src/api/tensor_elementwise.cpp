// Making tensors, and elementwise functions over them.
#include <rlx/tensor.hpp>

#include "api/tensor_support.hpp"

#include <rlx/ir/text_reader.hpp>
#include <rlx/ops/build.hpp>

namespace rlx {

namespace detail {

Tensor as_dtype(const Tensor& number, DType t) {
  const HostTensor& v = number.host_tensor();
  if (t == v.dtype()) return number;
  const auto refuse = [&](const std::string& text) {
    throw ArgumentError("the number " + text + " meets a tensor of " + std::string(name(t)) +
                        ", which cannot hold it: convert the tensor first");
  };
  const bool whole = is_integer(t) || t == DType::boolean;
  if (v.dtype() == DType::i64) {
    const std::int64_t i = v.get_i64(0);
    HostTensor r = HostTensor::scalar_i64(t, i);
    if (whole && r.get_i64(0) != i) refuse(std::to_string(i));
    return r;
  }
  if (v.dtype() == DType::u64) {
    const std::uint64_t u = v.get_u64(0);
    HostTensor r(t, {});
    r.set_u64(0, u);
    if (whole && r.get_u64(0) != u) refuse(std::to_string(u));
    return r;
  }
  const double d = v.get_f64(0);
  HostTensor r = HostTensor::scalar(t, d);
  // The largest 64-bit numbers, to which larger ones saturate, round to a power of two that these types do not hold.
  const bool beyond = (t == DType::i64 && d >= 0x1p63) || (t == DType::u64 && d >= 0x1p64);
  if (whole && (beyond || r.get_f64(0) != d)) {
    std::string text;
    print_number(text, d);
    refuse(text);
  }
  return r;
}

void agree(std::span<Tensor> xs) {
  const Tensor* lead = nullptr;
  const auto width = [](const Tensor& number) {
    const DType t = number.dtype();
    return t == DType::boolean ? 0 : t == DType::i64 ? 1 : t == DType::u64 ? 2 : 3;
  };
  for (const Tensor& x : xs) {
    if (!x.is_number()) {
      lead = &x;
      break;
    }
    if (!lead || width(x) > width(*lead)) lead = &x;
  }
  const DType t = lead->dtype();
  for (Tensor& x : xs)
    if (x.is_number()) x = as_dtype(x, t);
}

std::vector<Dim> dims(const Extents& e) { return {e.begin(), e.end()}; }

Tensor build1(const Caller& caller, const Handles& in, const std::function<Value(ValuesIn)>& f) {
  return Tensor(build(in, [&](Builder&, ValuesIn v) { return Values{f(v)}; }, caller)[0]);
}

int axis_of(std::string_view function, const Tensor& x, int axis) {
  const int rank = x.rank(), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    throw ArgumentError(std::string(function) + ": there is no axis " + std::to_string(axis) + " of " +
                        to_string(x.type()));
  return at;
}

}  // namespace detail

using detail::build1, detail::dims;

static Tensor made(const Caller& caller, const std::function<Value(Builder&)>& f) {
  return Tensor(build({}, [&](Builder& b, ValuesIn) { return Values{f(b)}; }, caller)[0]);
}

Tensor full(Extents shape, double value, DType t, Here here) {
  if (is_tracing()) return made({"full", here}, [&](Builder& b) { return ops::full(b, t, dims(shape), value); });
  HostTensor r(t, std::move(shape));
  if (value != 0)
    for (std::int64_t i = 0; i < r.numel(); ++i) r.set_f64(i, value);
  return r;
}

Tensor full_like(const Tensor& like, double value, Here here) {
  if (!is_tracing()) return full(like.shape(), value, like.dtype(), here);
  return build1({"full_like", here}, {like}, [&](ValuesIn v) { return ops::full_like(v[0], value); });
}

Tensor iota(Extents shape, int axis, DType t, Here here) {
  return made({"iota", here}, [&](Builder& b) { return ops::iota(b, t, dims(shape), axis); });
}
static void check_count(const char* function, std::int64_t n) {
  if (n < 0)
    throw ArgumentError(std::string(function) + ": the count is " + std::to_string(n) + ", expected 0 or more");
}
Tensor arange(std::int64_t count, DType t, Here here) {
  check_count("arange", count);
  return made({"arange", here}, [&](Builder& b) { return ops::iota(b, t, {count}, 0); });
}

Tensor identity(std::int64_t n, DType t, Here here) {
  check_count("identity", n);
  return made({"identity", here}, [&](Builder& b) {
    const Shape s{n, n};
    return ops::convert(
        ops::compare(ops::iota(b, DType::i32, s, 0), ops::iota(b, DType::i32, s, 1), ops::Direction::eq), t);
  });
}

#define RLX_TENSOR_UNARY(f)                                                  \
  Tensor f(const Tensor& x, Here here) {                                     \
    return build1({#f, here}, {x}, [](ValuesIn v) { return ops::f(v[0]); }); \
  }
RLX_TENSOR_UNARY(neg)
RLX_TENSOR_UNARY(abs)
RLX_TENSOR_UNARY(sign)
RLX_TENSOR_UNARY(exp)
RLX_TENSOR_UNARY(log)
RLX_TENSOR_UNARY(expm1)
RLX_TENSOR_UNARY(log1p)
RLX_TENSOR_UNARY(sqrt)
RLX_TENSOR_UNARY(rsqrt)
RLX_TENSOR_UNARY(cbrt)
RLX_TENSOR_UNARY(sin)
RLX_TENSOR_UNARY(cos)
RLX_TENSOR_UNARY(tan)
RLX_TENSOR_UNARY(asin)
RLX_TENSOR_UNARY(acos)
RLX_TENSOR_UNARY(atan)
RLX_TENSOR_UNARY(sinh)
RLX_TENSOR_UNARY(cosh)
RLX_TENSOR_UNARY(tanh)
RLX_TENSOR_UNARY(erf)
RLX_TENSOR_UNARY(erfc)
RLX_TENSOR_UNARY(erfinv)
RLX_TENSOR_UNARY(lgamma)
RLX_TENSOR_UNARY(digamma)
RLX_TENSOR_UNARY(floor)
RLX_TENSOR_UNARY(ceil)
RLX_TENSOR_UNARY(round)
RLX_TENSOR_UNARY(is_nan)
RLX_TENSOR_UNARY(is_finite)
RLX_TENSOR_UNARY(logical_not)
RLX_TENSOR_UNARY(real)
RLX_TENSOR_UNARY(imag)
RLX_TENSOR_UNARY(conj)
#undef RLX_TENSOR_UNARY

Tensor square(const Tensor& x, Here here) {
  return build1({"square", here}, {x}, [](ValuesIn v) { return ops::mul(v[0], v[0]); });
}
// By tanh, which saturates where exp would overflow.
Tensor sigmoid(const Tensor& x, Here here) {
  return build1({"sigmoid", here}, {x}, [](ValuesIn v) {
    const Value half = ops::full_like(v[0], 0.5);
    return ops::add(ops::mul(ops::tanh(ops::mul(v[0], half)), half), half);
  });
}
Tensor relu(const Tensor& x, Here here) {
  return build1({"relu", here}, {x}, [](ValuesIn v) { return ops::max(v[0], ops::zeros_like(v[0])); });
}

namespace {
template <class F>
Tensor binary(const Caller& caller, Tensor x, Tensor y, const F& f) {
  Tensor xs[] = {std::move(x), std::move(y)};
  detail::agree(xs);
  return build1(caller, {xs[0], xs[1]}, [&](ValuesIn v) { return f(v[0], v[1]); });
}
}  // namespace

#define RLX_TENSOR_BINARY(f, op)                                                     \
  Tensor f(const Tensor& x, const Tensor& y, Here here) {                            \
    return binary({#f, here}, x, y, [](Value a, Value b) { return ops::op(a, b); }); \
  }
RLX_TENSOR_BINARY(add, add)
RLX_TENSOR_BINARY(sub, sub)
RLX_TENSOR_BINARY(mul, mul)
RLX_TENSOR_BINARY(div, div)
RLX_TENSOR_BINARY(rem, rem)
RLX_TENSOR_BINARY(pow, pow)
RLX_TENSOR_BINARY(atan2, atan2)
RLX_TENSOR_BINARY(minimum, min)
RLX_TENSOR_BINARY(maximum, max)
RLX_TENSOR_BINARY(logical_and, logical_and)
RLX_TENSOR_BINARY(logical_or, logical_or)
RLX_TENSOR_BINARY(logical_xor, logical_xor)
#undef RLX_TENSOR_BINARY

#define RLX_TENSOR_COMPARE(f, direction)                                                                             \
  Tensor f(const Tensor& x, const Tensor& y, Here here) {                                                            \
    return binary({#f, here}, x, y, [](Value a, Value b) { return ops::compare(a, b, ops::Direction::direction); }); \
  }
RLX_TENSOR_COMPARE(equal, eq)
RLX_TENSOR_COMPARE(not_equal, ne)
RLX_TENSOR_COMPARE(less, lt)
RLX_TENSOR_COMPARE(less_equal, le)
RLX_TENSOR_COMPARE(greater, gt)
RLX_TENSOR_COMPARE(greater_equal, ge)
#undef RLX_TENSOR_COMPARE

Tensor where(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false, Here here) {
  Tensor xs[] = {on_true, on_false};
  detail::agree(xs);
  return build1({"where", here}, {predicate, xs[0], xs[1]}, [](ValuesIn v) { return ops::select(v[0], v[1], v[2]); });
}

Tensor clamp(const Tensor& low, const Tensor& x, const Tensor& high, Here here) {
  Tensor xs[] = {low, x, high};
  detail::agree(xs);
  return build1({"clamp", here}, {xs[0], xs[1], xs[2]}, [](ValuesIn v) { return ops::clamp(v[0], v[1], v[2]); });
}

Tensor convert(const Tensor& x, DType t, Here here) {
  return build1({"convert", here}, {x}, [&](ValuesIn v) { return ops::convert(v[0], t); });
}

}  // namespace rlx
