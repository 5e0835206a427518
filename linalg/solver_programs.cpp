#include "linalg/solver_programs.hpp"

#include "linalg/explained.hpp"

#include <rlx/catalog.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <climits>
#include <deque>
#include <limits>
#include <tuple>

namespace rlx::linalg {

namespace {

constexpr std::size_t most_known = 16;  // programs that the process keeps for solvers to come

// One for the process: operators are constants, and programs keep a reference to it.
const runtime::Catalog& catalog() {
  static const runtime::Catalog c = [] {
    runtime::Catalog made = make_catalog();
    add_to(made);
    return made;
  }();
  return c;
}

// |b - A x| / |b| in max norms; 0 / 0 is 0.
Value relative_residual(Value a, Value x, Value b) {
  const auto largest = [](Value v) { return ops::reduce_max(ops::abs(v), {0}); };
  const Value r = largest(ops::sub(b, spmv(a, x))), size = largest(b), zero = ops::zeros_like(size);
  const Value exact =
      ops::logical_and(ops::compare(r, zero, ops::Direction::eq), ops::compare(size, zero, ops::Direction::eq));
  return ops::select(exact, zero, ops::div(r, ops::select(exact, ops::full_like(size, 1), size)));
}

void output_solution(Builder& b, Value x, Value backward_error, Value relative_residual) {
  b.output(x, "x");
  b.output(backward_error, "backward_error");
  b.output(relative_residual, "relative_residual");
}

Type factor_type(SolveMethod method, const SparseType& a) {
  return ResourceType{method == SolveMethod::cholesky ? "sparse_cholesky" : "sparse_lu", "", a.dtype, a.shape};
}

void output_factor(Builder& b, Value f) {
  b.output(f, "F");
  b.output(rcond(f, {.exact_below = ill_conditioned}), "rcond");
}

Graph factor_graph(SolveMethod method, const SparseType& type, LuLibrary library) {
  Graph g("factor");
  Builder b(g, catalog().operators);
  const Value a = b.input(type, "A");
  output_factor(b, method == SolveMethod::cholesky ? sparse_cholesky(a) : sparse_lu(a, {library}));
  return g;
}

Graph update_graph(SolveMethod method, const SparseType& type, LuLibrary library) {
  Graph g("update");
  Builder b(g, catalog().operators);
  const Value f = b.input(factor_type(method, type), "F"), a = b.input(type, "A");
  output_factor(b, method == SolveMethod::cholesky ? sparse_cholesky_update(f, a) : sparse_lu_update(f, a, {library}));
  return g;
}

Graph condition_graph(SolveMethod method, const SparseType& type) {
  Graph g("condition");
  Builder b(g, catalog().operators);
  b.output(rcond(b.input(factor_type(method, type), "F")), "rcond");
  return g;
}

/// b is [n] or, of several columns, [columns, n]: a row of it is a column as callers store them.
Graph direct_graph(SolveMethod method, const SparseType& type, int refine, std::int64_t columns) {
  Graph g("solve");
  Builder b(g, catalog().operators);
  const bool cholesky = method == SolveMethod::cholesky;
  const Value f = b.input(factor_type(method, type), "F");
  const Shape shape = columns == 1 ? Shape{type.shape[0]} : Shape{columns, type.shape[0]};
  const Value a = b.input(type, "A"), right = b.input(tensor(type.dtype, shape), "b");
  const SparseSolveAttrs attrs{.refine = refine, .axis = columns == 1 ? 0 : 1};
  const SparseSolution s =
      cholesky ? sparse_cholesky_solve_measured(f, a, right, attrs) : sparse_lu_solve_measured(f, a, right, attrs);
  output_solution(b, s.x, s.backward_error, s.relative_residual);
  return g;
}

Graph cg_graph(const SparseType& type, const SolverOptions& o) {
  Graph g("solve");
  Builder b(g, catalog().operators);
  const Value a = b.input(type, "A"), right = b.input(tensor(type.dtype, {type.shape[0]}), "b"),
              x0 = b.input(right.type(), "x0");
  const std::int64_t most =
      o.max_iterations > 0 ? o.max_iterations : std::max<std::int64_t>(1000, 10 * type.shape[0].constant());
  const Cg result = cg(a, right, x0, {o.tolerance, static_cast<int>(std::min<std::int64_t>(most, INT_MAX))});
  output_solution(b, result.x, backward_error(a, result.x, right), relative_residual(a, result.x, right));
  b.output(result.iterations, "iterations");
  b.output(result.residual, "residual");
  b.output(result.curvature, "curvature");
  return g;
}

Factored factored(const HostValues& out) {
  const auto& r = std::get<HostResource>(out[0]);
  Factored f{out[0], std::get<HostTensor>(out[1]).get_f64(0), r.type.provider, reason_of(r.data)};
  if (f.provider.empty()) f.provider = "host_reference";
  return f;
}

// Every member is named, so that a new one does not compile until it has its place.
bool same(const CompileOptions& a, const CompileOptions& b) {
  const auto tied = [](const CompileOptions& o) {
    const auto& [preference, per_operator, reproducible, checked, fuse, recognise, check_numerics, exact_sizes,
                 donated] = o;
    return std::tie(preference, per_operator, reproducible, checked, fuse, recognise, check_numerics, exact_sizes,
                    donated);
  };
  return tied(a) == tied(b);
}
bool same(const SolverOptions& a, const SolverOptions& b) {
  const auto tied = [](const SolverOptions& o) {
    const auto& [method, device, library, refine, tolerance, max_iterations, compile] = o;
    return std::tie(device, library, refine, tolerance, max_iterations);  // The method is what was chosen.
  };
  return tied(a) == tied(b) && same(a.compile, b.compile);
}

}  // namespace

SolverPrograms::SolverPrograms(SolveMethod method, const SparseType& a, const SolverOptions& o,
                               std::shared_ptr<runtime::Device> device)
    : method_(method), solve_([this] { return make_solve_(1); }), make_solve_([=](std::int64_t columns) {
        return runtime::Executable(
            device, method == SolveMethod::cg ? cg_graph(a, o) : direct_graph(method, a, o.refine, columns), catalog(),
            o.compile);
      }) {
  if (method == SolveMethod::cg) return;
  const auto compiled = [=, compile = o.compile](auto make) {
    return [=] { return runtime::Executable(device, make(), catalog(), compile); };
  };
  factor_.emplace(compiled([=, library = o.library] { return factor_graph(method, a, library); }));
  update_.emplace(compiled([=, library = o.library] { return update_graph(method, a, library); }));
  condition_.emplace(compiled([=] { return condition_graph(method, a); }));
}

std::shared_ptr<const SolverPrograms> SolverPrograms::of(SolveMethod method, const SparseType& a,
                                                         const SolverOptions& o,
                                                         const std::shared_ptr<runtime::Device>& device) {
  // What cg keeps between calls is as long as its vectors, and its arithmetic far more than its compilation.
  if (method == SolveMethod::cg) return std::make_shared<const SolverPrograms>(method, a, o, device);
  struct Known {
    SolveMethod method;
    SparseType type;
    SolverOptions options;
    std::shared_ptr<runtime::Device> device;
    std::shared_ptr<const SolverPrograms> programs;
  };
  static std::mutex mutex;
  static auto& known = *new std::deque<Known>;  // latest first
  const std::lock_guard lock(mutex);
  const auto at = std::find_if(known.begin(), known.end(), [&](const Known& k) {
    return k.method == method && k.device == device && k.type == a && same(k.options, o);
  });
  if (at == known.end()) {
    known.push_front({method, a, o, device, std::make_shared<const SolverPrograms>(method, a, o, device)});
    if (known.size() > most_known) known.pop_back();
  } else std::rotate(known.begin(), at, at + 1);
  return known.front().programs;
}

Factored SolverPrograms::factor(const HostSparse& a) const {
  const HostValue arguments[] = {a};
  return factored(factor_->get().run(arguments));
}

Factored SolverPrograms::update(const HostValue& factor, const HostSparse& a) const {
  const HostValue arguments[] = {factor, a};
  return factored(update_->get().run(arguments));
}

double SolverPrograms::rcond(const HostValue& factor) const {
  if (!condition_) return std::numeric_limits<double>::quiet_NaN();
  const HostValue arguments[] = {factor};
  return std::get<HostTensor>(condition_->get().run(arguments)[0]).get_f64(0);
}

const LazyProgram& SolverPrograms::solve_of(std::int64_t columns) const {
  const std::lock_guard lock(mutex_);
  return solve_many_.try_emplace(columns, [this, columns] { return make_solve_(columns); }).first->second;
}

Solution SolverPrograms::solve(const HostValue& factor, const HostSparse& a, HostTensor b) const {
  HostValues arguments;
  if (method_ != SolveMethod::cg) arguments = {factor, a, std::move(b)};
  else arguments = {a, b, HostTensor(b.dtype(), b.shape())};
  const HostTensor& right = std::get<HostTensor>(arguments[method_ == SolveMethod::cg ? 1 : 2]);
  const LazyProgram& program = right.rank() == 1 ? solve_ : solve_of(right.shape()[0]);
  const HostValues out = program.get().run(arguments);
  const auto number = [&](std::size_t i) { return std::get<HostTensor>(out[i]).get_f64(0); };
  const auto backward = std::get<HostTensor>(out[1]).as<double>(), relative = std::get<HostTensor>(out[2]).as<double>();
  auto worst = std::find_if(backward.begin(), backward.end(), [](double e) { return !is_finite(e); });
  if (worst == backward.end()) worst = std::max_element(backward.begin(), backward.end());
  Solution s{std::get<HostTensor>(out[0]), *worst, *std::max_element(relative.begin(), relative.end()),
             worst - backward.begin()};
  if (method_ == SolveMethod::cg) {
    s.iterations = std::get<HostTensor>(out[3]).get_i64(0);
    s.cg_residual = number(4);
    s.cg_curvature = number(5);
  }
  return s;
}

DispatchReport SolverPrograms::report() const {
  if (!factor_) return solve_.get().report();
  DispatchReport r = factor_->get().report();
  const DispatchReport& second = solve_.get().report();
  for (ReportRow& row : r.rows) row.value = "factor:" + row.value;
  for (ReportRow row : second.rows) {
    row.value = "solve:" + row.value;
    r.rows.push_back(std::move(row));
  }
  r.steps.insert(r.steps.end(), second.steps.begin(), second.steps.end());
  r.graph = "factor + solve";
  r.arena_bytes = std::max(r.arena_bytes, second.arena_bytes);
  return r;
}

}  // namespace rlx::linalg
