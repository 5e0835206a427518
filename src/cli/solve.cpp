// rlx solve A.mtx [b]
#include "compile_flags.hpp"
#include "context.hpp"
#include "json_output.hpp"
#include "progress.hpp"
#include "right_side.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/linalg/solver.hpp>

#include <chrono>
#include <complex>
#include <cstdio>
#include <iostream>
#include <memory>

namespace rlx::cli {

namespace {

struct Solve {
  Context& context;
  CompileFlags flags{};
  std::string matrix{}, right{}, output{}, method = "automatic", library = "automatic";
  linalg::SolverOptions options{};
  bool report = false;

  int run();
  linalg::SolverOptions solver_options() const;
};

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

template <class E>
E one_of(const std::string& text, const char* option) {
  const auto names = enum_names(E{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<E>(i);
  throw UsageError(std::string(option) + " " + text + " is unknown");
}

linalg::SolverOptions Solve::solver_options() const {
  linalg::SolverOptions o = options;
  o.method = one_of<linalg::SolveMethod>(method, "--method");
  o.library = one_of<linalg::LuLibrary>(library, "--library");
  o.device = flags.device;
  o.compile = flags.options();
  return o;
}

linalg::SolveInfo solve_into(const linalg::Solver& solver, const HostTensor& b, HostTensor& x) {
  if (b.dtype() == DType::c128) return solver.solve(b.as<std::complex<double>>(), x.as_mutable<std::complex<double>>());
  return solver.solve(b.as<double>(), x.as_mutable<double>());
}

double distance_from_ones(const HostTensor& x) {
  double d = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) d = std::max(d, std::abs(x.get_c128(i) - 1.0));
  return d;
}

std::string scientific(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3e", v);
  return text;
}

void print_text(const nlohmann::json& r, const linalg::SolveInfo& info) {
  const auto line = [](const char* what, const std::string& value) { std::printf("%-18s %s\n", what, value.c_str()); };
  line("matrix", r["matrix"].get<std::string>() + ": " + r["n"].dump() + " rows, " + r["nnz"].dump() + " entries, " +
                     r["dtype"].get<std::string>());
  line("method", r["reason"].get<std::string>());
  line("provider", info.provider + " on " + r["device"].get<std::string>());
  line("rcond", info.rcond == info.rcond ? scientific(info.rcond) : "not known to " + info.method);
  line("backward error", scientific(info.backward_error));
  line("relative residual", scientific(info.relative_residual));
  if (r.contains("distance_from_ones"))
    line("error",
         scientific(r["distance_from_ones"].get<double>()) + " (no b was given: b = A*ones, so x should be ones)");
  if (info.iterations) line("iterations", std::to_string(info.iterations));
  line("time", scientific(r["seconds"].get<double>()) + " s (setting up and factoring " +
                   scientific(r["seconds_factor"].get<double>()) + " s, solving " +
                   scientific(r["seconds_solve"].get<double>()) + " s)");
  if (r.contains("output")) line("solution", r["output"].get<std::string>());
  std::fflush(stdout);
}

int Solve::run() {
  const linalg::SolverOptions o = solver_options();
  const auto start = std::chrono::steady_clock::now();
  auto progress = std::make_unique<Progress>();
  progress->stage("reading " + matrix);
  HostSparse a = read_matrix(matrix);
  nlohmann::json r{{"matrix", matrix},
                   {"n", a.type.shape[0].constant()},
                   {"nnz", a.type.entries.constant()},
                   {"dtype", name(a.type.dtype)},
                   {"device", o.device}};
  if (a.type.shape[0] != a.type.shape[1])
    throw ArgumentError(matrix + " is " + a.type.shape[0].to_string() + " x " + a.type.shape[1].to_string() +
                        ", a solve needs a square matrix");
  const RightSide rhs = right.empty() ? RightSide{row_sums(a), {}} : read_right_side(right, a);
  r["seconds_read"] = seconds_since(start);

  const auto before_factor = std::chrono::steady_clock::now();
  progress->stage("factoring " + matrix + " (" + std::to_string(a.type.entries.constant()) + " entries)");
  const linalg::Solver solver(std::move(a), o);
  r["seconds_factor"] = seconds_since(before_factor);
  const auto before_solve = std::chrono::steady_clock::now();
  progress->stage("solving by " + std::string(name(solver.method())));
  HostTensor x(rhs.b.dtype(), {solver.rows()});
  linalg::SolveInfo info;
  try {
    info = solve_into(solver, rhs.b, x);
  } catch (const NumericalError& e) {
    if (e.iterations() < 0 || output.empty()) throw;
    write_solution(output, x);  // Whoever asked for the file can go on from the last iterate.
    throw NumericalError(e.op(), std::string(e.what()) + "; the last iterate is in " + output, e.iterations(),
                         e.residual());
  }
  r["seconds_solve"] = seconds_since(before_solve);
  r["seconds"] = seconds_since(before_factor);
  progress.reset();
  if (!output.empty()) {
    write_solution(output, x);
    r["output"] = output;
  }
  info.warnings.insert(info.warnings.end(), rhs.notes.begin(), rhs.notes.end());
  r.update({{"method", info.method},
            {"reason", solver.reason()},
            {"provider", info.provider},
            {"rcond", number(info.rcond)},
            {"backward_error", number(info.backward_error)},
            {"relative_residual", number(info.relative_residual)},
            {"iterations", info.iterations},
            {"warnings", info.warnings},
            {"right_side", right.empty() ? "A*ones" : right}});
  if (right.empty()) r["distance_from_ones"] = distance_from_ones(x);
  for (const std::string& w : info.warnings) std::cerr << "rlx: warning: " << w << "\n";
  if (context.json) {
    if (report) r["report"] = report_json(solver.report());
    print_json(r);
    return 0;
  }
  print_text(r, info);
  if (report) std::cout << "\n" << solver.report().to_table();
  return 0;
}

}  // namespace

void add_solve(CLI::App& app, Context& context) {
  auto s = std::make_shared<Solve>(Solve{context});
  CLI::App* c =
      add_command(app, context, "solve", "Solves A x = b with a sparse matrix and says how good the solution is.",
                  [s] { return s->run(); });
  c->add_option("A", s->matrix,
                "the matrix: a Matrix Market file, or a dense one in .npy, .safetensors:NAME or .h5:/NAME")
      ->required();
  c->add_option("b", s->right, "the right side: .mtx, .npy, FILE.safetensors:NAME or FILE.h5:/NAME (default: A*ones)");
  c->add_option("-o,--output", s->output, "file for the solution, by its ending as for b");
  c->add_option("--method", s->method, "lu, cholesky or cg; automatic looks at the matrix and says why")
      ->capture_default_str();
  c->add_option("--library", s->library, "of lu: umfpack, klu or automatic")->capture_default_str();
  c->add_option("--refine", s->options.refine, "most steps of iterative refinement of lu and cholesky")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  c->add_option("--tolerance", s->options.tolerance, "of cg: relative residual at which it stops")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  c->add_option("--max-iterations", s->options.max_iterations, "of cg (default: ten times the rows, at least 1000)")
      ->check(CLI::PositiveNumber);
  c->add_flag("--report", s->report, "print the dispatch report: what ran each operator, and why");
  s->flags.add_to(*c);
}

}  // namespace rlx::cli
