// fft of a large prime length becomes a circular convolution of a length of small factors: since 2 j k = j^2 + k^2 -
// (k - j)^2, the transform is a product with the chirp w[j] = exp(-pi i j^2 / n), a convolution with its conjugate, and
// a product with the chirp again (L. Bluestein, IEEE Trans. Audio Electroacoust. 18, 1970; with transforms as here: L.
// Rabiner, R. Schafer, C. Rader, Bell Syst. Tech. J. 48, 1969). Memory and work are those of two transforms of up to
// 8/3 n; the error is theirs, some ulp times the root of log n in the mean (FFTW states the same law).
#include "compile/dispatch.hpp"
#include "compile/rewrite/unit_roots.hpp"

#include <rlx/ir/memory.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace rlx::compile {
namespace {

using Spectrum = std::vector<std::complex<double>>;

bool is_prime(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return false;
  return n > 1;
}

/// The least of 2^k, 3 * 2^k and 5 * 2^k that is not below n, at least 8.
std::int64_t convolution_length(std::int64_t n) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t odd : {1, 3, 5})
    least = std::min(least, odd * static_cast<std::int64_t>(std::bit_ceil(
                                      static_cast<std::uint64_t>(std::max<std::int64_t>((n + odd - 1) / odd, 8)))));
  return least;
}

/// y[k] = sum over j < n of x[j * stride] root[(j * k * stride) % all], all = n * stride a length as above: even and
/// odd elements apart (J. Cooley and J. Tukey, Math. Comp. 19, 1965) down to an odd length.
void host_transform(std::int64_t n, std::int64_t stride, const std::complex<double>* x, const Spectrum& root,
                    std::complex<double>* y) {
  const auto at = [&](std::int64_t turn) { return root[static_cast<std::size_t>(turn * stride)]; };
  if (n % 2 != 0) {
    for (std::int64_t k = 0; k < n; ++k) {
      y[k] = 0;
      for (std::int64_t j = 0; j < n; ++j) y[k] += x[j * stride] * at(j * k % n);
    }
    return;
  }
  const std::int64_t half = n / 2;
  host_transform(half, 2 * stride, x, root, y);
  host_transform(half, 2 * stride, x + stride, root, y + half);
  for (std::int64_t k = 0; k < half; ++k) {
    const std::complex<double> even = y[k], odd = y[k + half] * at(k);
    y[k] = even + odd;
    y[k + half] = even - odd;
  }
}

/// w[j], from j^2 mod 2 n: an angle of the size of j^2 would have no digits left.
Spectrum chirp(std::int64_t n) {
  Spectrum w(static_cast<std::size_t>(n));
  std::int64_t square = 0;  // of j, mod 2 n
  for (std::int64_t j = 0; j < n; ++j) {
    w[static_cast<std::size_t>(j)] = std::conj(unit_root(square, 2 * n));
    square = (square + 2 * j + 1) % (2 * n);
  }
  return w;
}

/// The transform of length `all` of the conjugate chirp at -(n - 1) .. n - 1, positions counted around, divided by
/// `all` as the inverse transform wants it: numbers that are divided here only would leave the range before.
Spectrum chirp_spectrum(const Spectrum& w, std::int64_t all) {
  const auto size = static_cast<std::size_t>(all);
  Spectrum around(size), root(size), y(size);
  for (std::size_t j = 0; j < w.size(); ++j) around[j] = around[(size - j) % size] = std::conj(w[j]);
  for (std::int64_t k = 0; k < all; ++k) root[static_cast<std::size_t>(k)] = std::conj(unit_root(k, all));
  host_transform(all, 1, around.data(), root, y.data());
  for (std::complex<double>& z : y) z /= static_cast<double>(all);
  return y;
}

Value row_constant(Builder& b, DType t, const Spectrum& s) {
  HostTensor row(t, {static_cast<std::int64_t>(s.size())});
  for (std::size_t i = 0; i < s.size(); ++i) row.set_c128(static_cast<std::int64_t>(i), s[i]);
  return ops::constant(b, row);
}

Answer fft_by_convolution_applies(const Instance& i) {
  const auto& a = i.attrs->as<ops::FftAttrs>();
  if (a.kind != ops::FftKind::forward) return Answer::no("not a forward transform of complex numbers");
  if (a.length > largest_dense_factor && is_prime(a.length)) return true;
  return Answer::no("length " + std::to_string(a.length) + " is not a prime above " +
                    std::to_string(largest_dense_factor));
}

Values fft_by_convolution_apply(Builder& b, const Instance&, const Graph&, const Node& node, ValuesIn in) {
  const std::int64_t n = node.attrs.as<ops::FftAttrs>().length, all = convolution_length(2 * n - 1);
  const Value x = in[0];
  // The chirp, four arrays on the way to its spectrum, and the two constants in the type of x.
  require_memory("the chirp of a transform of length " + std::to_string(n),
                 static_cast<std::uint64_t>(all) * (5 * sizeof(std::complex<double>) + 2 * 16));
  const Spectrum w = chirp(n);
  const Value turned = row_constant(b, x.dtype(), w), kernel = row_constant(b, x.dtype(), chirp_spectrum(w, all));
  const auto times = [](Value y, Value row) { return ops::mul(y, ops::broadcast_to(row, y.shape())); };
  std::vector<std::int64_t> low(x.shape().size(), 0), high = low;
  high.back() = all - n;
  const Value padded = ops::pad(times(x, turned), ops::scalar(b, x.dtype(), 0), low, high);
  const Value product = times(ops::fft(padded, {ops::FftKind::forward, all}), kernel);
  // An inverse transform without its division.
  const Value convolved = ops::conj(ops::fft(ops::conj(product), {ops::FftKind::forward, all}));
  return {times(ops::slice_axis(convolved, x.rank() - 1, 0, n), turned)};
}

}  // namespace

extern const RewriteRule fft_by_convolution{"fft_by_convolution", "fft", false, fft_by_convolution_applies,
                                            fft_by_convolution_apply};

}  // namespace rlx::compile
