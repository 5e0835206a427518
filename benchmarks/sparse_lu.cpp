// The solver's sparse LU, once from nothing and then with new values in the same pattern, beside UMFPACK and KLU called
// directly with their own defaults, whichever is faster. Ours estimates the condition and refines to the last digit
// besides; UMFPACK refines as far as it does by default, KLU not at all.
//
// Arguments: Matrix Market files of real square matrices. Without them: those of $RLX_SHARED/data/matrices and, where
// it is set, of the folder $RLX_MATRICES (shared/data/get_matrices.sh makes it) that are large enough to be timed.
#include "benchmarks/bench.hpp"

#include <rlx/formats/matrix_market.hpp>
#include <rlx/formats/sparse.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/linalg/linalg.hpp>

#include <klu.h>
#include <umfpack.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace rlx;
namespace fs = std::filesystem;

namespace {

struct Csr {
  std::int64_t rows = 0;
  std::vector<std::int64_t> offsets, columns;
  std::vector<double> values;
  linalg::CsrView<double, std::int64_t> view() const { return {rows, rows, offsets, columns, values}; }
};

Csr read(const fs::path& file) {
  const formats::CsrMatrix m = formats::read_matrix_market_csr(file.string());
  const auto values = m.values.as<double>();
  return {m.rows,
          {m.row_offsets.begin(), m.row_offsets.end()},
          {m.columns.begin(), m.columns.end()},
          {values.begin(), values.end()}};
}

/// As compressed columns, which is what the libraries take.
Csr transposed(const Csr& a) {
  Csr t{a.rows, std::vector<std::int64_t>(a.offsets.size()), std::vector<std::int64_t>(a.columns.size()),
        std::vector<double>(a.values.size())};
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (const std::int64_t j : a.columns) ++t.offsets[at(j + 1)];
  for (std::int64_t j = 0; j < a.rows; ++j) t.offsets[at(j + 1)] += t.offsets[at(j)];
  std::vector<std::int64_t> next = t.offsets;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.offsets[at(i)]; k < a.offsets[at(i + 1)]; ++k) {
      const std::int64_t to = next[at(a.columns[at(k)])]++;
      t.columns[at(to)] = i;
      t.values[at(to)] = a.values[at(k)];
    }
  return t;
}

struct Umfpack {
  const Csr& a;
  double control[UMFPACK_CONTROL]{};
  void *symbolic = nullptr, *numeric = nullptr;
  explicit Umfpack(const Csr& columns) : a(columns) { umfpack_dl_defaults(control); }
  ~Umfpack() { clear(); }
  void clear() {
    umfpack_dl_free_symbolic(&symbolic);
    umfpack_dl_free_numeric(&numeric);
  }
  void analyse() {
    clear();
    umfpack_dl_symbolic(a.rows, a.rows, a.offsets.data(), a.columns.data(), a.values.data(), &symbolic, control,
                        nullptr);
  }
  void factor() {
    umfpack_dl_free_numeric(&numeric);
    umfpack_dl_numeric(a.offsets.data(), a.columns.data(), a.values.data(), symbolic, &numeric, control, nullptr);
  }
  void solve(const std::vector<double>& b, std::vector<double>& x) {
    umfpack_dl_solve(UMFPACK_A, a.offsets.data(), a.columns.data(), a.values.data(), x.data(), b.data(), numeric,
                     control, nullptr);
  }
};

struct Klu {
  Csr a;  // KLU's prototypes are not const
  klu_l_common common{};
  klu_l_symbolic* symbolic = nullptr;
  klu_l_numeric* numeric = nullptr;
  explicit Klu(const Csr& columns) : a(columns) { klu_l_defaults(&common); }
  ~Klu() { clear(); }
  void clear() {
    klu_l_free_numeric(&numeric, &common);
    klu_l_free_symbolic(&symbolic, &common);
  }
  void analyse() {
    clear();
    symbolic = klu_l_analyze(a.rows, a.offsets.data(), a.columns.data(), &common);
  }
  void factor() { numeric = klu_l_factor(a.offsets.data(), a.columns.data(), a.values.data(), symbolic, &common); }
  void refactor() { klu_l_refactor(a.offsets.data(), a.columns.data(), a.values.data(), symbolic, numeric, &common); }
  void solve(const std::vector<double>& b, std::vector<double>& x) {
    x = b;
    klu_l_solve(symbolic, numeric, a.rows, 1, x.data(), &common);
  }
  /// KLU has no dense kernels: above this its factors would take minutes.
  bool affordable() const { return symbolic && symbolic->est_flops < 2e10; }
};

void measure(const std::string& name, const Csr& a) {
  const Csr columns = transposed(a);
  std::vector<double> b(static_cast<std::size_t>(a.rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + 0.5 * std::sin(0.01 * static_cast<double>(i));
  Umfpack umfpack(columns);
  Klu klu(columns);
  klu.analyse();
  const bool with_klu = klu.affordable();
  std::unique_ptr<linalg::Solver> solver;
  const linalg::SolverOptions options{.method = linalg::SolveMethod::lu};

  const auto compare = [&](const std::string& what, const std::function<void()>& ours,
                           const std::function<void()>& by_umfpack, const std::function<void()>& by_klu) {
    const int repeats = a.values.size() > 500000 ? 3 : 7;
    std::vector<std::function<void()>> all{ours, by_umfpack};
    if (with_klu) all.push_back(by_klu);
    const std::vector<double> t = bench::alternating_seconds(repeats, all);
    const bool klu_wins = with_klu && t[2] < t[1];
    const double rival = klu_wins ? t[2] : t[1];
    bench::row("sparse lu, " + name + ": " + what + " (" + solver->provider() + ", rival " +
                   (klu_wins ? "klu" : "umfpack") + ")",
               t[0] * 1e3, rival * 1e3, "ms", rival / t[0], 0.95);
  };
  compare(
      "factor and solve",
      [&] {
        solver = std::make_unique<linalg::Solver>(a.view(), options);
        solver->solve(b, x);
      },
      [&] {
        umfpack.analyse();
        umfpack.factor();
        umfpack.solve(b, x);
      },
      [&] {
        klu.analyse();
        klu.factor();
        klu.solve(b, x);
      });
  compare(
      "same pattern",
      [&] {
        solver->update(a.view());
        solver->solve(b, x);
      },
      [&] {
        umfpack.factor();
        umfpack.solve(b, x);
      },
      [&] {
        klu.refactor();
        klu.solve(b, x);
      });
}

std::vector<fs::path> default_files() {
  std::vector<fs::path> files;
  const char* shared = std::getenv("RLX_SHARED");
  const char* large = std::getenv("RLX_MATRICES");
  const auto take = [&](const fs::path& folder, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const fs::path file = folder / (std::string(name) + ".mtx");
      if (fs::exists(file)) files.push_back(file);
      else std::fprintf(stderr, "sparse_lu: %s is not there\n", file.c_str());
    }
  };
  take(fs::path(shared ? shared : "../shared") / "data/matrices",
       {"gemat12", "big", "sherman3", "sherman5", "nsjac_1", "cage10"});
  if (large) take(large, {"circuit_50000", "convection_300", "nsjac", "stokes_128"});
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files(argv + 1, argv + argc);
  if (files.empty()) files = default_files();
  for (const fs::path& file : files) try {
      measure(file.stem(), read(file));
    } catch (const Error& e) { std::fprintf(stderr, "sparse_lu: %s: %s\n", file.c_str(), e.what()); }
}
