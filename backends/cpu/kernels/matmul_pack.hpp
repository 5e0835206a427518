// Copies parts of matrices into the order in which the microkernel reads them.
#pragma once
#include "matmul_microkernel.hpp"

#include <rlx/ir/dtype.hpp>

#include <cstdint>
#include <vector>

namespace rlx::cpu {

/// Elements that make one strip of A (lanes: rows) or some panels of B (lanes: columns).
struct PackSource {
  const void* base = nullptr;
  DType dtype = DType::f32;
  const std::int64_t* lanes = nullptr;  ///< Offsets of the lanes from `base`, in elements.
  int count = 0;                        ///< Lanes there are; the rest of the last strip or panel is zeros.
  const std::int64_t* depth = nullptr;  ///< Offsets along k.
  std::int64_t k = 0;
  bool lanes_adjacent = false;         ///< lanes[i] == lanes[0] + i.
  const std::int64_t* runs = nullptr;  ///< depth[i + e] == depth[i] + e for e < runs[i].
};

/// PackSource::lanes_adjacent and PackSource::runs of such offsets.
bool adjacent(const std::int64_t* offsets, std::int64_t count);
std::vector<std::int64_t> runs(const std::vector<std::int64_t>& offsets);

/// Units of `k` elements, padded to whole groups.
std::int64_t packed_units(const Microkernel& m, std::int64_t k);
/// Bytes of one strip, of one panel of `width` columns; the latter a multiple of the register's.
std::int64_t strip_bytes(const Microkernel& m, std::int64_t k);
std::int64_t panel_bytes(const Microkernel& m, std::int64_t k, int width);
/// [units][mr or width][step] elements, zeros after k; B's panels of i8_quads start with -128 times their columns'
/// sums. The last panel is as narrow as Microkernel::width allows.
void pack_strip(const Microkernel& m, const PackSource& s, void* to);
/// `s` holds depths [from, from + s.k) of `k`; `from` is a multiple of the elements of a group, and pieces come in
/// order.
void pack_panels(const Microkernel& m, const PackSource& s, void* to, std::int64_t from, std::int64_t k);
inline void pack_panels(const Microkernel& m, const PackSource& s, void* to) { pack_panels(m, s, to, 0, s.k); }

}  // namespace rlx::cpu
