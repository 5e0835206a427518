#include "runtime/narrow.hpp"

#include <rlx/ir/dtype.hpp>

#include <cstring>

namespace rlx::runtime {

HostTensor leading(const HostTensor& x, const std::vector<std::int64_t>& shape) {
  if (shape == x.shape()) return x;
  HostTensor y(x.dtype(), shape);
  if (y.numel() == 0) return y;
  // Dimensions after `cut` are whole, so that elements from there on are one run.
  std::size_t cut = shape.size();
  while (cut > 0 && shape[cut - 1] == x.shape()[cut - 1]) --cut;
  std::int64_t run = 1;
  for (std::size_t d = cut; d < shape.size(); ++d) run *= shape[d];
  run *= shape[cut - 1];
  const bool packed = bit_width(x.dtype()) < 8;
  std::vector<std::int64_t> at(cut - 1, 0);
  for (std::int64_t to = 0; to < y.numel(); to += run) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) from = from * x.shape()[d] + (d < at.size() ? at[d] : 0);
    if (packed)
      for (std::int64_t i = 0; i < run; ++i) y.set_i64(to + i, x.get_i64(from + i));
    else {
      const auto bytes = [&](std::int64_t n) { return static_cast<std::size_t>(byte_size(x.dtype(), n)); };
      std::memcpy(y.mutable_data() + bytes(to), x.data() + bytes(from), bytes(run));
    }
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
  return y;
}

}  // namespace rlx::runtime
