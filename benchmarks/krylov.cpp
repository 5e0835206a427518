// SpMV and conjugate gradients with a Jacobi preconditioner on the 7-point Poisson matrix of N^3 unknowns (argument,
// default 100), against the memory triad, a loop in C++ and, where PETSc is built in, its CG on as many ranks as there
// are threads, iteration for iteration.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#ifdef RLX_BENCH_PETSC
#include <petscksp.h>
#endif

using namespace rlx;

namespace {

struct Poisson {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<double> values;
  explicit Poisson(std::int32_t n) {
    for (std::int32_t i = 0; i < n; ++i)
      for (std::int32_t j = 0; j < n; ++j)
        for (std::int32_t k = 0; k < n; ++k) {
          const std::int32_t row = (i * n + j) * n + k;
          const auto put = [&](std::int32_t column, double v) {
            columns.push_back(column);
            values.push_back(v);
          };
          if (i > 0) put(row - n * n, -1);
          if (j > 0) put(row - n, -1);
          if (k > 0) put(row - 1, -1);
          put(row, 6);
          if (k + 1 < n) put(row + 1, -1);
          if (j + 1 < n) put(row + n, -1);
          if (i + 1 < n) put(row + n * n, -1);
          offsets.push_back(static_cast<std::int32_t>(columns.size()));
        }
  }
  std::int64_t rows() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  HostSparse host() const {
    const auto nnz = static_cast<std::int64_t>(values.size());
    HostSparse s{SparseType{SparseFormat::csr, DType::f64, DType::i32, {rows(), rows()}, nnz},
                 HostTensor(DType::i32, {rows() + 1}), HostTensor(DType::i32, {nnz}), HostTensor(DType::f64, {nnz})};
    std::copy(offsets.begin(), offsets.end(), s.offsets.as_mutable<std::int32_t>().begin());
    std::copy(columns.begin(), columns.end(), s.indices.as_mutable<std::int32_t>().begin());
    std::copy(values.begin(), values.end(), s.values.as_mutable<double>().begin());
    return s;
  }
};

HostTensor filled(std::int64_t n, double v) {
  HostTensor t(DType::f64, {n});
  for (double& x : t.as_mutable<double>()) x = v;
  return t;
}

#ifdef RLX_BENCH_PETSC
/// What `mpirun -n R krylov --petsc N ITERATIONS` does: PETSc's CG with Jacobi and the true residual norm on R ranks,
/// rows in equal parts; prints the median seconds of an iteration.
int petsc_rank(int n, int iterations) {
  PetscInitializeNoArguments();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  {
    const Poisson p(n);
    const auto rows = static_cast<PetscInt>(p.rows());
    const PetscInt from = rows * rank / ranks, to = rows * (rank + 1) / ranks;
    const std::int32_t first = p.offsets[static_cast<std::size_t>(from)];
    std::vector<PetscInt> offsets(p.offsets.begin() + from, p.offsets.begin() + to + 1);
    for (PetscInt& o : offsets) o -= first;
    Mat a{};
    MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, to - from, to - from, rows, rows, offsets.data(),
                              p.columns.data() + first, p.values.data() + first, &a);
    Vec x{}, b{};
    MatCreateVecs(a, &x, &b);
    VecSet(b, 1);
    KSP ksp{};
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, a, a);
    KSPSetType(ksp, KSPCG);
    KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
    PC pc{};
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCJACOBI);
    KSPSetTolerances(ksp, 0, 0, PETSC_DEFAULT, iterations);
    KSPSetUp(ksp);
    const double t = bench::median_seconds(3, [&] {
      MPI_Barrier(PETSC_COMM_WORLD);
      VecSet(x, 0);
      KSPSolve(ksp, b, x);
      MPI_Barrier(PETSC_COMM_WORLD);
    });
    if (rank == 0) std::printf("%.9g\n", t / iterations);
    KSPDestroy(&ksp);
    VecDestroy(&x);
    VecDestroy(&b);
    MatDestroy(&a);
  }
  PetscFinalize();
  return 0;
}
#endif

/// Seconds of an iteration of PETSc on as many ranks, by this program under mpirun; 0 where that cannot be had.
double petsc_seconds(int ranks, int n, int iterations) {
#ifdef RLX_BENCH_PETSC
  const std::string command = "mpirun --allow-run-as-root --oversubscribe --bind-to core -n " + std::to_string(ranks) +
                              " " + std::filesystem::read_symlink("/proc/self/exe").string() + " --petsc " +
                              std::to_string(n) + " " + std::to_string(iterations);
  if (std::FILE* out = popen(command.c_str(), "r")) {
    double t = 0;
    const bool one = std::fscanf(out, "%lf", &t) == 1;
    if (pclose(out) == 0 && one) return t;
  }
#else
  (void)ranks, (void)n, (void)iterations;
#endif
  return 0;
}

/// The same product as a loop in C++ that reads ahead, on the same memory, which shows what that allows.
void plain_product(const HostSparse& a, const double* x, double* y, int threads) {
  constexpr std::int64_t ahead = 512, chunk = 4096;
  const std::int64_t n = a.offsets.numel() - 1;
  const std::int32_t *offsets = a.offsets.as<std::int32_t>().data(), *columns = a.indices.as<std::int32_t>().data();
  const double* values = a.values.as<double>().data();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::int64_t from = 0; from < n; from += chunk)
    for (std::int64_t i = from; i < std::min(n, from + chunk); ++i) {
      const std::int32_t low = offsets[i], high = offsets[i + 1];
      __builtin_prefetch(values + low + ahead);
      __builtin_prefetch(columns + low + ahead);
      double sum = 0;
      for (std::int32_t k = low; k < high; ++k) sum += values[k] * x[columns[k]];
      y[i] = sum;
    }
}

/// Reads and writes the same arrays once in the same order, values, columns and offsets beside x and y, without the
/// entries of x that columns name: the time that no product on this memory undercuts.
void only_streams(const HostSparse& a, const double* x, double* y, int threads) {
  constexpr std::int64_t ahead = 512, chunk = 4096, line = 8;
  const std::int64_t n = a.offsets.numel() - 1;
  const std::int32_t *offsets = a.offsets.as<std::int32_t>().data(), *columns = a.indices.as<std::int32_t>().data();
  const auto* values = reinterpret_cast<const std::int64_t*>(a.values.as<double>().data());
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::int64_t from = 0; from < n; from += chunk) {
    const std::int64_t to = std::min(n, from + chunk);
    std::int64_t all_values = 0;
    std::int32_t all_columns = 0, all_offsets = 0;
    for (std::int64_t i = from; i < to; ++i) {
      all_offsets |= offsets[i];
      y[i] = x[i];
    }
    for (std::int64_t k = offsets[from]; k + line <= offsets[to]; k += line) {
      __builtin_prefetch(values + k + ahead);
      __builtin_prefetch(columns + k + ahead);
      for (std::int64_t e = k; e < k + line; ++e) {
        all_values |= values[e];
        all_columns |= columns[e];
      }
    }
    if (all_values == 0 || all_columns < 0 || all_offsets < 0) y[from] = 0;  // never, but the loops are not idle
  }
}

/// The matrix of size^3 unknowns and what its measurements share.
struct Problem {
  int size, threads = bench::threads();
  HostSparse a;
  runtime::Catalog catalog = make_catalog();
  std::shared_ptr<runtime::Device> device = runtime::open_device("cpu");
  std::int64_t n = a.offsets.numel() - 1, nnz = a.values.numel();

  explicit Problem(int size) : size(size), a(Poisson(size).host()) { linalg::add_to(catalog); }
  void product();
  void conjugate_gradients();
};

void Problem::product() {
  Graph g("spmv");
  Builder b(g, catalog.operators);
  const Value m = b.input(a.type, "a");
  b.output(linalg::spmv(m, b.input(f64({n}), "x")), "y");
  const runtime::Executable e(device, g, catalog);
  const HostValues in{a, filled(n, 1)};
  HostValues out;
  HostTensor y = filled(n, 0);
  const double* x = std::get<HostTensor>(in[1]).as<double>().data();
  double* const result = y.as_mutable<double>().data();
  bench::Triad triad(threads);
  const std::vector<double> t = bench::alternating_seconds(
      21, {[&] { out = e.run(in, std::move(out)); }, [&] { plain_product(a, x, result, threads); },
           [&] { only_streams(a, x, result, threads); }, [&] { triad(); }});
  const double bytes = 12 * static_cast<double>(nnz) + 4 * static_cast<double>(n + 1) + 16 * static_cast<double>(n),
               most = triad.bytes() / t[3] * 1e-9;
  const double ours = bytes / t[0] * 1e-9;
  bench::row("spmv, Poisson", ours, most, "GB/s", ours / most, 0.9);
  bench::row("spmv, Poisson, a loop in C++", ours, bytes / t[1] * 1e-9, "GB/s", t[1] / t[0], 1);
  const double streams = bytes / t[2] * 1e-9;
  bench::row("spmv, Poisson, its memory without its gathers", ours, streams, "GB/s", ours / streams, 0);
  bench::row("spmv, Poisson, its memory without its gathers beside the triad", streams, most, "GB/s", streams / most,
             0);
}

void Problem::conjugate_gradients() {
  const int iterations = 50, rounds = 3;
  Graph g("cg");
  Builder b(g, catalog.operators);
  const Value m = b.input(a.type, "a"), right = b.input(f64({n}), "b"), start = b.input(f64({n}), "x0");
  const linalg::Cg r = linalg::cg(m, right, start, {.tolerance = 0, .max_iterations = iterations});
  b.output(r.x, "x");
  b.output(r.iterations, "iterations");
  const runtime::Executable e(device, g, catalog);
  const HostValues in{a, filled(n, 1), filled(n, 0)};
  HostValues out;
  std::vector<double> ours, rival;
  for (int k = 0; k < rounds; ++k) {
    ours.push_back(bench::median_seconds(3, [&] { out = e.run(in, std::move(out)); }) / iterations);
    rival.push_back(petsc_seconds(threads, size, iterations));
  }
  const double t = bench::median(ours), u = bench::median(rival);
  const std::string against =
      u > 0 ? "PETSc, " + std::to_string(threads) + (threads > 1 ? " ranks" : " rank") : "PETSc is absent";
  bench::row("cg + Jacobi, an iteration (" + against + ")", t * 1e3, u * 1e3, "ms", u / t, threads > 1 ? 0.9 : 1.25);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef RLX_BENCH_PETSC
  if (argc == 4 && std::string_view(argv[1]) == "--petsc") return petsc_rank(std::atoi(argv[2]), std::atoi(argv[3]));
#endif
  const bool given = argc > 1 && argv[1][0] != '-';
  Problem p(given ? std::atoi(argv[1]) : 100);
  bench::add("spmv", [&] { p.product(); });
  bench::add("cg", [&] { p.conjugate_gradients(); });
  return bench::run(argc - given, argv + given);
}
