// SpMV and conjugate gradients with a Jacobi preconditioner on the 7-point Poisson matrix of N^3 unknowns (argument,
// default 100), against the memory triad and, where PETSc is built in, against its CG on one rank, iteration for
// iteration.
#include "benchmarks/bench.hpp"

#include <rlx/catalog.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <cstdlib>
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
// Seconds an iteration of PETSc's CG with Jacobi, true residual norm, `iterations` of them.
struct Petsc {
  Mat a{};
  Vec x{}, b{};
  KSP ksp{};
  Petsc(const Poisson& p, int iterations) {
    PetscInitializeNoArguments();
    const auto n = static_cast<PetscInt>(p.rows());
    MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, const_cast<PetscInt*>(p.offsets.data()),
                              const_cast<PetscInt*>(p.columns.data()), const_cast<PetscScalar*>(p.values.data()), &a);
    MatCreateVecs(a, &x, &b);
    VecSet(b, 1);
    KSPCreate(PETSC_COMM_SELF, &ksp);
    KSPSetOperators(ksp, a, a);
    KSPSetType(ksp, KSPCG);
    KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
    PC pc{};
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCJACOBI);
    KSPSetTolerances(ksp, 0, 0, PETSC_DEFAULT, iterations);
    KSPSetUp(ksp);
  }
  void solve() {
    VecSet(x, 0);
    KSPSolve(ksp, b, x);
  }
};
#endif

}  // namespace

int main(int argc, char** argv) {
  const Poisson p(argc > 1 ? std::atoi(argv[1]) : 100);
  const HostSparse a = p.host();
  runtime::Catalog catalog = make_catalog();
  linalg::add_to(catalog);
  const auto device = runtime::open_device("cpu");
  const std::int64_t n = p.rows();
  const auto nnz = static_cast<double>(p.values.size());

  {
    Graph g("spmv");
    Builder b(g, catalog.operators);
    const Value m = b.input(a.type, "a");
    b.output(linalg::spmv(m, b.input(f64({n}), "x")), "y");
    const runtime::Executable e(device, g, catalog);
    const HostValues in{a, filled(n, 1)};
    HostValues out;
    const double t = bench::median_seconds(21, [&] { out = e.run(in, std::move(out)); });
    const double rate = (12 * nnz + 4 * static_cast<double>(n + 1) + 16 * static_cast<double>(n)) / t,
                 triad = bench::triad(64u << 20, bench::threads(), 15);
    bench::row("spmv, Poisson", rate * 1e-9, triad * 1e-9, "GB/s", rate / triad, 0.9);
  }
  {
    const int iterations = 50;
    Graph g("cg");
    Builder b(g, catalog.operators);
    const Value m = b.input(a.type, "a"), right = b.input(f64({n}), "b"), start = b.input(f64({n}), "x0");
    const linalg::Cg r = linalg::cg(m, right, start, {.tolerance = 0, .max_iterations = iterations});
    b.output(r.x, "x");
    b.output(r.iterations, "iterations");
    const runtime::Executable e(device, g, catalog);
    const HostValues in{a, filled(n, 1), filled(n, 0)};
    HostValues out;
    const auto ours = [&] { out = e.run(in, std::move(out)); };
#ifdef RLX_BENCH_PETSC
    Petsc rival(p, iterations);
    const bench::Pair t = bench::alternating_seconds(5, ours, [&] { rival.solve(); });
    bench::row("cg + Jacobi, an iteration", t.first / iterations * 1e3, t.second / iterations * 1e3, "ms",
               t.second / t.first, 1.25);
#else
    bench::row("cg + Jacobi, an iteration (PETSc is absent)", bench::median_seconds(5, ours) / iterations * 1e3, 0,
               "ms", 0, 1.25);
#endif
  }
}
