#include "linalg/device_kernels.hpp"

#include <rlx/linalg/attributes.hpp>

#include "launch_dense.hpp"
#include "launch_sparse.hpp"
#include "suitesparse_loader.hpp"

#include <array>

namespace rlx::linalg {

namespace {

// The plug-in is asked at resolution, so that an absent one is a refusal in the report and not a failure of the run.
Answer has_suitesparse(const Instance&) {
  const SuitesparseStatus& s = suitesparse_status();
  return s.table ? Answer(true) : Answer::no("librlx_suitesparse is absent: " + s.text());
}

// Where the attributes leave it open, the values decide, so that UMFPACK, on BLAS, may be the one.
Answer may_be_umfpack(const Instance& i) {
  if (i.attrs->as<SparseLuAttrs>().library == LuLibrary::klu) return Answer::no("klu is asked for, which is cpu.klu");
  return has_suitesparse(i);
}
// KLU calls no BLAS: the one to take where the other is not to be had.
Answer may_be_klu(const Instance& i) {
  if (i.attrs->as<SparseLuAttrs>().library == LuLibrary::umfpack) return Answer::no("umfpack is asked for");
  return has_suitesparse(i);
}
// With a factor of LU neither library calls BLAS.
Answer is_of_lu(const Instance& i) {
  if (std::get<ResourceType>(i.signature.types[0]).kind != "sparse_lu") return Answer::no("not a factorization by LU");
  return has_suitesparse(i);
}

constexpr std::string_view here = "linalg/kernels/cpu/records.cpp";

KernelRecord suitesparse(std::string_view name, std::string_view op, std::string_view provider, Launch launch,
                         Answer (*accepts)(const Instance&) = has_suitesparse) {
  return {.name = name, .op = op, .provider = provider, .accepts = accepts, .action = launch, .where = here};
}
/// The bits of its results depend on how many threads BLAS has.
KernelRecord on_blas(KernelRecord r) {
  r.deterministic = false;
  return r;
}
template <class Action>  // Launch or Expand
KernelRecord lapack(std::string_view name, std::string_view op, Action* action) {
  return on_blas({.name = name, .op = op, .provider = "library:LAPACK", .action = action, .where = here});
}

Plugin suitesparse_plugin() {
  const SuitesparseStatus& s = suitesparse_status();
  return {"librlx_suitesparse", s.table != nullptr, s.path, s.versions, s.looked_for};
}

std::span<const KernelRecord> records() {
  constexpr std::string_view lu = "library:UMFPACK,KLU", cholmod = "library:CHOLMOD";
  static const std::array list{
      lapack("cpu.getrf", "linalg.lu", launch_lu),
      lapack("cpu.getrs", "linalg.lu_solve", launch_lu_solve),
      lapack("cpu.potrf", "linalg.cholesky", launch_cholesky),
      lapack("cpu.potrs", "linalg.cholesky_solve", launch_cholesky_solve),
      lapack("cpu.trsm", "linalg.triangular_solve", launch_triangular_solve),
      lapack("cpu.gesv", "linalg.solve", expand_solve),
      lapack("cpu.getrs_of_a", "linalg.solve_by_lu", expand_solve_by_lu),
      lapack("cpu.posv", "linalg.solve_positive_definite", expand_solve_positive_definite),
      lapack("cpu.potrs_of_a", "linalg.solve_by_cholesky", expand_solve_by_cholesky),
      on_blas(suitesparse("cpu.sparse_lu", "linalg.sparse_lu", lu, launch_sparse_lu, may_be_umfpack)),
      on_blas(
          suitesparse("cpu.sparse_lu_update", "linalg.sparse_lu_update", lu, launch_sparse_lu_update, may_be_umfpack)),
      suitesparse("cpu.klu", "linalg.sparse_lu", lu, launch_klu, may_be_klu),
      suitesparse("cpu.klu_update", "linalg.sparse_lu_update", lu, launch_klu_update, may_be_klu),
      suitesparse("cpu.sparse_lu_solve", "linalg.sparse_lu_solve", lu, launch_sparse_solve),
      suitesparse("cpu.rcond_of_lu", "linalg.rcond", lu, launch_rcond, is_of_lu),
      on_blas(suitesparse("cpu.cholmod", "linalg.sparse_cholesky", cholmod, launch_sparse_cholesky)),
      on_blas(
          suitesparse("cpu.cholmod_update", "linalg.sparse_cholesky_update", cholmod, launch_sparse_cholesky_update)),
      on_blas(suitesparse("cpu.cholmod_solve", "linalg.sparse_cholesky_solve", cholmod, launch_sparse_solve)),
      on_blas(suitesparse("cpu.rcond", "linalg.rcond", cholmod, launch_rcond)),
  };
  return list;
}

}  // namespace

extern const DeviceKernels cpu_kernels{"cpu", records, suitesparse_plugin};

}  // namespace rlx::linalg
