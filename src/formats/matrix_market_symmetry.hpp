// From the one triangle that a symmetric file lists to both.
#pragma once
#include <rlx/formats/sparse.hpp>

#include <complex>
#include <cstdint>
#include <optional>

namespace rlx::formats {

/// The mirror image of a stored value: x, -x or its conjugate.
double mirrored(double value, MatrixSymmetry symmetry);
std::complex<double> mirrored(std::complex<double> value, MatrixSymmetry symmetry);

/// Adds the mirror image of every entry off the diagonal. `both` says that entries of the upper triangle are among
/// them: then an entry and its mirror are reconciled first. Returns the number of an entry of the upper triangle
/// whose mirror has another value, in which case the matrix is left as it was.
std::optional<std::int64_t> expand_triangle(CooMatrix& matrix, bool both);

}  // namespace rlx::formats
