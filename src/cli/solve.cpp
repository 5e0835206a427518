// rlx solve A.mtx [b]
#include "compile_flags.hpp"
#include "context.hpp"
#include "json_output.hpp"
#include "option_checks.hpp"
#include "progress.hpp"
#include "right_side.hpp"

#include <rlx/formats/matrix_market.hpp>
#include <rlx/formats/tensor_file.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/linalg/solver.hpp>

#include <chrono>
#include <complex>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

namespace rlx::cli {

namespace {

struct Solve {
  Context& context;
  CompileFlags flags{};
  std::string matrix{}, method = "automatic", library = "automatic";
  std::optional<std::string> right{}, output{};
  linalg::SolverOptions options{};
  bool report = false;
  const CLI::Option *library_given = nullptr, *refine_given = nullptr, *tolerance_given = nullptr,
                    *iterations_given = nullptr;

  int run();
  linalg::SolverOptions solver_options() const;
  void refuse_idle_options(linalg::SolveMethod method) const;
};

template <class E>
E one_of(const std::string& text, const char* option) {
  const auto names = enum_names(E{});
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<E>(i);
    known += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i]);
  }
  throw UsageError(std::string(option) + " is \"" + text + "\", expected " + known);
}

/// An option that the method does not look at would be ignored without a word.
void Solve::refuse_idle_options(linalg::SolveMethod m) const {
  const auto needs = [](const CLI::Option* given, bool applies, const char* method) {
    if (given->count() > 0 && !applies) throw UsageError(given->get_name() + " is an option of --method " + method);
  };
  using enum linalg::SolveMethod;
  needs(library_given, m == lu, "lu");
  needs(refine_given, m != cg, "lu or cholesky");
  needs(tolerance_given, m == cg, "cg");
  needs(iterations_given, m == cg, "cg");
}

linalg::SolverOptions Solve::solver_options() const {
  linalg::SolverOptions o = options;
  o.method = one_of<linalg::SolveMethod>(method, "--method");
  refuse_idle_options(o.method);
  o.library = one_of<linalg::LuLibrary>(library, "--library");
  o.device = flags.device;
  o.compile = flags.options();
  return o;
}

linalg::SolveInfo solve_into(const linalg::Solver& solver, const RightSide& right, HostTensor& x) {
  const HostTensor& b = right.b;
  if (b.dtype() == DType::c128)
    return solver.solve(b.as<std::complex<double>>(), x.as_mutable<std::complex<double>>(), right.columns());
  return solver.solve(b.as<double>(), x.as_mutable<double>(), right.columns());
}

/// x, whose columns lie one after the other, as the file's b is.
HostTensor like(const RightSide& right, const HostTensor& x) {
  return right.columns() == 1 ? x.reshaped(right.shape) : transposed(x);
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

void print_text(const nlohmann::json& r, const linalg::SolveInfo& info, std::int64_t columns) {
  const std::string of = columns == 1 ? "" : " (the worst of " + counted(columns, "right side") + ")";
  const auto line = [](const char* what, const std::string& value) { std::printf("%-18s %s\n", what, value.c_str()); };
  line("matrix", r["matrix"].get<std::string>() + ": " + counted(r["n"].get<std::int64_t>(), "row") + ", " +
                     counted(r["nnz"].get<std::int64_t>(), "entry", "entries") + ", " + r["dtype"].get<std::string>());
  line("method", r["reason"].get<std::string>());
  line("provider", info.provider + " on " + r["device"].get<std::string>());
  line("rcond", r["rcond"].is_number() ? scientific(r["rcond"].get<double>()) : "not known to " + info.method);
  line("backward error", scientific(info.backward_error) + of);
  line("relative residual", scientific(info.relative_residual) + of);
  if (r.contains("distance_from_ones"))
    line("error",
         scientific(r["distance_from_ones"].get<double>()) + " (no b was given: b = A*ones, so x should be ones)");
  if (info.iterations) line("iterations", std::to_string(info.iterations) + of);
  line("time", scientific(r["seconds"].get<double>()) + " s (setting up and factoring " +
                   scientific(r["seconds_factor"].get<double>()) + " s, solving " +
                   scientific(r["seconds_solve"].get<double>()) + " s)");
  if (r.contains("output")) line("solution", r["output"].get<std::string>());
  std::fflush(stdout);
}

/// A matrix of more rows than entries is singular, which its count line tells: nothing is made for all those rows.
void refuse_too_few_entries(const std::string& place) {
  std::error_code ignored;
  if (!place.ends_with(".mtx") || !std::filesystem::is_regular_file(place, ignored)) return;  // A pipe is read once.
  const formats::MatrixMarketHeader h = formats::read_matrix_market_header(place);
  const std::int64_t most = h.symmetry == formats::MatrixSymmetry::general ? h.stored : 2 * h.stored;
  if (h.storage == formats::MatrixStorage::array || h.rows != h.cols || most >= h.rows) return;
  throw NumericalError("solve", 0,
                       place + ": the matrix is structurally singular: it has entries in at most " +
                           std::to_string(most) + " of " + counted(h.rows, "row"));
}

int Solve::run() {
  const linalg::SolverOptions o = solver_options();
  if (output) {
    formats::check_writable(*output, DType::f64, 1);  // A complex x finds its form in every format.
    if (formats::would_replace(*output, matrix))
      throw ArgumentError("the solution would replace the matrix, " + matrix + ": name another file");
    if (right && formats::would_replace(*output, *right))
      throw ArgumentError("the solution would replace the right side, " + *right + ": name another file");
  }
  const auto start = std::chrono::steady_clock::now();
  auto progress = std::make_unique<Progress>();
  progress->stage("reading " + matrix);
  refuse_too_few_entries(matrix);
  HostSparse a = read_matrix(matrix);
  nlohmann::json r{{"matrix", matrix},
                   {"n", a.type.shape[0].constant()},
                   {"nnz", a.type.entries.constant()},
                   {"dtype", name(a.type.dtype)},
                   {"device", o.device}};
  if (a.type.shape[0] != a.type.shape[1])
    throw ArgumentError(matrix + " is " + a.type.shape[0].to_string() + " x " + a.type.shape[1].to_string() +
                        ", a solve needs a square matrix");
  const RightSide rhs =
      right ? read_right_side(*right, a) : RightSide{row_sums(a, matrix), {a.type.shape[0].constant()}, {}};
  r["seconds_read"] = seconds_since(start);

  const auto before_factor = std::chrono::steady_clock::now();
  progress->stage("factoring " + matrix + " (" + counted(a.type.entries.constant(), "entry", "entries") + ")");
  const linalg::Solver solver(std::move(a), o);
  r["seconds_factor"] = seconds_since(before_factor);
  const auto before_solve = std::chrono::steady_clock::now();
  progress->stage("solving by " + std::string(name(solver.method())));
  HostTensor x(rhs.b.dtype(), rhs.b.shape());
  linalg::SolveInfo info;
  try {
    info = solve_into(solver, rhs, x);
  } catch (const NumericalError& e) {
    if (e.iterations() < 0 || !output) throw;
    write_solution(*output, like(rhs, x));  // Whoever asked for the file can go on from the last iterate.
    throw NumericalError(e.op(), std::string(e.what()) + "; the last iterate is in " + *output, e.iterations(),
                         e.residual());
  }
  r["seconds_solve"] = seconds_since(before_solve);
  r["seconds"] = seconds_since(before_factor);
  progress.reset();
  if (output) {
    write_solution(*output, like(rhs, x));
    r["output"] = *output;
  }
  if (refine_given->count() > 0 && solver.method() == linalg::SolveMethod::cg)
    info.warnings.push_back("--refine has no effect: cg was chosen, which does not refine");
  info.warnings.insert(info.warnings.end(), rhs.notes.begin(), rhs.notes.end());
  r.update({{"method", info.method},
            {"reason", solver.reason()},
            {"provider", info.provider},
            {"rcond", number(solver.rcond())},
            {"backward_error", number(info.backward_error)},
            {"relative_residual", number(info.relative_residual)},
            {"iterations", info.iterations},
            {"warnings", info.warnings},
            {"right_side", right.value_or("A*ones")}});
  if (!right) r["distance_from_ones"] = distance_from_ones(x);
  for (const std::string& w : info.warnings) std::cerr << "rlx: warning: " << w << "\n";
  if (context.json) {
    if (report) r["report"] = report_json(solver.report());
    print_json(r);
    return 0;
  }
  print_text(r, info, rhs.columns());
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
  c->add_option("b", s->right,
                "the right side, or a matrix of several, one a column: .mtx, .npy, FILE.safetensors:NAME or "
                "FILE.h5:/NAME (default: A*ones)");
  c->add_option("-o,--output", s->output, "file for the solution, by its ending as for b");
  c->add_option("--method", s->method, "lu, cholesky or cg; automatic looks at the matrix and says why")
      ->capture_default_str();
  s->library_given = c->add_option("--library", s->library, "of lu: umfpack, klu or automatic")->capture_default_str();
  s->refine_given =
      c->add_option("--refine", s->options.refine, "most steps of iterative refinement of lu and cholesky")
          ->capture_default_str()
          ->check(number_from<int>(0));
  s->tolerance_given = c->add_option("--tolerance", s->options.tolerance, "of cg: relative residual at which it stops")
                           ->capture_default_str()
                           ->check(number_from<double>(0));
  s->iterations_given =
      c->add_option("--max-iterations", s->options.max_iterations, "of cg (default: ten times the rows, at least 1000)")
          ->check(number_from<std::int64_t>(1));
  c->add_flag("--report", s->report, "print the dispatch report: what ran each operator, and why");
  s->flags.add_to(*c);
}

}  // namespace rlx::cli
