// y[k] = sum over j of x[j] exp(-2 pi i j k / n); inverse kinds have the opposite sign and divide by n. Of the real
// kinds the spectrum holds k = 0 .. n / 2; real_inverse ignores the imaginary part of the entries that are their own
// mirror image.
#include "ops/structure.hpp"

#include <bit>
#include <numbers>

namespace rlx::ops {

constexpr Operand fft_operands[] = {{"x", DTypeSet{DType::f32, DType::f64} | complex_types}};
constexpr Constraint<FftAttrs> fft_constraints[] = {
    {"C1", "x has at least one dimension", [](const FftAttrs&, const Signature& s) { return Answer(s.rank(0) >= 1); }},
    {"C2", "x is real for real_forward, else complex",
     [](const FftAttrs& a, const Signature& s) {
       return Answer(is_complex(s.dtype(0)) != (a.kind == FftKind::real_forward));
     }},
    {"C3", "length >= 1", [](const FftAttrs& a, const Signature&) { return Answer(a.length >= 1); }},
    {"C4", "the last dimension is length, or length / 2 + 1 for real_inverse",
     [](const FftAttrs& a, const Signature& s) {
       return s.equal(s.shape(0).back(), a.kind == FftKind::real_inverse ? a.length / 2 + 1 : a.length);
     }}};

static DType complex_of(DType t) { return t == DType::f64 || t == DType::c128 ? DType::c128 : DType::c64; }

static Types fft_infer(const FftAttrs& a, const Signature& s) {
  Shape shape = s.shape(0);
  if (a.kind == FftKind::real_forward) shape.back() = a.length / 2 + 1;
  if (a.kind == FftKind::real_inverse) shape.back() = a.length;
  return {tensor(a.kind == FftKind::real_inverse ? real_of(s.dtype(0)) : complex_of(s.dtype(0)), shape)};
}

// The sum itself, with angles reduced before they are rounded.
static HostValues fft_reference(const FftAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  HostTensor y = c.make();
  const std::int64_t n = a.length, from = x.shape().back(), to = y.shape().back(),
                     rows = y.numel() / std::max<std::int64_t>(to, 1);
  const bool inverse = a.kind == FftKind::inverse || a.kind == FftKind::real_inverse;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < to; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        std::complex<double> v;
        if (a.kind != FftKind::real_inverse) v = x.get_c128(row * from + j);
        else if (j < from)
          v = j == 0 || 2 * j == n ? std::complex<double>(x.get_c128(row * from + j).real())
                                   : x.get_c128(row * from + j);
        else v = std::conj(x.get_c128(row * from + n - j));
        const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
        sum += v * std::polar(1.0, inverse ? angle : -angle);
      }
      if (inverse) sum /= static_cast<double>(n);
      if (a.kind == FftKind::real_inverse) y.set_f64(row * to + k, sum.real());
      else y.set_c128(row * to + k, sum);
    }
  return {y};
}

/// How often each entry of a half spectrum counts: the inner ones stand for their mirror images too.
static Value fft_weights(Builder& b, DType t, Shape shape, std::int64_t n, double factor) {
  const std::int64_t half = n / 2 + 1;
  HostTensor w(t, {half});
  for (std::int64_t k = 0; k < half; ++k) w.set_f64(k, (k == 0 || 2 * k == n ? 1 : 2) * factor);
  const int last = static_cast<int>(shape.size()) - 1;
  return broadcast(constant(b, w), std::move(shape), {last});
}
static Value fft_scaled(Value x, double factor) { return mul(x, full_like(x, factor)); }

// Conjugate transposes. The matrix is symmetric, so forward and inverse exchange up to the factor n. real_forward drops
// columns (zeros come back) and takes real numbers (the real part goes back).
static Values fft_vjp(const VjpCall<FftAttrs>& c) {
  const std::int64_t n = c.attrs.length;
  const double count = static_cast<double>(n);
  const Value t = c.cotangent[0];
  switch (c.attrs.kind) {
    case FftKind::forward:
      return {fft_scaled(fft(t, {FftKind::inverse, n}), count)};
    case FftKind::inverse:
      return {fft_scaled(fft(t, {FftKind::forward, n}), 1 / count)};
    case FftKind::real_forward:
      return {fft_scaled(real(fft(extend(t, t.rank() - 1, 0, n), {FftKind::inverse, n})), count)};
    case FftKind::real_inverse:
      break;
  }
  const Value y = fft(t, {FftKind::real_forward, n});
  return {mul(y, fft_weights(c.b, y.dtype(), y.shape(), n, 1 / count))};
}

static Values fft_jvp(const JvpCall<FftAttrs>& c) { return {c.tangent[0] ? fft(c.tangent[0], c.attrs) : Value{}}; }
static Batched fft_batch(const BatchCall<FftAttrs>& c) {
  return {{fft(lead(c.in[0], c.axes[0], c.size), c.attrs)}, {0}};
}
static ShardRule fft_shard(const FftAttrs& a, const Signature& s) {
  return shard_positions(s, fft_infer(a, s), {s.rank(0) - 1});
}
// The usual 5 n log2 n, half of it for real data.
static Cost fft_cost(const FftAttrs& a, const Signature& s) {
  const std::int64_t n = a.length, depth = std::bit_width(static_cast<std::uint64_t>(n - 1));
  const bool real_data = a.kind == FftKind::real_forward || a.kind == FftKind::real_inverse;
  Shape rows = s.shape(0);
  rows.pop_back();
  return cost_of(s, fft_infer(a, s),
                 element_count(rows) * (5 * n * std::max<std::int64_t>(depth, 1) / (real_data ? 2 : 1)));
}

extern const OpDef<FftAttrs> fft_op{
    .name = "fft",
    .doc = "Discrete Fourier transform along the last dimension.",
    .operands = fft_operands,
    .constraints = fft_constraints,
    .infer = fft_infer,
    .meaning = Primitive<FftAttrs>{fft_reference},
    .vjp = Vjp<FftAttrs>{fft_vjp},
    .jvp = fft_jvp,
    .batch = fft_batch,
    .shard = fft_shard,
    .cost = fft_cost,
    .samples = []() -> std::vector<Sample<FftAttrs>> {
      using F = FftAttrs;
      using K = FftKind;
      const SampleOperand line{f64({4}), {1, 2, 3, 4}};
      return {sample<F>({c128({2, 6})}, {K::forward, 6}),
              sample<F>({c128({5})}, {K::inverse, 5}),
              sample<F>({f64({2, 6})}, {K::real_forward, 6}),
              sample<F>({f64({5})}, {K::real_forward, 5}),
              sample<F>({c128({4})}, {K::real_inverse, 6}),
              sample<F>({c128({3})}, {K::real_inverse, 5}),
              // Primes that a dense product no longer serves.
              sample<F>({c128({257})}, {K::forward, 257}),
              sample<F>({f64({2, 263})}, {K::real_forward, 263}),
              sample<F>({line}, {K::real_forward, 4}).expects({{10, 0, -2, 2, -2, 0}}),
              sample<F>({{c128({3}), {10, 5, -2, 2, -2, 7}}}, {K::real_inverse, 4}).expects({{1, 2, 3, 4}}),
              sample<F>({{c64({2}), {1, 1, 2, -1}}}, {K::forward, 2}).expects({{3, 0, -1, 2}}),
              sample<F>({{c64({2}), {3, 0, -1, 2}}}, {K::inverse, 2}).expects({{1, 1, 2, -1}}),
              sample<F>({c128({1})}, {K::forward, 1}),
              sample<F>({c128({0, 4})}, {K::forward, 4}),
              sample<F>({c64({})}, {K::forward, 1}).breaking("C1"),
              sample<F>({f32({4})}, {K::forward, 4}).breaking("C2"),
              sample<F>({c64({4})}, {K::real_forward, 4}).breaking("C2"),
              sample<F>({c64({0})}, {K::forward, 0}).breaking("C3"),
              sample<F>({c64({4})}, {K::inverse, 3}).breaking("C4"),
              sample<F>({c64({4})}, {K::real_inverse, 4}).breaking("C4")};
    }};

}  // namespace rlx::ops
