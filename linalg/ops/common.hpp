// What the linear-algebra operators share: constraints on shapes, small builders, references on dense copies.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/linalg/attributes.hpp>
#include <rlx/linalg/build.hpp>
#include <rlx/ops/build.hpp>

#include <complex>
#include <vector>

namespace rlx::linalg {

inline constexpr DTypeSet factorable{DType::f32, DType::f64, DType::c64, DType::c128};  ///< What LAPACK factors.
inline constexpr DTypeSet sparse_factorable{DType::f64, DType::c128};                   ///< What SuiteSparse factors.

/// Operand i is a square matrix: [..., n, n], or csr.
Answer is_square(const Signature& s, std::size_t i);
Answer is_csr(const Signature& s, std::size_t i);
/// Operand i is [..., n] or, with `columns`, [..., n, k] for operand a, matrices [..., n, n].
Answer is_right_side(const Signature& s, std::size_t a, std::size_t i, bool columns);
Answer one_dtype(const Signature& s, std::initializer_list<std::size_t> operands);

/// Shape of a matrix operand, dense or sparse.
const Shape& matrix_shape(const Signature& s, std::size_t i);
DType matrix_dtype(const Signature& s, std::size_t i);

/// The mode that applies the conjugate transpose of what `mode` applies; `conjugate` says that the matrix (or both
/// sides) must be conjugated besides, which only complex matrices under plain transposition need.
struct Adjoint {
  Transpose mode;
  bool conjugate;
};
Adjoint adjoint_of(Transpose mode, DType t);

/// op(a) as a value, a [..., m, n].
Value applied(Value a, Transpose mode);
/// Element `k` of the first dimension (a row), without that dimension; `k` is an i64 scalar.
Value row_of(Value a, Value k);
/// a with row `k` replaced.
Value with_row(Value a, Value row, Value k);
/// The cotangent of a csr matrix from the cotangent of its values.
Value with_values(Value a, Value values);
/// -w_i conj(x_j) at every stored entry (i, j), as a csr matrix of the structure of `a`: the cotangent of `a` in a
/// solve whose adjoint solution is w. With `transposed` the roles of i and j are exchanged. Of several solutions it is
/// the sum; i and j run along their dimension `axis`.
Value solve_cotangent(Value a, Value w, Value x, bool transposed, int axis = 0);

/// Dense row-major copies of references, as complex numbers.
using Dense = std::vector<std::complex<double>>;
/// Of a tensor, or of a csr matrix of f64 or c128, whose offsets and columns must describe one (ArgumentError) and
/// whose entries must be finite (NumericalError): what the kernels of devices refuse, in their words. `op` names the
/// operator.
Dense dense_of(const std::string& op, const HostValue& matrix);
/// x of op(A) x = b by Gaussian elimination with partial pivoting in extended precision; n up to a few hundred.
Dense dense_solve(Dense a, std::int64_t n, Transpose mode, Dense b);
HostTensor tensor_of(const Dense& d, const TensorType& t);

}  // namespace rlx::linalg
