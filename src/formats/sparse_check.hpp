// What a sparse matrix must satisfy before its indices are trusted.
#pragma once
#include <rlx/formats/sparse.hpp>

namespace rlx::formats {

/// ArgumentError on arrays of unequal length, values that are neither f64 nor c128, and indices out of range.
void check_coo(const CooMatrix& m);

}  // namespace rlx::formats
