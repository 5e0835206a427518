// Operands of products that a kernel makes in pieces, in scratch memory from which they are packed.
#pragma once
#include "matmul.hpp"
#include "matmul_pack.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rlx::cpu {

/// Columns and depths that are made at a time where the columns of b run in rows, and lanes where the depth does.
constexpr std::int64_t made_columns = 384, made_depths = 64;

/// Bytes of scratch for one thread that makes operands of elements of `in`, to depth `k` and `lanes` lanes at a time.
std::int64_t made_bytes(DType in, std::int64_t k, std::int64_t lanes);

class MadeSource {
 public:
  /// Of a depth of up to `k` at a time.
  MadeSource(const MadeOperand& operand, DType dtype, const std::vector<std::int64_t>& lanes,
             const std::vector<std::int64_t>& depth, std::int64_t k);

  bool used() const { return operand_.make != nullptr; }
  /// Whether rows of the operand run along the depth.
  bool along_depth() const { return along_depth_; }
  /// Element of the operand that the offsets count from.
  void start(std::int64_t element) { start_ = element; }
  /// Makes lanes [first, first + count), at most made_columns where rows run along them, at depths [from, from + k), at
  /// most made_depths there; as a source for packing.
  PackSource make(std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t k, std::byte* scratch) const;

 private:
  void row(std::int64_t at, std::int64_t count, std::byte* to) const;

  MadeOperand operand_;
  DType dtype_;
  const std::vector<std::int64_t>&lanes_, &depth_;
  bool along_depth_ = true;
  std::int64_t pitch_ = 0, start_ = 0;
  std::vector<std::int64_t> each_{}, pitches_{}, left_{};  ///< 0, 1, 2..; multiples of the pitch; k, k - 1, ...
};

}  // namespace rlx::cpu
