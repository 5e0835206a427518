// Compiled with -ffp-contract=off: fusing a product into a sum would break the error-free transformations.
#include "refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <rlx/ir/error.hpp>
#include <vector>

#include "fenv_guard.hpp"
#include "norms.hpp"

namespace rlx::linalg {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

/// hi + lo, a sum of products kept to about twice the precision of double. Inlined always, so that it becomes part of a
/// function that is compiled for processors with fma instructions.
template <class T>
struct Sum;

template <>
struct Sum<double> {
  double hi = 0, lo = 0;
  /// Adds a * b: Dekker's product by fma, Knuth's two-sum.
  [[gnu::always_inline]] void add(double a, double b) {
    const double product = a * b;
    const double lost_product = __builtin_fma(a, b, -product);
    const double sum = hi + product;
    const double part = sum - hi;
    const double lost_sum = (hi - (sum - part)) + (product - part);
    hi = sum;
    lo += lost_sum + lost_product;
  }
  double value() const { return hi + lo; }
};

template <>
struct Sum<std::complex<double>> {
  Sum<double> re, im;
  explicit Sum(std::complex<double> start = 0) : re{start.real()}, im{start.imag()} {}
  [[gnu::always_inline]] void add(std::complex<double> a, std::complex<double> b) {
    re.add(a.real(), b.real());
    re.add(-a.imag(), b.imag());
    im.add(a.real(), b.imag());
    im.add(a.imag(), b.real());
  }
  std::complex<double> value() const { return {re.value(), im.value()}; }
};

// LAPACK's cabs1: |z| within a factor sqrt(2), without its square root.
double size_of(double x) { return std::abs(x); }
double size_of(std::complex<double> x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// What the rows of op(A), of x and of the residual come to.
struct Rows {
  std::span<double> sizes;    // |op(A)| |x|
  std::span<double> largest;  // of |op(A)|
  std::span<double> sums;     // of |op(A)|
};

/// The entries of A in their order: row i of it meets x[i] or gives r[i]. r holds b before.
template <class T, class Index>
[[gnu::always_inline]] inline void residual_of_rows(const CsrView<T, Index>& a, std::span<const T> x, std::span<T> r,
                                                    const Rows& rows) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Sum<T> sum{r[i]};
    double size = 0, largest = 0, total = 0;
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const T value = a.values[k], factor = x[a.columns[k]];
      sum.add(-value, factor);
      size += size_of(value) * size_of(factor);
      const double magnitude = std::abs(value);
      largest = std::max(largest, magnitude);
      total += magnitude;
    }
    r[i] = sum.value();
    rows.sizes[i] = size;
    rows.largest[i] = largest;
    rows.sums[i] = total;
  }
}
template <class T, class Index>
[[gnu::always_inline]] inline void residual_of_columns(const CsrView<T, Index>& a, bool conjugate, std::span<const T> x,
                                                       std::span<Sum<T>> sums, const Rows& rows) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const Index j = a.columns[k];
      sums[j].add(conjugate ? -conj_of(a.values[k]) : -a.values[k], x[i]);
      rows.sizes[j] += size_of(a.values[k]) * size_of(x[i]);
      const double magnitude = std::abs(a.values[k]);
      rows.largest[j] = std::max(rows.largest[j], magnitude);
      rows.sums[j] += magnitude;
    }
}

// Twice: with the instruction fma, and with the function, which is ten times slower, where the processor has none.
#ifdef __x86_64__
#define RLX_FMA [[gnu::target("fma")]]
const bool has_fma = __builtin_cpu_supports("fma");
#else
#define RLX_FMA
constexpr bool has_fma = true;
#endif
template <class... Args>
RLX_FMA void residual_of_rows_fma(const Args&... args) {
  residual_of_rows(args...);
}
template <class... Args>
RLX_FMA void residual_of_columns_fma(const Args&... args) {
  residual_of_columns(args...);
}
#undef RLX_FMA

template <class T, class Index>
class System {
 public:
  System(const CsrView<T, Index>& a, Transpose mode, std::span<const T> b, std::size_t unknowns)
      : a_(a), mode_(mode), b_(b) {
    const bool plain = mode == Transpose::none;
    const auto rows = static_cast<std::size_t>(plain ? a.rows : a.cols),
               cols = static_cast<std::size_t>(plain ? a.cols : a.rows);
    if (b.size() != rows || unknowns != cols)
      throw ArgumentError("residual: a " + std::to_string(rows) + " x " + std::to_string(cols) +
                          " system does not fit " + std::to_string(b.size()) + " right side entries and " +
                          std::to_string(unknowns) + " unknowns");
    norm_b_ = max_norm(b);
    sizes_.resize(rows);
    largest_.resize(rows);
    sums_.resize(rows);
  }

  /// r = b - op(A) x, each entry rounded once; returns how good x is.
  Refinement residual(std::span<const T> x, std::span<T> r) {
    const Rows rows{sizes_, largest_, sums_};
    if (mode_ == Transpose::none) {
      std::copy(b_.begin(), b_.end(), r.begin());
      has_fma ? residual_of_rows_fma(a_, x, r, rows) : residual_of_rows(a_, x, r, rows);
    } else {
      for (std::vector<double>* v : {&sizes_, &largest_, &sums_}) std::fill(v->begin(), v->end(), 0.0);
      const bool conjugate = mode_ == Transpose::conjugate_transpose;
      std::vector<Sum<T>> sums;
      sums.reserve(b_.size());
      for (const T& v : b_) sums.push_back(Sum<T>{v});
      const std::span<Sum<T>> into(sums);
      has_fma ? residual_of_columns_fma(a_, conjugate, x, into, rows)
              : residual_of_columns(a_, conjugate, x, into, rows);
      std::transform(sums.begin(), sums.end(), r.begin(), [](const Sum<T>& s) { return s.value(); });
    }
    const double norm_a = max_norm<double>(sums_), norm_r = max_norm<T>(r), norm_x = max_norm(x),
                 scale = norm_a * norm_x + norm_b_;
    if (norm_r == infinite || norm_x == infinite) return {0, infinite, infinite, infinite};
    if (norm_r == 0) return {};
    return {0, norm_r / scale, norm_r / norm_b_, componentwise(r, norm_x)};
  }

 private:
  double componentwise(std::span<const T> r, double norm_x) const {
    double worst = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double size_b = size_of(b_[i]), noise = largest_[i] * norm_x;
      double size = sizes_[i] + size_b;
      if (size <= 1000 * static_cast<double>(r.size()) * unit_roundoff * (noise + size_b)) size = sizes_[i] + noise;
      if (const double size_r = size_of(r[i]); size_r > 0) worst = std::max(worst, size > 0 ? size_r / size : 1.0);
    }
    return worst;
  }

  const CsrView<T, Index>& a_;
  Transpose mode_;
  std::span<const T> b_;
  double norm_b_ = 0;
  std::vector<double> sizes_, largest_, sums_;  // of each row, see Rows
};

}  // namespace

template <class T, class Index>
Refinement solve_refined(const SparseFactor<T>& factor, const CsrView<T, Index>& a, Transpose mode,
                         std::span<const T> b, std::span<T> x, const RefineOptions& options) {
  const FenvGuard guard;
  System<T, Index> system(a, mode, b, x.size());
  std::vector<T> r(b.size()), correction, better, better_r;
  factor.solve(mode, b, x);
  Refinement state = system.residual(x, r);
  double last_size = infinite;
  for (int step = 0; step < options.max_iterations && state.backward_error < infinite; ++step) {
    if (state.backward_error == 0) break;
    if (!options.forward && state.backward_error <= options.target &&
        state.componentwise_error <= options.componentwise_target)
      break;
    if (step == 0)
      for (std::vector<T>* v : {&correction, &better, &better_r}) v->resize(x.size());
    factor.solve(mode, std::span<const T>(r), std::span<T>(correction));
    const double size = max_norm<T>(correction);
    if (options.forward && size > last_size / 2) break;
    const bool settled = options.forward && size <= unit_roundoff / 2 * max_norm<T>(x);
    last_size = size;
    for (std::size_t i = 0; i < better.size(); ++i) better[i] = x[i] + correction[i];
    Refinement next = system.residual(better, better_r);
    // Near the last digit the errors wander: only a clear loss, or no gain at all, speaks against a step.
    const bool lost = !(next.backward_error <= std::max(4 * state.backward_error, 2 * unit_roundoff));
    const bool gained =
        next.backward_error < state.backward_error || next.componentwise_error < state.componentwise_error;
    if (lost || !(gained || options.forward)) break;
    next.iterations = state.iterations + 1;
    const bool stalled =
        next.backward_error > state.backward_error / 2 && next.componentwise_error > state.componentwise_error / 2;
    std::copy(better.begin(), better.end(), x.begin());
    r.swap(better_r);
    state = next;
    if (settled || (stalled && !options.forward)) break;
  }
  return state;
}

template <class T, class Index>
Refinement measure(const CsrView<T, Index>& a, Transpose mode, std::span<const T> b, std::span<const T> x) {
  const FenvGuard guard;
  std::vector<T> r(b.size());
  return System<T, Index>(a, mode, b, x.size()).residual(x, r);
}

#define RLX_INSTANTIATE(T, I)                                                                                    \
  template Refinement solve_refined(const SparseFactor<T>&, const CsrView<T, I>&, Transpose, std::span<const T>, \
                                    std::span<T>, const RefineOptions&);                                         \
  template Refinement measure(const CsrView<T, I>&, Transpose, std::span<const T>, std::span<const T>);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
