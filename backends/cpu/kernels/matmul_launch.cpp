// What the records that end in a packed product share.
#include "../thread_pool.hpp"
#include "matmul.hpp"

namespace rlx::cpu {

using emit_llvm::Machine;

void matmul_in(void* workspace, std::int64_t bytes, const Machine& machine, const MatmulProblem& p, const void* a,
               const void* b, void* c, const MatmulKernels& kernels) {
  // The number of threads may have grown since the workspace was planned.
  int threads = default_threads();
  while (threads > 1 &&
         matmul_workspace(machine, p.in, p.out, p.batch(), p.m(), p.n(), p.k(), threads, kernels.makes()) > bytes)
    --threads;
  matmul(machine, p, a, b, c, workspace, threads, kernels);
}

}  // namespace rlx::cpu
