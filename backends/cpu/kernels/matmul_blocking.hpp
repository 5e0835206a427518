// How a matrix product is cut into what is packed at a time.
#pragma once
#include "matmul_microkernel.hpp"

#include <rlx/ir/dtype.hpp>

#include <cstdint>

namespace rlx::cpu {

constexpr std::int64_t divided(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }  ///< Rounded up.
constexpr std::int64_t aligned(std::int64_t bytes) { return divided(bytes, 64) * 64; }

/// How one product is cut. Panels of B are packed for all threads; each thread packs blocks of A for itself and keeps
/// them in its L2 while the panels pass. The depth alone decides how sums are formed, hence depends on no cache.
struct Blocking {
  std::int64_t k = 0, n = 0;   ///< Depth and columns packed at a time.
  std::int64_t rows = 0;       ///< Of a thread's block of A, at most; whole strips.
  std::int64_t row_limit = 0;  ///< Rows that `sums` has room for; all where there are none.
  bool sums = false;           ///< C is narrower than the sums, and these are carried from depth to depth.
  int workers = 1;
  std::int64_t panels_bytes = 0, block_bytes = 0, sums_bytes = 0, made_bytes = 0;  ///< block and made: of each worker.
  std::int64_t bytes() const { return panels_bytes + workers * (block_bytes + made_bytes) + sums_bytes; }
};
/// `makes`: an operand is made by a kernel as it is packed.
Blocking blocking(const Microkernel& shape, DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k,
                  int workers, bool makes);

}  // namespace rlx::cpu
