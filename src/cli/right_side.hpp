// Matrices and right sides of `rlx solve`, from files to what linalg::Solver takes.
#pragma once
#include <rlx/ir/host_value.hpp>

#include <string>
#include <vector>

namespace rlx::cli {

/// A csr value of f64 or c128 from a Matrix Market file, or from any other file that holds a dense matrix.
HostSparse read_matrix(const std::string& place);

/// b of the matrix's dtype with one element a row, and what was done to it ("widened from f32").
struct RightSide {
  HostTensor b;
  std::vector<std::string> notes;
};
/// A real b of a complex matrix is promoted. For complex matrices a real b of shape [n, 2] is read as (real, imaginary)
/// pairs. ArgumentError for any other shape, and for element types that do not widen to the matrix's exactly.
RightSide read_right_side(const std::string& place, const HostSparse& a);
/// A times ones: the row sums.
HostTensor row_sums(const HostSparse& a);

/// Writes x; as pairs of shape [n, 2] where x is complex and the format has no such type.
void write_solution(const std::string& place, const HostTensor& x);

}  // namespace rlx::cli
