#include "refine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <rlx/ir/error.hpp>
#include <vector>

#include "fenv_guard.hpp"
#include "norms.hpp"
#include "residual.hpp"

namespace rlx::linalg {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

/// What a step of refinement writes before it is known whether it is kept.
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

  using Request = typename System<T, Index>::Request;

  /// Asks for the measure of the first solution, which is in x by now, and takes it.
  Request first_residual() { return {&system_, x_, r_}; }
  void start(const Refinement& measured) { state_ = measured; }
  std::span<const T> residual() const { return r_; }
  const Refinement& state() const { return state_; }

  bool wants_correction() const {
    if (ended_ || state_.iterations >= options_.max_iterations) return false;
    if (!(state_.backward_error < infinite) || state_.backward_error == 0) return false;
    return options_.forward || state_.backward_error > options_.target ||
           state_.componentwise_error > options_.componentwise_target;
  }

  /// `correction` solves for the residual: false where the iteration ends here without it, else trial.x has it and
  /// its residual is to be asked for.
  bool tries(std::span<const T> correction, Trial<T>& trial) {
    ended_ = true;
    const double size = max_norm(correction);
    if (options_.forward && size > last_size_ / 2) return false;
    settled_ = options_.forward && size <= unit_roundoff / 2 * max_norm<T>(x_);
    last_size_ = size;
    for (std::size_t i = 0; i < x_.size(); ++i) trial.x[i] = x_[i] + correction[i];
    return true;
  }
  Request residual_of(Trial<T>& trial) { return {&system_, trial.x, trial.r}; }

  /// Takes the trial, or ends here.
  void judge(Refinement next, Trial<T>& trial) {
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
    ended_ = settled_ || (stalled && !options_.forward);
  }

 private:
  System<T, Index> system_;
  const RefineOptions& options_;
  std::span<T> x_;
  std::vector<T> r_;
  Refinement state_;
  double last_size_ = infinite;
  bool ended_ = false, settled_ = false;
};

/// One step of all of them: corrections lie one after the other in `together`, and trials are at least as many as
/// residuals are formed at once.
template <class T, class Index>
void correct(std::span<Iterate<T, Index>* const> open, std::span<const T> together, std::span<Trial<T>> trials) {
  const std::size_t n = together.size() / open.size();
  std::vector<typename Iterate<T, Index>::Request> asked;
  std::vector<Iterate<T, Index>*> asking;
  for (std::size_t first = 0; first < open.size(); first += trials.size()) {
    asked.clear(), asking.clear();
    for (std::size_t i = first; i < std::min(first + trials.size(), open.size()); ++i) {
      Trial<T>& trial = trials[asked.size()];
      if (!open[i]->tries(together.subspan(i * n, n), trial)) continue;
      asked.push_back(open[i]->residual_of(trial));
      asking.push_back(open[i]);
    }
    System<T, Index>::residuals(asked);
    for (std::size_t i = 0; i < asked.size(); ++i) asking[i]->judge(asked[i].answer, trials[i]);
  }
}

}  // namespace

template <class T, class Index>
Refinement solve_refined(const SparseFactor<T>& factor, const CsrView<T, Index>& a, Transpose mode,
                         std::span<const T> b, std::span<T> x, const RefineOptions& options) {
  const FenvGuard guard;
  Iterate<T, Index> it(a, mode, b, x, options);
  factor.solve(mode, b, x);
  auto first = it.first_residual();
  it.start(first.system->residual(first.x, first.r));
  std::vector<T> correction;
  Trial<T> trial;
  Iterate<T, Index>* const open[] = {&it};
  while (it.wants_correction()) {
    if (correction.empty()) correction.resize(x.size()), trial.resize(x.size());
    factor.solve(mode, it.residual(), std::span<T>(correction));
    correct<T, Index>(open, correction, {&trial, 1});
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
  std::array<Trial<T>, sides_at_once> trials;
  std::vector<typename Iterate<T, Index>::Request> asked;
  columns.reserve(columns_at_once);
  for (std::size_t first = 0; first < out.size(); first += columns_at_once) {
    const std::size_t count = std::min(columns_at_once, out.size() - first);
    columns.clear();
    for (std::size_t c = first; c < first + count; ++c)
      columns.emplace_back(a, mode, b.subspan(c * n, n), x.subspan(c * n, n), options);
    factor.solve(mode, b.subspan(first * n, count * n), x.subspan(first * n, count * n),
                 static_cast<std::int64_t>(count));
    asked.clear();
    for (auto& column : columns) asked.push_back(column.first_residual());
    System<T, Index>::residuals(asked);
    for (std::size_t c = 0; c < count; ++c) {
      columns[c].start(asked[c].answer);
      if (columns[c].wants_correction()) open.push_back(&columns[c]);
    }
    const std::size_t tried = std::min(open.size(), sides_at_once);
    if (tried > 0) corrections.resize(open.size() * n);
    for (std::size_t i = 0; i < tried; ++i) trials[i].resize(n);
    while (!open.empty()) {
      const std::span<T> together = std::span(corrections).first(open.size() * n);
      for (std::size_t i = 0; i < open.size(); ++i)
        std::copy(open[i]->residual().begin(), open[i]->residual().end(), together.begin() + i * n);
      factor.solve(mode, together, together, static_cast<std::int64_t>(open.size()));
      correct<T, Index>(open, together, std::span(trials).first(std::max<std::size_t>(tried, 1)));
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
