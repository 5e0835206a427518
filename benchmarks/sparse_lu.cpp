// The solver's sparse LU, once from nothing and then with new values in the same pattern, beside UMFPACK and KLU called
// directly with their own defaults and 32-bit indices, whichever is faster. Two rows each: the plain one is what a user
// of the library writes, analysis, factorization, solve (UMFPACK refines up to twice in it, KLU does not), which takes
// any answer of a nearly singular matrix for good; "checked" does what ours does besides: an estimate of the condition
// (KLU's own; LAPACK's xLACN2 with UMFPACK's solves) and a step of refinement. Both sides work on the matrix as they
// get it, ours by rows, the libraries by columns.
//
// "its library and its checks" is what bounds ours, run beside it: the calls of the library that it chose, on the
// matrix by rows, and what the solver promises besides: equilibration, a probe of the condition, a measured and refined
// solution. "what that leaves" is the ratio that the plain row would have if ours took no longer than that. The rows
// "part" say where the time goes.
//
// Arguments: Matrix Market files of real square matrices. Without them: those of $RLX_SHARED/data/matrices and, where
// it is set, of the folder $RLX_MATRICES (shared/data/get_matrices.sh makes it) that are large enough to be timed.
#include "benchmarks/bench.hpp"
#include "benchmarks/lu_libraries.hpp"
#include "linalg/csc_matrix.hpp"
#include "linalg/kernels/cpu/equilibrate.hpp"
#include "linalg/kernels/cpu/equilibrated_factor.hpp"
#include "linalg/kernels/cpu/refine.hpp"
#include "linalg/kernels/cpu/sparse_factor.hpp"

#include <rlx/formats/matrix_market.hpp>
#include <rlx/formats/sparse.hpp>
#include <rlx/ir/error.hpp>
#include <rlx/linalg/linalg.hpp>

#include <benchmark/benchmark.h>

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

constexpr double no_goal = 0;

bench::Matrix read(const fs::path& file) {
  const formats::CsrMatrix m = formats::read_matrix_market_csr(file.string());
  const auto values = m.values.as<double>();
  bench::Matrix a{static_cast<std::int32_t>(m.rows), {}, {}, {values.begin(), values.end()}};
  a.offsets.assign(m.row_offsets.begin(), m.row_offsets.end());
  a.columns.assign(m.columns.begin(), m.columns.end());
  return a;
}

/// Everything that is measured about one matrix.
class Case {
 public:
  Case(const std::string& name, const bench::Matrix& a)
      : name_(name),
        a_(a),
        columns_(bench::transposed(a)),
        umfpack_(columns_),
        klu_(columns_),
        b_(a.values.empty() ? 0 : static_cast<std::size_t>(a.rows)),
        x_(b_.size()) {
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = 1 + 0.5 * std::sin(0.01 * static_cast<double>(i));
    klu_.analyse();
    with_klu_ = klu_.affordable();
  }

  void measure() {
    const auto solve_anew = [&] { this->solve_anew(); };
    const auto by_umfpack = [&] {
      umfpack_.analyse();
      umfpack_.factor();
      umfpack_.solve(b_, x_);
    };
    const auto by_klu = [&] {
      klu_.analyse();
      klu_.factor();
      klu_.solve(b_, x_);
    };
    const auto check_umfpack = [&] { umfpack_.reciprocal_condition(); };
    const auto check_klu = [&] {
      klu_.estimate_condition();
      klu_.refine(b_, x_);
    };
    const Best plain = compare("factor and solve", solve_anew, {"umfpack, which refines", by_umfpack},
                               {"klu, which neither checks nor refines", by_klu});
    compare("factor and solve, checked", solve_anew,
            {"umfpack, which refines, and xlacn2", both(by_umfpack, check_umfpack)},
            {"klu, its condest and a step of refinement", both(by_klu, check_klu)});
    const auto solve_again = [&] {
      solver_->update(a_.view());
      solver_->solve(b_, x_);
    };
    const auto again_by_umfpack = [&] {
      umfpack_.factor();
      umfpack_.solve(b_, x_);
    };
    const auto again_by_klu = [&] {
      klu_.refactor();
      klu_.solve(b_, x_);
    };
    compare("same pattern", solve_again, {"umfpack, which refines", again_by_umfpack},
            {"klu, which keeps its pivots unchecked", again_by_klu});
    compare("same pattern, checked", solve_again,
            {"umfpack, which refines, and xlacn2", both(again_by_umfpack, check_umfpack)},
            {"klu, its condest and a step of refinement", both(again_by_klu, check_klu)});
    parts(plain);
  }

 private:
  void solve_anew() {
    solver_.reset();  // As the rivals free theirs.
    solver_ = std::make_unique<linalg::Solver>(a_.view(), options_);
    solver_->solve(b_, x_);
  }
  struct Rival {
    std::string does;
    std::function<void()> run;
  };
  static std::function<void()> both(std::function<void()> first, std::function<void()> then) {
    return [first = std::move(first), then = std::move(then)] {
      first();
      then();
    };
  }
  /// The faster rival.
  struct Best {
    bool klu;
    double seconds;
  };
  Best compare(const std::string& what, const std::function<void()>& ours, const Rival& by_umfpack,
               const Rival& by_klu) {
    std::vector<std::function<void()>> all{ours, by_umfpack.run};
    if (with_klu_) all.push_back(by_klu.run);
    const std::vector<double> t = bench::alternating_seconds(repeats(), all);
    const bool klu_wins = with_klu_ && t[2] < t[1];
    const double rival = klu_wins ? t[2] : t[1];
    bench::row("sparse lu, " + name_ + ": " + what + " (" + solver_->provider() + ", rival " +
                   (klu_wins ? by_klu.does : by_umfpack.does) + ")",
               t[0] * 1e3, rival * 1e3, "ms", rival / t[0], 0.95);
    return {klu_wins, rival};
  }

  /// The steps of one solve alone, each in turn with the rival's.
  void parts(const Best& plain) {
    const bool klu = plain.klu;
    const linalg::LuLibrary library =
        solver_->provider() == "klu" ? linalg::LuLibrary::klu : linalg::LuLibrary::umfpack;
    const auto factor = linalg::sparse_lu(a_.view(), {.lu = library});
    const std::span<const double> b(b_);
    const auto analyse = [&] { klu ? klu_.analyse() : umfpack_.analyse(); };
    const auto solve = [&] { klu ? klu_.solve(b_, x_) : umfpack_.solve(b_, x_); };
    const auto make_ready = [&] {
      auto m = linalg::to_csc_transposed<std::int32_t>("bench", a_.view());
      linalg::apply_scaling(linalg::equilibrate(m), m);
      return m;
    };
    const auto solve_refined = [&] {
      linalg::solve_refined(*factor, a_.view(), linalg::Transpose::none, b, std::span(x_));
    };
    part("make ready (check, copy, equilibrate)", make_ready, {});
    part("analysis", {}, analyse);
    part(
        "all that makes a checked factor", [&] { linalg::sparse_lu(a_.view(), {.lu = library}); },
        [&] {
          analyse();
          klu ? klu_.factor() : umfpack_.factor();
        });
    const auto ready = make_ready();
    auto& probed = dynamic_cast<linalg::EquilibratedFactor<double, std::int32_t>&>(*factor);
    const auto probe = [&] {
      const double norm = linalg::norm_infinity(ready);
      auto [x, right] = probed.probe();
      benchmark::DoNotOptimize(linalg::backward_error(ready, norm, x, std::move(right)));
    };
    part("probe of the condition", probe, klu ? [&] { klu_.estimate_condition(); } : std::function<void()>());
    part("solve", [&] { factor->solve(linalg::Transpose::none, b, x_); }, solve);
    part("solve, measure and refine", solve_refined, solve);
    part("the same as a program", [&] { solver_->solve(b_, x_); }, solve);

    const bench::Matrix rows{a_.rows, ready.start, ready.row, ready.value};
    bench::Klu own_klu(rows, bench::Scaled::before);
    bench::Umfpack own_umfpack(rows, bench::Scaled::before);
    const auto library_and_checks = [&] {
      make_ready();
      if (library == linalg::LuLibrary::klu) {
        own_klu.analyse();
        own_klu.factor();
      } else {
        own_umfpack.analyse();
        own_umfpack.factor();
      }
      probe();
      solve_refined();
    };
    const bench::Pair t = bench::alternating_seconds(repeats(), [&] { solve_anew(); }, library_and_checks);
    bench::row("sparse lu, " + name_ + ": factor and solve beside its library and its checks alone", t.first * 1e3,
               t.second * 1e3, "ms", t.second / t.first, 0.95);
    bench::row("sparse lu, " + name_ + ": what that leaves of the ratio to the faster library", t.second * 1e3,
               plain.seconds * 1e3, "ms", plain.seconds / t.second, no_goal);
  }
  /// One side may have no such part: its time and the ratio are 0.
  void part(const std::string& what, const std::function<void()>& ours, const std::function<void()>& rival) {
    const auto nothing = [] {};
    const bench::Pair t = bench::alternating_seconds(repeats(), ours ? ours : nothing, rival ? rival : nothing);
    bench::row("sparse lu, " + name_ + ": part, " + what, ours ? t.first * 1e3 : 0, rival ? t.second * 1e3 : 0, "ms",
               ours && rival ? t.second / t.first : 0, no_goal);
  }

  int repeats() const { return a_.values.size() > 500000 ? 3 : a_.values.size() > 100000 ? 7 : 25; }

  std::string name_;
  const bench::Matrix& a_;
  bench::Matrix columns_;
  bench::Umfpack umfpack_;
  bench::Klu klu_;
  std::vector<double> b_, x_;
  bool with_klu_ = false;
  linalg::SolverOptions options_{.method = linalg::SolveMethod::lu};
  std::unique_ptr<linalg::Solver> solver_;
};

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
  int given = 1;
  while (given < argc && argv[given][0] != '-') ++given;
  std::vector<fs::path> files(argv + 1, argv + given);
  if (files.empty()) files = default_files();
  for (const fs::path& file : files)
    bench::add(file.stem(), [file] {
      const bench::Matrix a = read(file);
      Case(file.stem(), a).measure();
    });
  argv[given - 1] = argv[0];
  return bench::run(argc - given + 1, argv + given - 1);
}
