// What the records that end in a packed product share.
#include "../thread_pool.hpp"
#include "matmul.hpp"

#include <map>
#include <mutex>

namespace rlx::cpu {

using emit_llvm::Machine;

/// The last word of a target's description is the level; code is made for this processor at that level.
const Machine& machine_of(const Target& t) {
  static std::mutex mutex;
  static auto* const known = new std::map<emit_llvm::Isa, Machine>;
  const emit_llvm::Isa isa = emit_llvm::parse_isa(std::string_view(t.description).substr(t.description.rfind(' ') + 1));
  const std::lock_guard lock(mutex);
  const auto it = known->find(isa);
  return it != known->end() ? it->second : known->emplace(isa, emit_llvm::host_machine(isa)).first->second;
}

void matmul_in(void* workspace, std::int64_t bytes, const Machine& machine, const MatmulProblem& p, const void* a,
               const void* b, void* c, const Epilogue* epilogue) {
  // The number of threads may have grown since the workspace was planned.
  int threads = default_threads();
  while (threads > 1 && matmul_workspace(machine, p.in, p.out, p.batch(), p.m(), p.n(), p.k(), threads) > bytes)
    --threads;
  matmul(machine, p, a, b, c, workspace, threads, epilogue);
}

}  // namespace rlx::cpu
