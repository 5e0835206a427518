#include "matmul_blocking.hpp"

#include "cache_sizes.hpp"
#include "matmul_made.hpp"
#include "matmul_pack.hpp"

#include <algorithm>

namespace rlx::cpu {

/// Along k in one lane; the sides of C whose sums are kept; of B that is packed at a time.
constexpr std::int64_t depth_bytes = 4096, sums_side = 1024, packed_panels_bytes = 16 << 20;

Blocking blocking(const Microkernel& shape, DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k,
                  int workers, bool makes) {
  Blocking b;
  const Microkernel kernel = shape.for_columns(n);
  const std::int64_t group = kernel.step * kernel.group, groups = divided(std::max<std::int64_t>(k, 1), group);
  b.k = divided(groups, divided(groups, depth_bytes / (kernel.unit_bytes * kernel.group))) * group;
  b.sums = out == in && bit_width(in) < 32 && b.k < k;
  const std::int64_t lane = b.k / kernel.step * kernel.unit_bytes,
                     column_limit = b.sums ? sums_side : packed_panels_bytes / lane;
  b.n = std::min(n, std::max<std::int64_t>(1, column_limit / kernel.nr) * kernel.nr);
  b.row_limit = b.sums ? std::min(m, sums_side) : m;
  b.rows = std::min(divided(m, kernel.mr), std::max<std::int64_t>(1, l2_bytes() / 4 / (lane * kernel.mr))) * kernel.mr;
  b.workers = workers;
  b.panels_bytes = aligned(panel_bytes(kernel, b.k, kernel.nr) * divided(b.n, kernel.nr));
  b.block_bytes = aligned(b.rows / kernel.mr * strip_bytes(kernel, b.k));
  if (b.sums) b.sums_bytes = aligned(b.row_limit * b.n * 4);
  if (makes) b.made_bytes = aligned(made_bytes(in, b.k, std::max(kernel.mr, kernel.nr)));
  return b;
}

}  // namespace rlx::cpu
