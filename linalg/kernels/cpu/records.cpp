#include "linalg/device_kernels.hpp"

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

constexpr std::string_view here = "linalg/kernels/cpu/records.cpp";

KernelRecord suitesparse(std::string_view name, std::string_view op, std::string_view provider, Launch launch) {
  return {.name = name, .op = op, .provider = provider, .accepts = has_suitesparse, .action = launch, .where = here};
}
KernelRecord lapack(std::string_view name, std::string_view op, Launch launch) {
  return {.name = name, .op = op, .provider = "library:LAPACK", .action = launch, .where = here};
}

Plugin suitesparse_plugin() {
  const SuitesparseStatus& s = suitesparse_status();
  return {"librlx_suitesparse", s.table != nullptr, s.path, s.versions, s.looked_for};
}

std::span<const KernelRecord> records() {
  static const std::array list{
      lapack("cpu.getrf", "linalg.lu", launch_lu),
      lapack("cpu.getrs", "linalg.lu_solve", launch_lu_solve),
      lapack("cpu.potrf", "linalg.cholesky", launch_cholesky),
      lapack("cpu.potrs", "linalg.cholesky_solve", launch_cholesky_solve),
      lapack("cpu.trsm", "linalg.triangular_solve", launch_triangular_solve),
      suitesparse("cpu.sparse_lu", "linalg.sparse_lu", "library:UMFPACK,KLU", launch_sparse_lu),
      suitesparse("cpu.sparse_lu_update", "linalg.sparse_lu_update", "library:UMFPACK,KLU", launch_sparse_lu_update),
      suitesparse("cpu.sparse_lu_solve", "linalg.sparse_lu_solve", "library:UMFPACK,KLU", launch_sparse_solve),
      suitesparse("cpu.cholmod", "linalg.sparse_cholesky", "library:CHOLMOD", launch_sparse_cholesky),
      suitesparse("cpu.cholmod_update", "linalg.sparse_cholesky_update", "library:CHOLMOD",
                  launch_sparse_cholesky_update),
      suitesparse("cpu.cholmod_solve", "linalg.sparse_cholesky_solve", "library:CHOLMOD", launch_sparse_solve),
      suitesparse("cpu.rcond", "linalg.rcond", "library:SuiteSparse", launch_rcond),
  };
  return list;
}

}  // namespace

extern const DeviceKernels cpu_kernels{"cpu", records, suitesparse_plugin};

}  // namespace rlx::linalg
