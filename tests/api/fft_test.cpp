// Transforms of every kind of length against the sum in long double, sums known in closed form, and their inverses.
#include "refused.hpp"

#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace rlx {
namespace {

using Exact = std::complex<long double>;
using Exacts = std::vector<Exact>;

Exact exact_root(std::int64_t k, std::int64_t n) {
  return std::polar(1.0L,
                    -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n));
}

/// The definition, with n roots.
Exacts exact_sums(const Exacts& x, bool inverse) {
  const auto n = static_cast<std::int64_t>(x.size());
  Exacts w, y;
  for (std::int64_t k = 0; k < n; ++k) w.push_back(inverse ? std::conj(exact_root(k, n)) : exact_root(k, n));
  for (std::int64_t k = 0; k < n; ++k) {
    Exact s = 0;
    for (std::int64_t j = 0; j < n; ++j) s += x[static_cast<std::size_t>(j)] * w[static_cast<std::size_t>(j * k % n)];
    y.push_back(inverse ? s / static_cast<long double>(n) : s);
  }
  return y;
}

/// |got - wanted| / |wanted| in 2-norms.
template <class T>
double fft_error(const std::vector<T>& got, const Exacts& wanted) {
  EXPECT_EQ(got.size(), wanted.size());
  long double difference = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Exact g;
    if constexpr (std::is_arithmetic_v<T>) g = got[i];
    else g = Exact(got[i].real(), got[i].imag());
    difference += std::norm(g - wanted[i]), size += std::norm(wanted[i]);
  }
  return static_cast<double>(std::sqrt(difference / size));
}

/// What the errors of a transform of rounded data may come to: those of FFTW are 0.2 to 0.5 ulp times the root of log2
/// n ("FFT accuracy benchmark results", fftw.org/accuracy); a length with a large prime factor passes two transforms
/// and three products here, and dense factors of up to 256 add as many terms, whose errors grow with the root of that.
template <class T>
double fft_bound(std::int64_t n) {
  return 2 * std::numeric_limits<T>::epsilon() * std::sqrt(1 + std::log2(static_cast<double>(n)));
}

template <class T>
std::vector<std::complex<T>> random_complex(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<T> d;
  std::vector<std::complex<T>> x;
  for (std::int64_t i = 0; i < n; ++i) {
    const T re = d(random);
    x.emplace_back(re, d(random));
  }
  return x;
}
template <class T>
Exacts exact(const std::vector<std::complex<T>>& x) {
  return {x.begin(), x.end()};
}

// Small factors, primes below and above the largest dense one (251, 257), their multiples, squares of both.
const std::int64_t fft_lengths[] = {1,   2,   3,   4,   5,   7,   12,  16,  30,   97,   128,  251,
                                    257, 263, 360, 509, 512, 514, 768, 771, 1021, 2048, 4099, 66049};

template <class T>
void complex_lengths() {
  for (std::int64_t n : fft_lengths) {
    if (n > 5000) continue;
    const auto x = random_complex<T>(n, static_cast<std::uint64_t>(n));
    const Tensor t = Tensor::from(x);
    EXPECT_LE(fft_error(fft(t).to_vector<std::complex<T>>(), exact_sums(exact(x), false)), fft_bound<T>(n)) << n;
    EXPECT_LE(fft_error(ifft(t).to_vector<std::complex<T>>(), exact_sums(exact(x), true)), fft_bound<T>(n)) << n;
  }
}
TEST(Fft, EqualsTheSumInDoublePrecision) { complex_lengths<double>(); }
TEST(Fft, EqualsTheSumInSinglePrecision) { complex_lengths<float>(); }

template <class T>
void real_lengths() {
  for (std::int64_t n : fft_lengths) {
    if (n > 5000) continue;
    std::vector<T> x;
    Exacts e;
    for (const auto& v : random_complex<T>(n, static_cast<std::uint64_t>(n)))
      x.push_back(v.real()), e.push_back(v.real());
    Exacts half = exact_sums(e, false);
    half.resize(static_cast<std::size_t>(n / 2 + 1));
    const Tensor y = rfft(Tensor::from(x));
    EXPECT_EQ(y.shape(), Extents{n / 2 + 1});
    EXPECT_LE(fft_error(y.to_vector<std::complex<T>>(), half), fft_bound<T>(n)) << n;
    // The inverse of a spectrum that is given, not of ours: a spectrum of random entries, mirrored.
    auto spectrum = random_complex<T>(n / 2 + 1, 7);
    Exacts whole(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      const bool own = k == 0 || 2 * k == n;
      const auto& v = spectrum[static_cast<std::size_t>(k)];
      whole[static_cast<std::size_t>((n - k) % n)] = own ? Exact(v.real()) : Exact(v.real(), -v.imag());
      whole[static_cast<std::size_t>(k)] = own ? Exact(v.real()) : Exact(v.real(), v.imag());
    }
    EXPECT_LE(fft_error(irfft(Tensor::from(spectrum), n).template to_vector<T>(), exact_sums(whole, true)),
              fft_bound<T>(n))
        << n;
  }
}
TEST(Fft, OfRealNumbersInDoublePrecision) { real_lengths<double>(); }
TEST(Fft, OfRealNumbersInSinglePrecision) { real_lengths<float>(); }

// A transform of n equal numbers is n times that at 0 and nothing elsewhere: a large prime length reaches as far into
// the range of numbers as another one does.
TEST(Fft, LargeNumbersOfALargePrimeLength) {
  constexpr std::int64_t n = 1009;
  constexpr float big = 1e35f;
  const auto y = fft(Tensor::from(std::vector<std::complex<float>>(n, big))).to_vector<std::complex<float>>();
  Exacts wanted(n);
  wanted[0] = static_cast<long double>(big) * n;
  EXPECT_LE(fft_error(y, wanted), fft_bound<float>(n));
}

// C. F. Gauss: the sum of exp(2 pi i j^2 / n) over j < n is i sqrt(n) for n = 3 mod 4. Completing the square, the
// transform of exp(2 pi i j^2 / n) is exp(-2 pi i k^2 / 4 / n) times it, 1 / 4 modulo n.
constexpr std::int64_t large = 1000003, quarter = 250001;  // a prime, 3 mod 4; 4 quarter = 1 mod large
template <class T>
void gauss_sum() {
  static_assert(4 * quarter % large == 1 && large % 4 == 3);
  std::vector<std::complex<T>> x;
  Exacts wanted;
  const Exact gauss(0, std::sqrt(static_cast<long double>(large)));
  for (std::int64_t j = 0; j < large; ++j) {
    const std::int64_t square = j * j % large;
    x.push_back(std::complex<T>(std::conj(exact_root(square, large))));
    wanted.push_back(exact_root(square * quarter % large, large) * gauss);
  }
  const auto step = jit([](const Tensor& v) {
    const Tensor y = fft(v);
    return std::pair(y, ifft(y));
  });
  const auto [y, back] = step(Tensor::from(x));
  EXPECT_LE(fft_error(y.template to_vector<std::complex<T>>(), wanted), fft_bound<T>(large));
  EXPECT_LE(fft_error(back.template to_vector<std::complex<T>>(), exact(x)), 2 * fft_bound<T>(large));
}
TEST(Fft, OfAMillionAndThreeIsAGaussSum) { gauss_sum<double>(); }
TEST(Fft, OfAMillionAndThreeInSinglePrecision) { gauss_sum<float>(); }

// sum over j < n of r^j w^(j k) is (1 - r^n) / (1 - r w^k).
TEST(Fft, OfAGeometricSequence) {
  for (std::int64_t n : {std::int64_t{66049}, std::int64_t{100003}, std::int64_t{2 * 7919}}) {
    const long double r = 0.999L;
    std::vector<double> x;
    Exacts wanted;
    for (std::int64_t j = 0; j < n; ++j) x.push_back(static_cast<double>(std::pow(r, static_cast<long double>(j))));
    for (std::int64_t k = 0; k <= n / 2; ++k)
      wanted.push_back((1 - std::pow(r, static_cast<long double>(n))) / (1.0L - r * exact_root(k, n)));
    EXPECT_LE(fft_error(rfft(Tensor::from(x)).to_vector<std::complex<double>>(), wanted), fft_bound<double>(n)) << n;
  }
}

TEST(Fft, RunsAlongAnyDimensionAndSeveral) {
  const std::int64_t a = 3, b = 257, c = 2;
  const auto x = random_complex<double>(a * b * c, 5);
  const Tensor t = Tensor::from(x, Extents{a, b, c});
  Exacts wanted(x.size()), all(x.size());
  for (std::int64_t i = 0; i < a; ++i)
    for (std::int64_t k = 0; k < c; ++k) {
      Exacts line;
      for (std::int64_t j = 0; j < b; ++j) line.push_back(Exact(x[static_cast<std::size_t>((i * b + j) * c + k)]));
      line = exact_sums(line, false);
      for (std::int64_t j = 0; j < b; ++j)
        wanted[static_cast<std::size_t>((i * b + j) * c + k)] = line[static_cast<std::size_t>(j)];
    }
  EXPECT_LE(fft_error(fft(t, 1).to_vector<std::complex<double>>(), wanted), fft_bound<double>(b));
  EXPECT_LE(fft_error(fft(t, -2).to_vector<std::complex<double>>(), wanted), fft_bound<double>(b));
  EXPECT_EQ(rfft(real(t), 1).shape(), (Extents{a, b / 2 + 1, c}));
  EXPECT_EQ(irfft(rfft(real(t), 1), b, 1).shape(), (Extents{a, b, c}));
  // All three dimensions of a separable impulse e_1 x e_2 x e_1: products of roots.
  std::vector<std::complex<double>> impulse(x.size());
  impulse[static_cast<std::size_t>((1 * b + 2) * c + 1)] = 1;
  for (std::int64_t i = 0; i < a; ++i)
    for (std::int64_t j = 0; j < b; ++j)
      for (std::int64_t k = 0; k < c; ++k)
        all[static_cast<std::size_t>((i * b + j) * c + k)] =
            exact_root(i, a) * exact_root(2 * j % b, b) * exact_root(k, c);
  const Tensor y = fftn(Tensor::from(impulse, Extents{a, b, c}));
  EXPECT_EQ(refused([&] { fftn(y, {0, -3}); }), "fftn: axis 0 of " + to_string(y.type()) + " is given twice");
  EXPECT_LE(fft_error(y.to_vector<std::complex<double>>(), all), fft_bound<double>(a * b * c));
  EXPECT_LE(fft_error(ifftn(y, {0, 1, 2}).to_vector<std::complex<double>>(), exact(impulse)),
            fft_bound<double>(a * b * c));
}

// Parseval: the sum of squared magnitudes grows by n, so the gradient of that sum is 2 n x.
TEST(Fft, Differentiates) {
  const auto power = [](const Tensor& x) {
    const Tensor y = fft(x);
    return sum(square(real(y)) + square(imag(y)));
  };
  const std::int64_t n = 257;
  const auto x = random_complex<double>(n, 9);
  Exacts wanted;
  for (const auto& v : x) wanted.push_back(Exact(v) * (2.0L * n));
  EXPECT_LE(fft_error(jit(grad(power))(Tensor::from(x)).to_vector<std::complex<double>>(), wanted),
            2 * fft_bound<double>(n));
}

TEST(Fft, RefusesWhatIsNoSignal) {
  EXPECT_EQ(refused([] { fft(arange(4)); }), "fft: x is i64[4], expected {f32, f64, c64, c128}");
  EXPECT_EQ(refused([] { rfft(convert(zeros({4}), DType::c64)); }), "rfft: x is c64[4], expected {f32, f64}");
  EXPECT_EQ(refused([] { fft(zeros({4}), 1); }), "fft: there is no axis 1 of f64[4]");
  EXPECT_EQ(refused([] { irfft(fft(zeros({4})), 5); }),
            "irfft: 4 entries of c128[4] are not those of a real signal of length 5, which has 3");
  EXPECT_EQ(refused([] { irfft(fft(zeros({1}))); }),
            "irfft: 1 entries of c128[1] are not those of a real signal of length 0, which is at least 1");
  EXPECT_THROW(fft(zeros({0})), VerifyError);
}

}  // namespace
}  // namespace rlx
