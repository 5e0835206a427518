// The norm in which forward errors of sparse solves are bounded.
#pragma once
#include "linalg/kernels/cpu/equilibrate.hpp"
#include "shared_matrices.hpp"

namespace rlx::linalg::testing {

/// |D (x - y)| / |D y| with the diagonal D that undoes the scaling of the unknowns: the norm in which the condition of
/// the equilibrated matrix bounds the error.
template <class T>
double equilibrated_difference(const OwnedCsr<T>& a, bool hermitian, std::vector<T> x, std::vector<T> y) {
  const auto scale =
      hermitian ? equilibrate_hermitian(hermitian_upper("test", a.view())) : equilibrate(to_csc("test", a.view())).col;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] /= scale[i];
    y[i] /= scale[i];
  }
  return relative_difference(x, y);
}

}  // namespace rlx::linalg::testing
