#include <rlx/ir/counted.hpp>
#include <rlx/linalg/solver.hpp>

#include "linalg/csc_matrix.hpp"
#include "linalg/digits.hpp"
#include "linalg/host_csr.hpp"
#include "linalg/matrix_traits.hpp"
#include "linalg/solver_programs.hpp"

#include <rlx/handle.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_sparse.hpp>
#include <rlx/runtime/backends.hpp>

#include <algorithm>
#include <cmath>

namespace rlx::linalg {

namespace {

constexpr double smallest_rcond = std::numeric_limits<double>::epsilon();
// Refined solutions reach 1e-15; far above that no digit of the answer can be vouched for.
constexpr double poor_backward_error = 1e-10;
// What is measured may be this far above what conjugate gradients were asked for: their recurrence drifts from the
// residual, and maximum norms are compared with its 2-norms, which for vectors of 1e6 makes a factor of 1000.
constexpr double far_from_tolerance = 1e4;

template <class T>
HostTensor viewed(std::span<const T> from, std::vector<std::int64_t> shape) {
  return HostTensor::view(dtype_of<T>, std::move(shape), from.data(),
                          std::shared_ptr<const void>(from.data(), [](const void*) {}));
}

void check_matrix(const HostSparse& a) {
  const std::int64_t rows = a.type.shape.at(0).constant(), cols = a.type.shape.at(1).constant();
  if (a.type.format != SparseFormat::csr || (a.type.dtype != DType::f64 && a.type.dtype != DType::c128))
    throw ArgumentError("solver: the matrix is " + to_string(a.type) + ", expected csr of f64 or c128");
  check_arrays(a, "solver: the matrix");
  if (rows != cols)
    throw ArgumentError("solver: the matrix is " + std::to_string(rows) + " x " + std::to_string(cols) +
                        ", a solve needs a square one");
  if (rows == 0) throw ArgumentError("solver: the matrix is empty (0 x 0)");
  with_view(a, [](const auto& v) { check_csr("solver", v); });
}

/// All of them, whether or not the method that is chosen looks at them: which one that is depends on the matrix.
void check_options(const SolverOptions& o) {
  const auto refuse = [](const char* option, const std::string& value, const char* expected) {
    throw ArgumentError("solver: options." + std::string(option) + " is " + value + ", expected " + expected);
  };
  if (o.refine < 0) refuse("refine", std::to_string(o.refine), "a number of steps, 0 or more");
  if (!is_finite(o.tolerance) || o.tolerance < 0)
    refuse("tolerance", digits(o.tolerance), "a finite number, 0 or more");
  if (o.max_iterations < 0)
    refuse("max_iterations", std::to_string(o.max_iterations), "a number of iterations, or 0 for the default");
  const auto known = [](auto e) { return static_cast<std::size_t>(e) < enum_names(e).size(); };
  if (!known(o.method)) refuse("method", std::to_string(static_cast<int>(o.method)), "a SolveMethod");
  if (!known(o.library)) refuse("library", std::to_string(static_cast<int>(o.library)), "an LuLibrary");
}

}  // namespace

/// Why no record of the device takes a sparse Cholesky; empty where that is not what the program lacks.
static std::string lacks_cholesky(const DispatchReport& report) {
  for (const ReportRow& row : report.rows)
    if (row.path == Path::unresolved && row.op.starts_with("linalg.sparse_cholesky"))
      for (const Refusal& r : row.refusals)
        if (r.path == "native") return r.why;
  return {};
}

class Solver::Impl {
 public:
  /// All that belongs to one matrix; replaced whole.
  struct State {
    HostSparse a;
    SolveMethod method = SolveMethod::lu;
    bool cholesky_refused = false;
    std::string reason, provider = "rlx";
    std::vector<std::string> warnings;
    HostValue factor;
    std::shared_ptr<const SolverPrograms> programs;
  };

  Impl(HostSparse a, SolverOptions options)
      : options_(std::move(options)),
        device_(runtime::open_device(options_.device.empty() ? default_device() : options_.device)) {
    if (!options_.compile.donated.empty())
      throw ArgumentError(
          "solver: options.compile.donated names inputs to give away, but a solver keeps its matrix and the caller b");
    check_options(options_);
    check_matrix(a);
    state_ = prepared(std::move(a), nullptr);
  }

  void update(HostSparse a) {
    check_matrix(a);
    if (a.type.shape != state_.a.type.shape || a.type.dtype != state_.a.type.dtype)
      throw ArgumentError("solver: the new matrix is " + to_string(a.type) + ", the old one " +
                          to_string(state_.a.type));
    state_ = prepared(std::move(a), &state_);
  }

  template <class T>
  SolveInfo solve(std::span<const T> b, std::span<T> x, std::int64_t columns) const {
    if (!device_->computes())
      throw ArgumentError("solver: the device " + device_->target().device + " runs nothing, so it has no solution");
    const std::int64_t n = state_.a.type.shape[0].constant();
    if (state_.a.type.dtype != dtype_of<T>)
      throw ArgumentError("solver: b is " + std::string(name(dtype_of<T>)) + ", the matrix " +
                          std::string(name(state_.a.type.dtype)));
    check_lengths(n, columns, b.size(), x.size());
    for (std::size_t i = 0; i < b.size(); ++i)
      if (!is_finite(b[i])) throw ArgumentError("solver: b is not finite at " + std::to_string(i) + " (from 0)");
    SolveInfo info{std::string(name(state_.method)), state_.provider, 0, 0, 0, state_.warnings};
    const std::int64_t most = state_.method == SolveMethod::cg ? 1 : SolverPrograms::most_columns;
    std::int64_t worst = 0;
    for (std::int64_t first = 0; first < columns; first += most) {
      const std::int64_t count = std::min(most, columns - first);
      const auto here = [&](auto all) {
        return all.subspan(static_cast<std::size_t>(first * n), static_cast<std::size_t>(count * n));
      };
      const Solution s = state_.programs->solve(state_.factor, state_.a,
                                                viewed(here(b), count == 1 ? std::vector{n} : std::vector{count, n}));
      const auto result = s.x.as<T>();
      std::copy(result.begin(), result.end(), here(x).begin());
      const std::string which = columns > 1 ? ", right side " + std::to_string(first + s.worst) + " (from 0)" : "";
      if (state_.method == SolveMethod::cg) check_convergence(s, which);
      if (!is_finite(s.backward_error))
        throw NumericalError("linalg." + info.method, 0,
                             "linalg." + info.method + which + ": the solution is not finite");
      if (s.backward_error > info.backward_error) worst = first + s.worst;
      info.backward_error = std::max(info.backward_error, s.backward_error);
      info.relative_residual = std::max(info.relative_residual, s.relative_residual);
      info.iterations = std::max(info.iterations, s.iterations);
    }
    if (info.backward_error > poor_backward_error)
      info.warnings.push_back("backward error " + digits(info.backward_error) +
                              (columns > 1 ? " of right side " + std::to_string(worst) + " (from 0)" : "") +
                              ": the solution does not solve the system to working precision");
    return info;
  }

  const State& state() const { return state_; }
  double rcond() const { return state_.programs->rcond(state_.factor); }
  DispatchReport report() const { return state_.programs->report(); }

 private:
  static void check_lengths(std::int64_t n, std::int64_t columns, std::size_t b, std::size_t x) {
    if (columns < 0) throw ArgumentError("solver: " + std::to_string(columns) + " right sides");
    const auto fits = [&](std::size_t size) {
      const auto s = static_cast<std::int64_t>(size);
      return s % n == 0 && s / n == columns;
    };
    if (fits(b) && fits(x)) return;
    throw ArgumentError("solver: b has " + counted(b, "element") + " and x " + std::to_string(x) + ", the matrix " +
                        counted(n, "row") + (columns == 1 ? "" : " for " + counted(columns, "right side")));
  }

  /// `which` says of several right sides which one it is.
  void check_convergence(const Solution& s, const std::string& which) const {
    const auto refuse = [&](const std::string& what) {
      throw NumericalError("linalg.cg", "linalg.cg" + which + " " + what, s.iterations, s.cg_residual);
    };
    const std::string done = counted(s.iterations, "iteration");
    if (s.cg_curvature <= 0)
      refuse("stopped in iteration " + std::to_string(s.iterations + 1) +
             ": the matrix is not positive definite, its curvature p^T A p along the search direction p is " +
             digits(s.cg_curvature));
    if (!is_finite(s.cg_curvature) || !is_finite(s.cg_residual))
      refuse("broke down after " + done + ": a number overflows (residual " + digits(s.cg_residual) + ", curvature " +
             digits(s.cg_curvature) + ")");
    if (!(s.cg_residual <= options_.tolerance))
      refuse("did not converge: relative residual " + digits(s.cg_residual) + " after " + done + ", asked for " +
             digits(options_.tolerance));
    // The recurrence does not see the solution: where that underflows, it converges to another one.
    const double most = far_from_tolerance * std::max(options_.tolerance, poor_backward_error);
    if (is_finite(s.backward_error) && s.backward_error > most && s.relative_residual > most)
      refuse("did not converge: its recurrence gives the relative residual " + digits(s.cg_residual) + ", but " +
             digits(s.relative_residual) + " is measured, with the backward error " + digits(s.backward_error) +
             ": numbers of the solution leave the range of the type");
  }

  State prepared(HostSparse a, const State* old) const {
    State s;
    s.cholesky_refused = old && old->cholesky_refused;
    s.a = std::move(a);
    choose(s, old);
    if (options_.method != SolveMethod::automatic || s.method != SolveMethod::cholesky) {
      factor(s, old);
      return s;
    }
    try {
      factor(s, old);
    } catch (const NumericalError& error) {
      s.reason = "lu: cholesky was tried (" + s.reason + ") and refused (" + error.what() + ")";
      s.method = SolveMethod::lu;
      s.cholesky_refused = true;
      factor(s, old);
    } catch (const CompileError& error) {
      const std::string why = lacks_cholesky(error.report());
      if (why.empty()) throw;
      without_cholesky(s, old, "symmetric with a positive diagonal, but without a sparse Cholesky here (" + why + ")");
    }
    return s;
  }

  void without_cholesky(State& s, const State* old, const std::string& why) const {
    try {
      s.method = SolveMethod::lu;
      s.reason = "lu: " + why;
      factor(s, old);
    } catch (const CompileError&) {
      if (is_complex(s.a.type.dtype)) throw;
      s.method = SolveMethod::cg;
      s.reason = "cg: " + why;
      factor(s, old);
    }
  }

  void choose(State& s, const State* old) const {
    s.method = options_.method;
    s.reason = std::string(name(s.method)) + ": asked for";
    if (s.method == SolveMethod::lu) return;
    const MatrixTraits traits = with_view(s.a, [](const auto& v) { return matrix_traits("solver", v); });
    if (s.method == SolveMethod::automatic) {
      const MethodChoice choice = choose_method(traits);
      s.reason = choice.reason;
      s.method = choice.method;
      if (s.method == SolveMethod::cg && is_complex(s.a.type.dtype)) {
        s.method = SolveMethod::cholesky;
        s.reason = "cholesky: conjugate gradients, which the pattern speaks for, are for real matrices here";
      }
      if (s.method == SolveMethod::cholesky && s.cholesky_refused) {
        s.method = SolveMethod::lu;
        s.reason = old->reason.starts_with("lu: cholesky") ? old->reason : "lu: cholesky refused an earlier matrix";
      }
      return;
    }
    const std::string op = s.method == SolveMethod::cholesky ? "linalg.sparse_cholesky" : "linalg.cg";
    if (s.method == SolveMethod::cg && is_complex(s.a.type.dtype))
      throw ArgumentError(op + ": the matrix is complex, conjugate gradients are for real ones here");
    // Both would read one triangle, or go astray, without noticing.
    if (!traits.hermitian)
      throw NumericalError(op, 0,
                           op + ": the matrix is not " + (traits.symmetric ? "Hermitian" : "symmetric") +
                               ", so it is not positive definite");
    if (s.method == SolveMethod::cg && !traits.positive_diagonal)
      throw NumericalError(op, 0,
                           op + ": the diagonal of the matrix is not positive, so it is not positive definite, and the "
                                "Jacobi preconditioner cannot divide by it");
  }

  void factor(State& s, const State* old) const {
    const bool known = old && old->method == s.method && old->a.type == s.a.type;
    s.programs = known ? old->programs : SolverPrograms::of(s.method, s.a.type, options_, device_);
    s.programs->compile_solve();
    if (s.method == SolveMethod::cg) return;
    Factored f = known ? s.programs->update(old->factor, s.a) : s.programs->factor(s.a);
    s.factor = std::move(f.factor);
    s.provider = std::move(f.provider);
    const std::string op = s.method == SolveMethod::cholesky ? "linalg.sparse_cholesky" : "linalg.sparse_lu";
    if (!(f.rcond >= smallest_rcond))
      throw NumericalError(op, 0,
                           op + ": the matrix is singular to working precision: reciprocal condition " +
                               digits(f.rcond) + " of the equilibrated matrix");
    if (f.rcond < ill_conditioned)
      s.warnings.push_back("ill-conditioned: reciprocal condition " + digits(f.rcond) +
                           " of the equilibrated matrix; about " +
                           std::to_string(std::max(0, static_cast<int>(std::log10(f.rcond / 1.1e-16)))) +
                           " digits of the solution can be right");
    if (!f.reason.empty()) s.reason += "; " + f.reason;
  }

  SolverOptions options_;
  std::shared_ptr<runtime::Device> device_;
  State state_;
};

Solver::Solver(HostSparse a, SolverOptions options) : impl_(std::make_unique<Impl>(std::move(a), std::move(options))) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
void Solver::update(HostSparse a) { impl_->update(std::move(a)); }
SolveInfo Solver::solve(std::span<const double> b, std::span<double> x, std::int64_t columns) const {
  return impl_->solve(b, x, columns);
}
SolveInfo Solver::solve(std::span<const std::complex<double>> b, std::span<std::complex<double>> x,
                        std::int64_t columns) const {
  return impl_->solve(b, x, columns);
}
SolveMethod Solver::method() const { return impl_->state().method; }
const std::string& Solver::reason() const { return impl_->state().reason; }
const std::string& Solver::provider() const { return impl_->state().provider; }
double Solver::rcond() const { return impl_->rcond(); }
const std::vector<std::string>& Solver::warnings() const { return impl_->state().warnings; }
std::int64_t Solver::rows() const { return impl_->state().a.type.shape[0].constant(); }
std::int64_t Solver::entries() const { return impl_->state().a.type.entries.constant(); }
DType Solver::dtype() const { return impl_->state().a.type.dtype; }
DispatchReport Solver::report() const { return impl_->report(); }

}  // namespace rlx::linalg
