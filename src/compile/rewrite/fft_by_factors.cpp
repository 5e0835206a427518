// fft becomes products with small discrete Fourier matrices: a length p m is p-point transforms of columns, twiddle
// factors, m-point transforms of rows (J. Cooley and J. Tukey, Math. Comp. 19, 1965), down to factors that are
// multiplied out. A large prime factor is a transform of its own, which fft_by_convolution takes. The real kinds go
// through the complex one.
#include "compile/dispatch.hpp"
#include "compile/rewrite/unit_roots.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {
namespace {

// exp(-+ 2 pi i j k / n) for j < rows, k < columns.
Value roots(Builder& b, DType t, std::int64_t rows, std::int64_t columns, std::int64_t n, bool inverse) {
  HostTensor w(t, {rows, columns});
  for (std::int64_t j = 0; j < rows; ++j)
    for (std::int64_t k = 0; k < columns; ++k) {
      const std::complex<double> root = unit_root(j * k % n, n);
      w.set_c128(j * columns + k, inverse ? root : std::conj(root));
    }
  return ops::constant(b, w);
}

std::int64_t factor_of(std::int64_t n) {
  for (std::int64_t p : {16, 8, 4})
    if (n % p == 0 && n > p) return p;
  for (std::int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

// x [rows, n], complex; the inverse lacks its 1 / n.
Value transform(Value x, bool inverse) {
  Builder& b = *x.builder;
  const Dim rows = x.shape()[0];
  const std::int64_t n = x.shape()[1].constant(), p = factor_of(n), m = n / p;
  const DType t = x.dtype();
  if (p == n && n > largest_dense_factor) {
    const ops::FftAttrs forward{ops::FftKind::forward, n};
    return inverse ? ops::conj(ops::fft(ops::conj(x), forward)) : ops::fft(x, forward);
  }
  if (p == n) return ops::matmul(x, roots(b, t, n, n, n, inverse));
  // Element j = j1 m + j2 of the input meets k = k1 + p k2 of the output.
  const Value columns = ops::transpose(ops::reshape(x, {rows, p, m}), {0, 2, 1});  // [rows, j2, j1]
  const Value first =
      ops::matmul(ops::reshape(columns, {rows * m, p}), roots(b, t, p, p, p, inverse));  // [rows j2, k1]
  const Value twisted =
      ops::mul(ops::reshape(first, {rows, m, p}), ops::broadcast(roots(b, t, m, p, n, inverse), {rows, m, p}, {1, 2}));
  const Value lines = ops::reshape(ops::transpose(twisted, {0, 2, 1}), {rows * p, m});  // [rows k1, j2]
  const Value second = ops::reshape(transform(lines, inverse), {rows, p, m});           // [rows, k1, k2]
  return ops::reshape(ops::transpose(second, {0, 2, 1}), {rows, n});
}

Value as_complex(Value x) {
  if (is_complex(x.dtype())) return x;
  return ops::complex(x, ops::zeros_like(x));
}

Values fft_by_factors_apply(Builder& b, const Instance& i, const Graph&, const Node& n, ValuesIn in) {
  const auto& a = n.attrs.as<ops::FftAttrs>();
  const bool inverse = a.kind == ops::FftKind::inverse || a.kind == ops::FftKind::real_inverse;
  const auto& result = std::get<TensorType>(i.results[0]);
  const int last = in[0].rank() - 1;
  Value x = as_complex(in[0]);
  if (a.kind == ops::FftKind::real_inverse) {
    // The missing half mirrors entries 1 .. (length - 1) / 2; entries that are their own mirror image count as real.
    const std::int64_t half = a.length / 2 + 1, mirrored = a.length - half;
    HostTensor own(DType::boolean, {half});
    for (std::int64_t k = 0; k < half; ++k) own.set_i64(k, k == 0 || 2 * k == a.length);
    const Value real_only = ops::complex(ops::real(x), ops::zeros_like(ops::real(x)));
    x = ops::select(ops::broadcast(ops::constant(b, own), x.shape(), {last}), real_only, x);
    if (mirrored > 0) {
      const Values halves{x, ops::conj(ops::reverse(ops::slice_axis(x, last, 1, mirrored + 1), {last}))};
      x = ops::concat(halves, last);
    }
  }
  const Shape shape = x.shape();
  Dim rows = 1;
  for (int d = 0; d < last; ++d) rows = rows * shape[static_cast<std::size_t>(d)];
  Value y = ops::reshape(transform(ops::reshape(x, {rows, a.length}), inverse), shape);
  if (inverse) y = ops::mul(y, ops::full_like(y, 1.0 / static_cast<double>(a.length)));
  if (a.kind == ops::FftKind::real_forward) y = ops::slice_axis(y, last, 0, result.shape.back());
  return {a.kind == ops::FftKind::real_inverse ? ops::real(y) : y};
}

}  // namespace

extern const RewriteRule fft_by_factors{"fft_by_factors", "fft", false, [](const Instance&) { return Answer(true); },
                                        fft_by_factors_apply};

}  // namespace rlx::compile
