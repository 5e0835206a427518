#include "linalg/host_csr.hpp"

#include "linalg/csc_matrix.hpp"

#include <rlx/linalg/solver.hpp>

#include <algorithm>
#include <memory>
#include <numeric>

namespace rlx::linalg {

namespace {

template <class T>
HostTensor copied(DType t, std::span<const T> from) {
  const auto to = std::make_shared_for_overwrite<T[]>(from.size());
  std::copy(from.begin(), from.end(), to.get());
  return HostTensor::view(t, {static_cast<std::int64_t>(from.size())}, to.get(), to);
}

}  // namespace

template <class T, class Index>
  requires Solvable<T, Index>
HostSparse to_host(const CsrView<T, Index>& a) {
  check_csr("solver", a);
  const auto at = [](auto i) { return static_cast<std::size_t>(i); };
  SparseType type{
      SparseFormat::csr, dtype_of<T>, index_of<Index>, {a.rows, a.cols}, static_cast<std::int64_t>(a.columns.size())};
  if (lines_ascend(a.row_offsets, a.columns))
    return {type, copied(type.index, a.row_offsets), copied(type.index, a.columns), copied(type.dtype, a.values)};
  std::vector<Index> offsets{0}, columns, order;
  std::vector<T> values;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    order.resize(at(a.row_offsets[at(r + 1)] - a.row_offsets[at(r)]));
    std::iota(order.begin(), order.end(), a.row_offsets[at(r)]);
    std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return a.columns[at(i)] < a.columns[at(j)]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto k = at(order[i]);
      if (i > 0 && columns.back() == a.columns[k]) values.back() += a.values[k];
      else columns.push_back(a.columns[k]), values.push_back(a.values[k]);
    }
    offsets.push_back(static_cast<Index>(columns.size()));
  }
  type.entries = static_cast<std::int64_t>(columns.size());
  return {type, copied<Index>(type.index, offsets), copied<Index>(type.index, columns), copied<T>(type.dtype, values)};
}
template RLX_API HostSparse to_host(const CsrView<double, std::int32_t>&);
template RLX_API HostSparse to_host(const CsrView<double, std::int64_t>&);
template RLX_API HostSparse to_host(const CsrView<std::complex<double>, std::int32_t>&);
template RLX_API HostSparse to_host(const CsrView<std::complex<double>, std::int64_t>&);

}  // namespace rlx::linalg
