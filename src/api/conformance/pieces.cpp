#include "api/conformance/pieces.hpp"

namespace rlx::conformance {

namespace {

void copy_element(HostTensor& to, std::int64_t i, const HostTensor& from, std::int64_t j) {
  const DType t = from.dtype();
  if (is_complex(t)) to.set_c128(i, from.get_c128(j));
  else if (is_floating(t)) to.set_f64(i, from.get_f64(j));
  else if (is_signed_integer(t)) to.set_i64(i, from.get_i64(j));
  else to.set_u64(i, from.get_u64(j));
}

/// Copies a slab that is whole in all dimensions but `axis`, where it starts at `first` in the large tensor.
void copy_slab(const HostTensor& large, const HostTensor& small, int axis, std::int64_t first, auto copy) {
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t inner = element_count(std::span(small.shape()).subspan(at + 1)), length = small.shape()[at],
                     whole = large.shape()[at];
  for (std::int64_t j = 0; j < small.numel(); ++j) {
    const std::int64_t outer = j / (length * inner), here = j / inner % length;
    copy((outer * whole + first + here) * inner + j % inner, j);
  }
}

}  // namespace

HostTensor piece_of(const HostTensor& x, int axis, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = end - begin;
  HostTensor piece(x.dtype(), std::move(shape));
  copy_slab(x, piece, axis, begin, [&](std::int64_t i, std::int64_t j) { copy_element(piece, j, x, i); });
  return piece;
}

HostTensor joined(std::span<const HostTensor> pieces, int axis) {
  std::vector<std::int64_t> shape = pieces[0].shape();
  std::int64_t& length = shape[static_cast<std::size_t>(axis)] = 0;
  for (const HostTensor& p : pieces) length += p.shape()[static_cast<std::size_t>(axis)];
  HostTensor out(pieces[0].dtype(), shape);
  std::int64_t first = 0;
  for (const HostTensor& p : pieces) {
    copy_slab(out, p, axis, first, [&](std::int64_t i, std::int64_t j) { copy_element(out, i, p, j); });
    first += p.shape()[static_cast<std::size_t>(axis)];
  }
  return out;
}

}  // namespace rlx::conformance
