#include "runtime/index_checks.hpp"

#include "compile/count_check.hpp"
#include "compile/index_check.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/indexing.hpp>
#include <rlx/ops/attributes/reduction.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace rlx::runtime {
namespace {

bool contains(const std::vector<int>& list, int d) { return std::find(list.begin(), list.end(), d) != list.end(); }

/// Component k of an index vector must lie in [0, room[k]), or be `meant`.
CheckReport first_outside(const Node& n, const char* kind, const HostTensor& indices, int vector_dim,
                          const std::vector<std::int64_t>& room, std::optional<std::int64_t> meant = {}) {
  std::int64_t stride = 1;  // between the components of a vector
  for (std::size_t d = static_cast<std::size_t>(vector_dim) + 1; d < indices.shape().size(); ++d)
    stride *= indices.shape()[d];
  const auto components = static_cast<std::int64_t>(room.size());
  for (std::int64_t i = 0; i < indices.numel(); ++i) {
    const std::int64_t index = indices.get_i64(i);
    if (index == meant) continue;
    const std::int64_t within = room[static_cast<std::size_t>(i / stride % components)];
    if (index < 0 || index >= within) return {compile::index_check(kind, n, compile::index_range(within - 1)), index};
  }
  return {};
}

CheckReport check_gather(const Node& n, const ops::GatherAttrs& a, const HostTensor& x, const HostTensor& indices) {
  std::vector<std::int64_t> room;
  for (int d : a.start_index_map)
    room.push_back(x.shape()[static_cast<std::size_t>(d)] - a.slice_sizes[static_cast<std::size_t>(d)].constant() + 1);
  return room.empty() ? CheckReport{} : first_outside(n, "gather index", indices, a.index_vector_dim, room);
}

CheckReport check_scatter(const Node& n, const ops::ScatterAttrs& a, const HostTensor& x, const HostTensor& indices,
                          const HostTensor& updates) {
  std::vector<std::int64_t> window(x.shape().size(), 1);
  std::size_t next = 0;
  for (std::size_t d = 0; d < window.size(); ++d)
    if (!contains(a.inserted_window_dims, static_cast<int>(d)) && !contains(a.input_batching_dims, static_cast<int>(d)))
      window[d] = updates.shape()[static_cast<std::size_t>(a.update_window_dims[next++])];
  std::vector<std::int64_t> room;
  for (int d : a.scatter_dims_to_operand_dims)
    room.push_back(x.shape()[static_cast<std::size_t>(d)] - window[static_cast<std::size_t>(d)] + 1);
  return room.empty() ? CheckReport{}
                      : first_outside(n, "scatter index", indices, a.index_vector_dim, room,
                                      ops::dropped_index(indices.dtype()));
}

/// Offsets [segments + 1] into `rows` rows.
CheckReport check_segments(const Node& n, const HostTensor& offsets, std::int64_t rows) {
  if (CheckReport outside = first_outside(n, "segment offset", offsets, offsets.rank(), {rows + 1}); outside.refused())
    return outside;
  for (std::int64_t i = 1; i < offsets.numel(); ++i)
    if (const std::int64_t end = offsets.get_i64(i); end < offsets.get_i64(i - 1))
      return {compile::index_check("segment offset", n, std::string(compile::ascending)), end};
  return {};
}

CheckReport check_groups(const Node& n, const HostTensor& sizes, std::int64_t rows) {
  std::int64_t left = rows;
  for (std::int64_t i = 0; i < sizes.numel(); ++i) {
    const std::int64_t size = sizes.get_i64(i);
    if (size < 0 || size > left) return {compile::group_size_check(n, rows), size};
    left -= size;
  }
  return {};
}

CheckReport check_counts(const Node& n, const HostTensor& counts) {
  for (std::int64_t i = 0; i < counts.numel(); ++i)
    if (const std::int64_t count = counts.get_i64(i); count < 0) return {compile::repeat_count_check(n), count};
  return {};
}

// What dispatch, or a pass before it, says of indices and counts of a node that is not there any more. A check of a
// size says so itself.
CheckReport check_limit(const Node& n, const ops::CheckWithinAttrs& a, const HostTensor& x, std::int64_t limit) {
  for (std::int64_t i = 0; i < x.numel() && a.of.empty(); ++i)
    if (const std::int64_t v = x.get_i64(i); v < a.lower || v > limit)
      return {compile::index_check(a.what, n, a.expected), v};
  return {};
}

bool empty(const Type& t) { return std::get<TensorType>(t).numel().constant() == 0; }

}  // namespace

CheckReport check_indices(const Node& n, std::span<const HostValue> in, std::span<const Type> results) {
  const auto tensor = [&](std::size_t i) -> const HostTensor& { return std::get<HostTensor>(in[i]); };
  // Where nothing is read or written no index is looked at.
  if (const auto* a = n.attrs.get_if<ops::GatherAttrs>())
    return empty(results[0]) ? CheckReport{} : check_gather(n, *a, tensor(0), tensor(1));
  if (const auto* a = n.attrs.get_if<ops::ScatterAttrs>())
    return tensor(2).numel() == 0 ? CheckReport{} : check_scatter(n, *a, tensor(0), tensor(1), tensor(2));
  if (n.attrs.get_if<ops::SegmentReduceAttrs>())
    return empty(results[0]) ? CheckReport{} : check_segments(n, tensor(1), tensor(0).shape()[0]);
  if (n.op->name() == "ragged_dot") return check_groups(n, tensor(2), tensor(0).shape()[0]);
  if (n.op->name() == "repeat") return check_counts(n, tensor(0));
  if (const auto* a = n.attrs.get_if<ops::CheckWithinAttrs>())
    return check_limit(n, *a, tensor(0), tensor(1).get_i64(0));
  return {};
}

}  // namespace rlx::runtime
