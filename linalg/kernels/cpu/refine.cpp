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

/// What a row of op(A) comes to.
struct Row {
  double size = 0;     // |op(A)| |x|
  double largest = 0;  // of |op(A)|
  double sum = 0;      // of |op(A)|
  void add(double magnitude, double size_of_product) {
    size += size_of_product;
    largest = std::max(largest, magnitude);
    sum += magnitude;
  }
};

/// Gathers from the rows of a residual how good x is.
class Errors {
 public:
  Errors(std::int64_t rows, double norm_x)
      : norm_x_(norm_x), noise_limit_(1000 * static_cast<double>(rows) * unit_roundoff) {}
  template <class T>
  [[gnu::always_inline]] void add(T r, T b, const Row& row) {
    residual_.add(std::abs(r));
    sum_.add(row.sum);
    const double size_r = size_of(r), size_b = size_of(b), noise = row.largest * norm_x_;
    double size = row.size + size_b;
    if (size <= noise_limit_ * (noise + size_b)) size = row.size + noise;
    if (size_r > 0) componentwise_ = std::max(componentwise_, size > 0 ? size_r / size : 1.0);
  }
  Refinement of(double norm_b) const {
    const double norm_r = residual_.value();
    if (norm_r == infinite || norm_x_ == infinite) return {0, infinite, infinite, infinite};
    if (norm_r == 0) return {};
    return {0, norm_r / (sum_.value() * norm_x_ + norm_b), norm_r / norm_b, componentwise_};
  }

 private:
  double norm_x_, noise_limit_, componentwise_ = 0;
  Largest residual_, sum_;
};

/// The entries of A in their order: row i of it meets x[i] or gives r[i].
template <class T, class Index>
[[gnu::always_inline]] inline Errors residual_of_rows(const CsrView<T, Index>& a, std::span<const T> x,
                                                      std::span<const T> b, std::span<T> r, double norm_x) {
  Errors errors(a.rows, norm_x);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Sum<T> sum{b[i]};
    Row row;
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const T value = a.values[k], factor = x[a.columns[k]];
      sum.add(-value, factor);
      row.add(std::abs(value), size_of(value) * size_of(factor));
    }
    r[i] = sum.value();
    errors.add(r[i], b[i], row);
  }
  return errors;
}
template <class T, class Index>
[[gnu::always_inline]] inline Errors residual_of_columns(const CsrView<T, Index>& a, bool conjugate,
                                                         std::span<const T> x, std::span<const T> b, std::span<T> r,
                                                         double norm_x) {
  std::vector<Sum<T>> sums;
  sums.reserve(b.size());
  for (const T& v : b) sums.push_back(Sum<T>{v});
  std::vector<Row> rows(b.size());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const Index j = a.columns[k];
      sums[j].add(conjugate ? -conj_of(a.values[k]) : -a.values[k], x[i]);
      rows[j].add(std::abs(a.values[k]), size_of(a.values[k]) * size_of(x[i]));
    }
  Errors errors(a.cols, norm_x);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    r[j] = sums[j].value();
    errors.add(r[j], b[j], rows[j]);
  }
  return errors;
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
RLX_FMA Errors residual_of_rows_fma(const Args&... args) {
  return residual_of_rows(args...);
}
template <class... Args>
RLX_FMA Errors residual_of_columns_fma(const Args&... args) {
  return residual_of_columns(args...);
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
  }

  /// r = b - op(A) x, each entry rounded once; returns how good x is.
  Refinement residual(std::span<const T> x, std::span<T> r) {
    const double norm_x = max_norm(x);
    if (mode_ == Transpose::none)
      return (has_fma ? residual_of_rows_fma(a_, x, b_, r, norm_x) : residual_of_rows(a_, x, b_, r, norm_x))
          .of(norm_b_);
    const bool conjugate = mode_ == Transpose::conjugate_transpose;
    return (has_fma ? residual_of_columns_fma(a_, conjugate, x, b_, r, norm_x)
                    : residual_of_columns(a_, conjugate, x, b_, r, norm_x))
        .of(norm_b_);
  }

 private:
  const CsrView<T, Index>& a_;
  Transpose mode_;
  std::span<const T> b_;
  double norm_b_ = 0;
};

/// What a step of refinement writes before it is known whether it is kept; several right sides share it.
template <class T>
struct Trial {
  std::vector<T> x, r;
  void resize(std::size_t n) { x.resize(n), r.resize(n); }
};

/// A right side under way: its solution so far, and whether another correction is worth it.
template <class T, class Index>
class Iterate {
 public:
  Iterate(const CsrView<T, Index>& a, Transpose mode, std::span<const T> b, std::span<T> x,
          const RefineOptions& options)
      : system_(a, mode, b, x.size()), options_(options), x_(x), r_(b.size()) {}

  /// Of the first solution, which is in x by now.
  void measure() { state_ = system_.residual(x_, r_); }
  std::span<const T> residual() const { return r_; }
  const Refinement& state() const { return state_; }

  bool wants_correction() const {
    if (ended_ || state_.iterations >= options_.max_iterations) return false;
    if (!(state_.backward_error < infinite) || state_.backward_error == 0) return false;
    return options_.forward || state_.backward_error > options_.target ||
           state_.componentwise_error > options_.componentwise_target;
  }

  /// `correction` solves for the residual: takes it, or ends here.
  void correct(std::span<const T> correction, Trial<T>& trial) {
    ended_ = true;
    const double size = max_norm(correction);
    if (options_.forward && size > last_size_ / 2) return;
    const bool settled = options_.forward && size <= unit_roundoff / 2 * max_norm<T>(x_);
    last_size_ = size;
    for (std::size_t i = 0; i < x_.size(); ++i) trial.x[i] = x_[i] + correction[i];
    Refinement next = system_.residual(trial.x, trial.r);
    // Near the last digit the errors wander: only a clear loss, or no gain at all, speaks against a step.
    const bool lost = !(next.backward_error <= std::max(4 * state_.backward_error, 2 * unit_roundoff));
    const bool gained =
        next.backward_error < state_.backward_error || next.componentwise_error < state_.componentwise_error;
    if (lost || !(gained || options_.forward)) return;
    next.iterations = state_.iterations + 1;
    const bool stalled =
        next.backward_error > state_.backward_error / 2 && next.componentwise_error > state_.componentwise_error / 2;
    std::copy(trial.x.begin(), trial.x.end(), x_.begin());
    r_.swap(trial.r);
    state_ = next;
    ended_ = settled || (stalled && !options_.forward);
  }

 private:
  System<T, Index> system_;
  const RefineOptions& options_;
  std::span<T> x_;
  std::vector<T> r_;
  Refinement state_;
  double last_size_ = infinite;
  bool ended_ = false;
};

}  // namespace

template <class T, class Index>
Refinement solve_refined(const SparseFactor<T>& factor, const CsrView<T, Index>& a, Transpose mode,
                         std::span<const T> b, std::span<T> x, const RefineOptions& options) {
  const FenvGuard guard;
  Iterate<T, Index> it(a, mode, b, x, options);
  factor.solve(mode, b, x);
  it.measure();
  std::vector<T> correction;
  Trial<T> trial;
  while (it.wants_correction()) {
    if (correction.empty()) correction.resize(x.size()), trial.resize(x.size());
    factor.solve(mode, it.residual(), std::span<T>(correction));
    it.correct(correction, trial);
  }
  return it.state();
}

template <class T, class Index>
void solve_refined(const SparseFactor<T>& factor, const CsrView<T, Index>& a, Transpose mode, std::span<const T> b,
                   std::span<T> x, std::span<Refinement> out, const RefineOptions& options) {
  const FenvGuard guard;
  const auto n = static_cast<std::size_t>(factor.order());
  if (b.size() != n * out.size() || x.size() != b.size())
    throw ArgumentError("solve_refined: " + std::to_string(out.size()) + " right sides of length " + std::to_string(n) +
                        " do not fit arrays of " + std::to_string(b.size()) + " and " + std::to_string(x.size()));
  std::vector<Iterate<T, Index>> columns;
  std::vector<Iterate<T, Index>*> open;
  std::vector<T> corrections;
  Trial<T> trial;
  columns.reserve(columns_at_once);
  for (std::size_t first = 0; first < out.size(); first += columns_at_once) {
    const std::size_t count = std::min(columns_at_once, out.size() - first);
    columns.clear();
    for (std::size_t c = first; c < first + count; ++c)
      columns.emplace_back(a, mode, b.subspan(c * n, n), x.subspan(c * n, n), options);
    factor.solve(mode, b.subspan(first * n, count * n), x.subspan(first * n, count * n),
                 static_cast<std::int64_t>(count));
    for (auto& column : columns) {
      column.measure();
      if (column.wants_correction()) open.push_back(&column);
    }
    if (!open.empty()) corrections.resize(open.size() * n), trial.resize(n);
    while (!open.empty()) {
      const std::span<T> together = std::span(corrections).first(open.size() * n);
      for (std::size_t i = 0; i < open.size(); ++i)
        std::copy(open[i]->residual().begin(), open[i]->residual().end(), together.begin() + i * n);
      factor.solve(mode, together, together, static_cast<std::int64_t>(open.size()));
      for (std::size_t i = 0; i < open.size(); ++i) open[i]->correct(together.subspan(i * n, n), trial);
      std::erase_if(open, [](const auto* column) { return !column->wants_correction(); });
    }
    for (std::size_t c = 0; c < count; ++c) out[first + c] = columns[c].state();
  }
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
  template void solve_refined(const SparseFactor<T>&, const CsrView<T, I>&, Transpose, std::span<const T>,       \
                              std::span<T>, std::span<Refinement>, const RefineOptions&);                        \
  template Refinement measure(const CsrView<T, I>&, Transpose, std::span<const T>, std::span<const T>);
RLX_INSTANTIATE(double, std::int32_t)
RLX_INSTANTIATE(double, std::int64_t)
RLX_INSTANTIATE(std::complex<double>, std::int32_t)
RLX_INSTANTIATE(std::complex<double>, std::int64_t)
#undef RLX_INSTANTIATE

}  // namespace rlx::linalg
