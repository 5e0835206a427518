// What all elementwise operators share: shape rules, derivatives from a formula, batching, sharding, cost, and
// references that map a scalar function.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes.hpp>
#include <rlx/ops/build.hpp>

#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

namespace rlx::ops {

template <class A>
Answer same_shapes(const A&, const Signature& s) {
  Answer all = true;
  for (std::size_t i = 1; i < s.size(); ++i) all = std::move(all) && s.same_shape(s.shape(0), s.shape(i));
  return all;
}
template <class A>
Answer same_dtypes(const A&, const Signature& s) {
  for (std::size_t i = 1; i < s.size(); ++i)
    if (s.dtype(i) != s.dtype(0))
      return Answer::no(std::string(name(s.dtype(i))) + " is not " + std::string(name(s.dtype(0))));
  return true;
}

/// The two constraints of operators whose operands all have one type.
template <class A = NoAttributes>
inline constexpr Constraint<A> one_type[] = {{"C1", "all operands have one shape", same_shapes<A>},
                                             {"C2", "all operands have one dtype", same_dtypes<A>}};

template <class A = NoAttributes>
Types infer_first(const A&, const Signature& s) {
  return {tensor(s.dtype(0), s.shape(0))};
}
template <class A = NoAttributes>
Types infer_bool(const A&, const Signature& s) {
  return {boolean(s.shape(0))};
}
template <class A = NoAttributes>
Types infer_real(const A&, const Signature& s) {
  return {tensor(real_of(s.dtype(0)), s.shape(0))};
}

// --- Derivatives. Real numbers need nothing special here: conj of a real value is the value.

/// The tangent of a function whose derivative is `d`: t * d, absent where t is. A cotangent meets conj(d).
inline Value scaled(Value t, Value d) { return t ? t * d : t; }
/// a + b, where either may be absent.
inline Value plus(Value a, Value b) { return a && b ? a + b : a ? a : b; }
/// Whether vjp owes operand `i` anything.
template <class A>
bool pulls(const VjpCall<A>& c, std::size_t i) {
  return c.cotangent[0] && c.wanted[i];
}

/// Rules of piecewise constant functions and of integer or bool results: every derivative is zero.
template <class A = NoAttributes>
Values zero_vjp(const VjpCall<A>& c) {
  return Values(c.in.size());
}
template <class A = NoAttributes>
Values zero_jvp(const JvpCall<A>& c) {
  return Values(c.out.size());
}

/// Rules of a unary function, holomorphic where x is complex, of derivative d(x, y), where y is the result.
using UnaryDerivative = Value (*)(Value x, Value y);
template <UnaryDerivative d>
Values unary_vjp(const VjpCall<NoAttributes>& c) {
  if (!pulls(c, 0)) return {Value{}};
  return {c.cotangent[0] * conj(d(c.in[0], c.out[0]))};
}
template <UnaryDerivative d>
Values unary_jvp(const JvpCall<NoAttributes>& c) {
  if (!c.tangent[0]) return {Value{}};
  return {c.tangent[0] * d(c.in[0], c.out[0])};
}

/// The same for two operands and partial derivatives dx(x, y, z) and dy(x, y, z), where z is the result.
using BinaryDerivative = Value (*)(Value x, Value y, Value z);
template <BinaryDerivative dx, BinaryDerivative dy>
Values binary_vjp(const VjpCall<NoAttributes>& c) {
  const auto pull = [&](std::size_t i, BinaryDerivative d) {
    return pulls(c, i) ? c.cotangent[0] * conj(d(c.in[0], c.in[1], c.out[0])) : Value{};
  };
  return {pull(0, dx), pull(1, dy)};
}
template <BinaryDerivative dx, BinaryDerivative dy>
Values binary_jvp(const JvpCall<NoAttributes>& c) {
  const auto push = [&](std::size_t i, BinaryDerivative d) {
    return c.tangent[i] ? c.tangent[i] * d(c.in[0], c.in[1], c.out[0]) : Value{};
  };
  return {plus(push(0, dx), push(1, dy))};
}

/// The part of `t` that goes to the operand chosen where `chosen` holds; in a tie both operands get half, which is the
/// mean of the one-sided derivatives and what central differences see.
inline Value share(Value t, Value chosen, Value tie) { return select(chosen, t, select(tie, t * 0.5, zeros_like(t))); }

// --- Batching, sharding, cost.

/// Brings the new dimension of every operand to the front (unbatched ones are broadcast), so that an elementwise
/// operator can be repeated as it is.
RLX_API Values lead_with_batch(ValuesIn in, std::span<const int> axes, const Dim& size);
template <class A = NoAttributes>
Batched batch_elementwise(const BatchCall<A>& c) {
  Values out = c.b.emit(c.node.op->name(), lead_with_batch(c.in, c.axes, c.size), c.attrs);
  return {out, std::vector<int>(out.size(), 0)};
}

template <class A = NoAttributes>
ShardRule shard_elementwise(const A&, const Signature& s) {
  ShardRule r;
  std::vector<int> all;
  for (int i = 0; i < s.rank(0); ++i) all.push_back(i);
  r.factors.resize(all.size());
  r.operands.assign(s.size(), all);
  r.results = {all};
  return r;
}

/// Bytes of `count` packed elements.
RLX_API Dim bytes_of(DType t, const Dim& count);
/// `flops` an element; every operand is read and a result of dtype `result` written once.
RLX_API Cost elementwise_cost(const Signature& s, int flops, DType result);
template <int flops, class A = NoAttributes>
Cost cost_elementwise(const A&, const Signature& s) {
  return elementwise_cost(s, flops, s.dtype(0));
}
template <int flops, class A = NoAttributes>
Cost cost_bool(const A&, const Signature& s) {
  return elementwise_cost(s, flops, DType::boolean);
}
template <int flops, class A = NoAttributes>
Cost cost_real(const A&, const Signature& s) {
  return elementwise_cost(s, flops, real_of(s.dtype(0)));
}

// --- References. `f` takes some of std::int64_t, std::uint64_t (also for bool), double and std::complex<double>; what
// it cannot take is never asked of it, because the operand's dtypes are checked before. A wide result is rounded to the
// result's dtype once; integers wrap.
namespace detail {
inline void store(HostTensor& y, std::int64_t i, bool v) { y.set_i64(i, v); }
inline void store(HostTensor& y, std::int64_t i, std::int64_t v) { y.set_i64(i, v); }
inline void store(HostTensor& y, std::int64_t i, std::uint64_t v) { y.set_u64(i, v); }
inline void store(HostTensor& y, std::int64_t i, double v) { y.set_f64(i, v); }
inline void store(HostTensor& y, std::int64_t i, std::complex<double> v) { y.set_c128(i, v); }

template <class T>
T element(const HostTensor& x, std::int64_t i) {
  if constexpr (std::is_same_v<T, std::int64_t>) return x.get_i64(i);
  else if constexpr (std::is_same_v<T, std::uint64_t>) return x.get_u64(i);
  else if constexpr (std::is_same_v<T, double>) return x.get_f64(i);
  else return x.get_c128(i);
}

template <class T, class F, std::size_t... I>
void map_as(const ReferenceCall& c, HostTensor& y, F& f, std::index_sequence<I...>) {
  if constexpr (std::is_invocable_v<F&, decltype((void)I, T{})...>)
    for (std::int64_t i = 0; i < y.numel(); ++i) store(y, i, f(element<T>(c.tensor(I), i)...));
  else throw InternalError("a reference does not take this dtype");
}
template <std::size_t N, bool floats_only, class F>
HostValues map_elements(const ReferenceCall& c, F f) {
  HostTensor y = c.make();
  constexpr std::make_index_sequence<N> operands{};
  const DType t = c.tensor(0).dtype();
  if (is_complex(t)) map_as<std::complex<double>>(c, y, f, operands);
  else if (floats_only || is_floating(t)) map_as<double>(c, y, f, operands);
  else if constexpr (!floats_only) {
    if (is_signed_integer(t)) map_as<std::int64_t>(c, y, f, operands);
    else map_as<std::uint64_t>(c, y, f, operands);
  }
  return {y};
}

/// bool is one bit wide, so that "not" of true is false.
inline int bits_of(DType t) { return t == DType::boolean ? 1 : bit_width(t); }
template <class F, std::size_t... I>
HostValues map_bits(const ReferenceCall& c, F f, std::index_sequence<I...>) {
  HostTensor y = c.make();
  const DType t = c.tensor(0).dtype();
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits_of(t));
  const auto bits = [&](const HostTensor& x, std::int64_t i) {
    return (is_signed_integer(t) ? static_cast<std::uint64_t>(x.get_i64(i)) : x.get_u64(i)) & mask;
  };
  for (std::int64_t i = 0; i < y.numel(); ++i) y.set_u64(i, f(bits_of(t), bits(c.tensor(I), i)...) & mask);
  return {y};
}
}  // namespace detail

template <class F>
HostValues map_unary(const ReferenceCall& c, F f) {
  return detail::map_elements<1, false>(c, f);
}
template <class F>
HostValues map_binary(const ReferenceCall& c, F f) {
  return detail::map_elements<2, false>(c, f);
}
template <class F>
HostValues map_ternary(const ReferenceCall& c, F f) {
  return detail::map_elements<3, false>(c, f);
}
/// For functions of floating-point and complex arguments only.
template <class F>
HostValues map_float(const ReferenceCall& c, F f) {
  return detail::map_elements<1, true>(c, f);
}
/// For functions of bit patterns: f(width, bits...), the upper bits of operands zero, those of the result dropped.
template <std::size_t operands, class F>
HostValues map_bits(const ReferenceCall& c, F f) {
  return detail::map_bits(c, f, std::make_index_sequence<operands>{});
}

/// Element types that are ordered.
template <class T>
concept RealElement = std::is_arithmetic_v<T>;

/// `f` with signed operands passed as unsigned ones: overflow wraps instead of being undefined.
template <class F>
auto wrapping(F f) {
  return [f]<class T, class... Ts>(T x, Ts... rest) -> T {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return static_cast<std::int64_t>(f(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(rest)...));
    else return f(x, rest...);
  };
}

/// StableHLO's minimum and maximum: a NaN wins, -0 is below 0.
template <RealElement T>
T minimum(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? x : y;
    if (x == y) return std::signbit(x) ? x : y;
  }
  return y < x ? y : x;
}
template <RealElement T>
T maximum(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? x : y;
    if (x == y) return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
}

// --- Samples of operators without attributes.
using Samples = std::vector<Sample<NoAttributes>>;
using rlx::sample;
inline SampleBuilder<NoAttributes> sample(std::vector<SampleOperand> in) { return sample<NoAttributes>(std::move(in)); }

}  // namespace rlx::ops
