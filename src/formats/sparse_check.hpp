// What a sparse matrix must satisfy before its indices are trusted, and what it takes.
#pragma once
#include <rlx/formats/sparse.hpp>

namespace rlx::formats {

/// ArgumentError on arrays of unequal length, values that are neither f64 nor c128, and indices out of range.
void check_coo(const CooMatrix& m);

/// Bytes that one entry of a CooMatrix takes.
inline std::uint64_t entry_bytes(DType values) { return 16 + static_cast<std::uint64_t>(bit_width(values)) / 8; }

}  // namespace rlx::formats
