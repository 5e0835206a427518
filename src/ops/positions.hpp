// Host side of operators that move elements: multi-dimensional positions, and copies of single elements.
#pragma once
#include <rlx/ir/host_tensor.hpp>

#include <cstring>
#include <vector>

namespace rlx::ops {

using Position = std::vector<std::int64_t>;

inline std::int64_t flat(const Position& p, const Position& shape) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + p[d];
  return i;
}
inline bool inside(const Position& p, const Position& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (p[d] < 0 || p[d] >= shape[d]) return false;
  return true;
}
/// Calls f(position, row-major index) for every element, in order.
template <class F>
void for_each_position(const Position& shape, F f) {
  const std::int64_t n = element_count(shape);
  Position p(shape.size(), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    f(static_cast<const Position&>(p), i);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++p[d] < shape[d]) break;
      p[d] = 0;
    }
  }
}

/// to[i] = from[j], bit for bit; both have one dtype.
inline void copy_element(HostTensor& to, std::int64_t i, const HostTensor& from, std::int64_t j) {
  const int bits = bit_width(to.dtype());
  if (bits < 8) return to.set_i64(i, from.get_i64(j));
  const auto size = static_cast<std::size_t>(bits / 8);
  std::memcpy(to.mutable_data() + static_cast<std::size_t>(i) * size, from.data() + static_cast<std::size_t>(j) * size,
              size);
}
/// to[i] = from[j] as `convert` gives it: rounded to nearest even, integers wrap.
inline void convert_element(HostTensor& to, std::int64_t i, const HostTensor& from, std::int64_t j) {
  const DType t = from.dtype();
  if (to.dtype() == t) copy_element(to, i, from, j);
  else if (is_complex(t)) to.set_c128(i, from.get_c128(j));
  else if (is_floating(t)) to.set_f64(i, from.get_f64(j));
  else if (is_signed_integer(t)) to.set_i64(i, from.get_i64(j));
  else to.set_u64(i, from.get_u64(j));
}
inline HostTensor element_of(const HostTensor& from, std::int64_t j) {
  HostTensor t(from.dtype(), {});
  copy_element(t, 0, from, j);
  return t;
}

}  // namespace rlx::ops
