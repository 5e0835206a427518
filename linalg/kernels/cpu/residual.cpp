// Compiled with -ffp-contract=off: fusing a product into a sum would break the error-free transformations.
#include "residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <rlx/ir/error.hpp>
#include <string>
#include <utility>
#include <vector>

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
  double largest = 0;  // of |op(A)|
  double sum = 0;      // of |op(A)|
  void add(double magnitude) {
    largest = std::max(largest, magnitude);
    sum += magnitude;
  }
};

/// Gathers from the rows of a residual how good x is.
class Errors {
 public:
  Errors(std::int64_t rows, double norm_x)
      : norm_x_(norm_x), noise_limit_(1000 * static_cast<double>(rows) * unit_roundoff) {}
  /// `products` is |op(A)| |x| of the row.
  template <class T>
  [[gnu::always_inline]] void add(T r, T b, double products, const Row& row) {
    residual_.add(std::abs(r));
    sum_.add(row.sum);
    const double size_r = size_of(r), size_b = size_of(b), noise = row.largest * norm_x_;
    double size = products + size_b;
    if (size <= noise_limit_ * (noise + size_b)) size = products + noise;
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
template <class T, class Index, std::size_t count>
[[gnu::always_inline]] inline std::array<Errors, count> residual_of_rows(const CsrView<T, Index>& a,
                                                                         const std::array<Side<T>, count>& sides) {
  std::array<Errors, count> errors = [&]<std::size_t... c>(std::index_sequence<c...>) {
    return std::array{Errors(a.rows, sides[c].norm_x)...};
  }(std::make_index_sequence<count>());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::array<Sum<T>, count> sums;
    std::array<double, count> products{};
    for (std::size_t c = 0; c < count; ++c) sums[c] = Sum<T>{sides[c].b[i]};
    Row row;
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const T value = a.values[k];
      const double size = size_of(value);
      for (std::size_t c = 0; c < count; ++c) {
        const T factor = sides[c].x[a.columns[k]];
        sums[c].add(-value, factor);
        products[c] += size * size_of(factor);
      }
      row.add(std::abs(value));
    }
    for (std::size_t c = 0; c < count; ++c) {
      const T r = sums[c].value();
      sides[c].r[i] = r;
      errors[c].add(r, sides[c].b[i], products[c], row);
    }
  }
  return errors;
}
template <class T, class Index>
[[gnu::always_inline]] inline Errors residual_of_columns(const CsrView<T, Index>& a, bool conjugate,
                                                         const Side<T>& side) {
  const auto& [x, b, r, norm_x] = side;
  std::vector<Sum<T>> sums;
  sums.reserve(b.size());
  for (const T& v : b) sums.push_back(Sum<T>{v});
  std::vector<Row> rows(b.size());
  std::vector<double> products(b.size());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (Index k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
      const Index j = a.columns[k];
      sums[j].add(conjugate ? -conj_of(a.values[k]) : -a.values[k], x[i]);
      rows[j].add(std::abs(a.values[k]));
      products[j] += size_of(a.values[k]) * size_of(x[i]);
    }
  Errors errors(a.cols, norm_x);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    r[j] = sums[j].value();
    errors.add(r[j], b[j], products[j], rows[j]);
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
template <class T, class Index, std::size_t count>
RLX_FMA std::array<Errors, count> residual_of_rows_fma(const CsrView<T, Index>& a,
                                                       const std::array<Side<T>, count>& sides) {
  return residual_of_rows(a, sides);
}
template <class... Args>
RLX_FMA Errors residual_of_columns_fma(const Args&... args) {
  return residual_of_columns(args...);
}
#undef RLX_FMA

}  // namespace

template <class T, class Index>
System<T, Index>::System(const CsrView<T, Index>& a, Transpose mode, std::span<const T> b, std::size_t unknowns)
    : a_(a), mode_(mode), b_(b) {
  const bool plain = mode == Transpose::none;
  const auto rows = static_cast<std::size_t>(plain ? a.rows : a.cols),
             cols = static_cast<std::size_t>(plain ? a.cols : a.rows);
  if (b.size() != rows || unknowns != cols)
    throw ArgumentError("residual: a " + std::to_string(rows) + " x " + std::to_string(cols) + " system does not fit " +
                        std::to_string(b.size()) + " right side entries and " + std::to_string(unknowns) + " unknowns");
  norm_b_ = max_norm(b);
}

template <class T, class Index>
Side<T> System<T, Index>::side_of(std::span<const T> x, std::span<T> r) const {
  return {x, b_, r, max_norm(x)};
}

template <class T, class Index>
template <std::size_t count>
std::array<Refinement, count> System<T, Index>::together(const std::array<const System*, count>& systems,
                                                         const std::array<Side<T>, count>& sides) {
  const CsrView<T, Index>& a = systems[0]->a_;
  const std::array<Errors, count> errors = has_fma ? residual_of_rows_fma(a, sides) : residual_of_rows(a, sides);
  std::array<Refinement, count> out;
  for (std::size_t c = 0; c < count; ++c) out[c] = errors[c].of(systems[c]->norm_b_);
  return out;
}

template <class T, class Index>
Refinement System<T, Index>::residual(std::span<const T> x, std::span<T> r) const {
  const Side<T> side = side_of(x, r);
  if (mode_ == Transpose::none) return together(std::array{this}, std::array{side})[0];
  const bool conjugate = mode_ == Transpose::conjugate_transpose;
  return (has_fma ? residual_of_columns_fma(a_, conjugate, side) : residual_of_columns(a_, conjugate, side))
      .of(norm_b_);
}

template <class T, class Index>
void System<T, Index>::residuals(std::span<Request> all) {
  for (; all.size() >= sides_at_once && all[0].system->mode_ == Transpose::none; all = all.subspan(sides_at_once)) {
    std::array<const System*, sides_at_once> systems;
    std::array<Side<T>, sides_at_once> sides;
    for (std::size_t c = 0; c < sides_at_once; ++c) {
      systems[c] = all[c].system;
      sides[c] = systems[c]->side_of(all[c].x, all[c].r);
    }
    const auto answers = together(systems, sides);
    for (std::size_t c = 0; c < sides_at_once; ++c) all[c].answer = answers[c];
  }
  for (Request& q : all) q.answer = q.system->residual(q.x, q.r);
}

template class System<double, std::int32_t>;
template class System<double, std::int64_t>;
template class System<std::complex<double>, std::int32_t>;
template class System<std::complex<double>, std::int64_t>;

}  // namespace rlx::linalg
