#include "matmul_made.hpp"

#include <rlx/compile/lir.hpp>

#include <algorithm>

namespace rlx::cpu {
namespace {
constexpr std::int64_t piece = lir::piece_elements;  // what is made before and after what is wanted is less
}

std::int64_t made_bytes(DType in, std::int64_t k, std::int64_t lanes) {
  return byte_size(in, std::max(lanes * (k + 2 * piece), made_depths * (made_columns + 2 * piece)));
}

MadeSource::MadeSource(const MadeOperand& operand, DType dtype, const std::vector<std::int64_t>& lanes,
                       const std::vector<std::int64_t>& depth, std::int64_t k)
    : operand_(operand), dtype_(dtype), lanes_(lanes), depth_(depth) {
  if (!used()) return;
  along_depth_ = depth.size() > 1 && depth[1] == depth[0] + 1;
  pitch_ = (along_depth_ ? k : made_columns) + 2 * piece;
  const auto longest = static_cast<std::size_t>(std::max(k, made_columns));
  for (std::size_t i = 0; i < longest; ++i) {
    each_.push_back(static_cast<std::int64_t>(i));
    pitches_.push_back(static_cast<std::int64_t>(i) * pitch_);
    left_.push_back(along_depth_ ? static_cast<std::int64_t>(longest - i) : 1);
  }
}

void MadeSource::row(std::int64_t at, std::int64_t count, std::byte* to) const {
  const std::int64_t element = bit_width(dtype_) / 8;
  at += start_;
  for (std::int64_t done = 0, n = 0; done < count; done += n) {
    n = std::min(count - done, operand_.row - (at + done) % operand_.row);
    const auto base = reinterpret_cast<std::uintptr_t>(to) - static_cast<std::uintptr_t>(at * element);
    (*operand_.make)(at + done, at + done + n, reinterpret_cast<void*>(base));  // NOLINT: where element 0 would be
  }
}

PackSource MadeSource::make(std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t k,
                            std::byte* scratch) const {
  const std::int64_t element = bit_width(dtype_) / 8;
  std::byte* const start = scratch + piece * element;
  const std::int64_t* const lane = lanes_.data() + first;
  if (!along_depth_)
    for (std::int64_t q = 0; q < k; ++q)
      row(lane[0] + depth_[static_cast<std::size_t>(from + q)], count, start + q * pitch_ * element);
  else
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t q = 0, run = 0; q < k; q += run) {
        const std::int64_t* const at = depth_.data() + from + q;
        for (run = 1; q + run < k && at[run] == at[0] + run;) ++run;
        row(lane[i] + at[0], run, start + (i * pitch_ + q) * element);
      }
  return {start,
          dtype_,
          along_depth_ ? pitches_.data() : each_.data(),
          static_cast<int>(count),
          along_depth_ ? each_.data() : pitches_.data(),
          k,
          !along_depth_,
          left_.data()};
}

}  // namespace rlx::cpu
