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
  HostTensor b;                     ///< [n], or several one after the other, [k, n].
  std::vector<std::int64_t> shape;  ///< Of the file's b, and so of x: [n] or [n, k].
  std::vector<std::string> notes;
  std::int64_t columns() const { return shape.size() == 2 ? shape[1] : 1; }
};
/// b is [n], or [n, k]: a right side in each column; one column of a Matrix Market file, which has no vectors, is [n].
/// A real b of a complex matrix is promoted. For complex matrices a real b with a last dimension of 2, [n, 2] or [n, k,
/// 2], is read as (real, imaginary) pairs. ArgumentError for any other shape, and for element types that do not widen
/// to the matrix's exactly, and where an element is not finite: each names the file.
RightSide read_right_side(const std::string& place, const HostSparse& a);
/// [n, k] of [k, n].
HostTensor transposed(const HostTensor& t);
/// A times ones: the row sums. ArgumentError, which names the matrix's file, where one overflows.
HostTensor row_sums(const HostSparse& a, const std::string& place);

/// Writes x; as pairs, with a last dimension of 2, where x is complex and the format has no such type.
void write_solution(const std::string& place, const HostTensor& x);

}  // namespace rlx::cli
