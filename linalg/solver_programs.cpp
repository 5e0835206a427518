#include "linalg/solver_programs.hpp"

#include "linalg/explained.hpp"

#include <rlx/catalog.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <climits>

namespace rlx::linalg {

namespace {

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

void output_measures(Builder& b, Value a, Value x, Value right) {
  b.output(x, "x");
  b.output(backward_error(a, x, right), "backward_error");
  b.output(relative_residual(a, x, right), "relative_residual");
}

Type factor_type(SolveMethod method, const SparseType& a) {
  return ResourceType{method == SolveMethod::cholesky ? "sparse_cholesky" : "sparse_lu", "", a.dtype, a.shape};
}

void output_factor(Builder& b, Value f) {
  b.output(f, "F");
  b.output(rcond(f), "rcond");
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

Graph direct_graph(SolveMethod method, const SparseType& type, int refine) {
  Graph g("solve");
  Builder b(g, catalog().operators);
  const bool cholesky = method == SolveMethod::cholesky;
  const Value f = b.input(factor_type(method, type), "F");
  const Value a = b.input(type, "A"), right = b.input(tensor(type.dtype, {type.shape[0]}), "b");
  const SparseSolveAttrs attrs{Transpose::none, refine};
  output_measures(b, a, cholesky ? sparse_cholesky_solve(f, a, right, attrs) : sparse_lu_solve(f, a, right, attrs),
                  right);
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
  output_measures(b, a, result.x, right);
  b.output(result.iterations, "iterations");
  b.output(result.residual, "residual");
  b.output(result.curvature, "curvature");
  return g;
}

Factored factored(const HostValues& out) {
  const auto& r = std::get<HostResource>(out[0]);
  Factored f{out[0], std::get<HostTensor>(out[1]).get_f64(0), r.type.provider, reason_of(r.data)};
  if (f.provider.empty()) f.provider = "reference";
  return f;
}

}  // namespace

SolverPrograms::SolverPrograms(SolveMethod method, const SparseType& a, const SolverOptions& o,
                               std::shared_ptr<runtime::Device> device)
    : method_(method) {
  if (method == SolveMethod::cg) {
    solve_.emplace(std::move(device), cg_graph(a, o), catalog(), o.compile);
    return;
  }
  factor_.emplace(device, factor_graph(method, a, o.library), catalog(), o.compile);
  make_update_ = [=, library = o.library, compile = o.compile] {
    return runtime::Executable(device, update_graph(method, a, library), catalog(), compile);
  };
  solve_.emplace(std::move(device), direct_graph(method, a, o.refine), catalog(), o.compile);
}

Factored SolverPrograms::factor(const HostSparse& a) const {
  const HostValue arguments[] = {a};
  return factored(factor_->run(arguments));
}

Factored SolverPrograms::update(const HostValue& factor, const HostSparse& a) const {
  const HostValue arguments[] = {factor, a};
  std::call_once(update_wanted_, [&] { update_.emplace(make_update_()); });
  return factored(update_->run(arguments));
}

Solution SolverPrograms::solve(const HostValue& factor, const HostSparse& a, HostTensor b) const {
  HostValues arguments;
  if (method_ != SolveMethod::cg) arguments = {factor, a, std::move(b)};
  else arguments = {a, b, HostTensor(b.dtype(), b.shape())};
  const HostValues out = solve_->run(arguments);
  const auto number = [&](std::size_t i) { return std::get<HostTensor>(out[i]).get_f64(0); };
  Solution s{std::get<HostTensor>(out[0]), number(1), number(2)};
  if (method_ == SolveMethod::cg) {
    s.iterations = std::get<HostTensor>(out[3]).get_i64(0);
    s.cg_residual = number(4);
    s.cg_curvature = number(5);
  }
  return s;
}

DispatchReport SolverPrograms::report() const {
  if (!factor_) return solve_->report();
  DispatchReport r = factor_->report();
  const DispatchReport& second = solve_->report();
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
