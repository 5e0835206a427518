#include "ops/elementwise.hpp"

#include <algorithm>
#include <numeric>

namespace rlx::ops {

Values lead_with_batch(ValuesIn in, std::span<const int> axes, const Dim& size) {
  Values out;
  out.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (axes[i] < 0) {
      out.push_back(insert_axis(in[i], 0, size));
    } else if (axes[i] == 0) {
      out.push_back(in[i]);
    } else {
      std::vector<int> permutation(static_cast<std::size_t>(in[i].rank()));
      std::iota(permutation.begin(), permutation.end(), 0);
      const auto batch = permutation.begin() + axes[i];
      std::rotate(permutation.begin(), batch, batch + 1);
      out.push_back(transpose(in[i], std::move(permutation)));
    }
  }
  return out;
}

Dim bytes_of(DType t, const Dim& count) {
  const int bits = bit_width(t);
  return bits % 8 == 0 ? count * (bits / 8) : floordiv(count * bits + 7, 8);
}

Cost elementwise_cost(const Signature& s, int flops, DType result) {
  const Dim n = s.tensor(0).numel();
  Dim bytes = bytes_of(result, n);
  for (std::size_t i = 0; i < s.size(); ++i) bytes = bytes + bytes_of(s.dtype(i), n);
  return {n * flops, bytes};
}

}  // namespace rlx::ops
