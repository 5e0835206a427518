#include "linalg/hermitian.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "linalg/csc_matrix.hpp"
#include "linalg/digits.hpp"

#include <rlx/ir/error.hpp>

namespace rlx::linalg {

template <class T, class Index>
void check_hermitian(const std::string& op, const CsrView<T, Index>& view) {
  const CscMatrix<T> a = to_csc(op, view), t = transposed(a);  // Column j of t is row j of a.
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<double> size(at(a.cols));  // sqrt |a_jj|
  for (std::int64_t j = 0; j < a.cols; ++j)
    for (std::int64_t k = a.start[at(j)]; k < a.start[at(j + 1)]; ++k)
      if (a.row[at(k)] == j) size[at(j)] = std::sqrt(std::abs(a.value[at(k)]));
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::int64_t k = a.start[at(j)], l = t.start[at(j)];
    const std::int64_t k_end = a.start[at(j + 1)], l_end = t.start[at(j + 1)];
    while (k < k_end || l < l_end) {
      const std::int64_t i = std::min(k < k_end ? a.row[at(k)] : a.rows, l < l_end ? t.row[at(l)] : a.rows);
      const T below = k < k_end && a.row[at(k)] == i ? a.value[at(k++)] : T{},
              above = l < l_end && t.row[at(l)] == i ? t.value[at(l++)] : T{};
      const double difference = std::abs(below - conj_of(above));
      if (difference <= 1e-12 * size[at(i)] * size[at(j)]) continue;
      constexpr bool real = std::is_same_v<T, double>;
      throw NumericalError(op, 0,
                           op + ": the matrix is not " + (real ? "symmetric" : "Hermitian") +
                               ", so it is not positive definite: the entry in row " + std::to_string(i + 1) +
                               ", column " + std::to_string(j + 1) + " (counted from 1) and " +
                               (i == j ? "its conjugate"
                                       : std::string(real ? "its mirror image" : "the conjugate of its mirror image")) +
                               " differ by " + digits(difference) + "; both triangles are expected");
    }
  }
}

template void check_hermitian(const std::string&, const CsrView<double, std::int32_t>&);
template void check_hermitian(const std::string&, const CsrView<double, std::int64_t>&);
template void check_hermitian(const std::string&, const CsrView<std::complex<double>, std::int32_t>&);
template void check_hermitian(const std::string&, const CsrView<std::complex<double>, std::int64_t>&);

}  // namespace rlx::linalg
