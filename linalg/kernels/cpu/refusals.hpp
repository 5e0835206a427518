// What a sparse factorization refuses, and in which words.
#pragma once
#include <string>

#include "provider.hpp"
#include "sparse_factor.hpp"

namespace rlx::linalg {

void check_square(const std::string& op, std::int64_t rows, std::int64_t cols);

/// `m` is the transpose of the matrix. Throws where no permutation puts entries on the whole diagonal: an empty row or
/// column, or no perfect matching.
template <class T, class Index>
void check_structure(const std::string& op, const SuitesparseTable& table, const CscMatrix<T, Index>& m);

/// Throws what `outcome` says of the transpose of the matrix (of a Hermitian one: the same).
[[noreturn]] void refuse(const std::string& op, std::string_view provider, const FactorOutcome& outcome);

/// Throws where the matrix is singular to working precision.
template <class T>
void check_condition(const std::string& op, const SparseFactor<T>& factor, const FactorOptions& options);

}  // namespace rlx::linalg
