// Access by index, and orders.
#include "compile/index_check.hpp"
#include "compile/sizes/rules.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>
#include <limits>

namespace rlx::compile {

namespace {

bool has_axis(const Axes& axes, std::size_t d) {
  return std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
}

Axes axes_upto(std::size_t rank) {
  Axes all;
  for (std::size_t d = 0; d < rank; ++d) all.push_back(static_cast<int>(d));
  return all;
}

/// The axes of an index array but the one that holds the components of an index.
Axes positions(const SizedNode& n, int vector_dim) {
  Axes out;
  for (int d : axes_upto(n.shape(1).size()))
    if (d != vector_dim) out.push_back(d);
  return out;
}

/// Limits of index components at run time as i64, of the bounded shape of the index array.
Value limits(const SizedNode& n, const std::vector<Dim>& dims, int vector_dim) {
  const Shape shape = n.in[1].shape();
  if (vector_dim >= static_cast<int>(shape.size())) return ops::broadcast(n.value(dims[0]), shape, {});
  Values parts;
  for (const Dim& d : dims) parts.push_back(ops::reshape(n.value(d), {1}));
  return ops::broadcast(parts.size() == 1 ? parts[0] : ops::concat(parts, 0), shape, {vector_dim});
}

/// In checked mode, reports an index beyond its limit at run time as one beyond a constant extent is. `most` are the
/// limits as the program writes them: components of several have no one range.
void watch(const SizedNode& n, std::string_view kind, Value indices, Value limit, const std::vector<Dim>& most) {
  if (!n.checked) return;
  const Value zero = ops::dim_size(n.b, 0), beyond = ops::compare(indices, limit, ops::Direction::gt);
  const Value mark = ops::select(beyond, indices, ops::broadcast(zero, indices.shape(), {}));
  ops::check_within(mark, zero,
                    {.what = std::string(kind),
                     .lower = std::numeric_limits<std::int64_t>::min(),
                     .expected = most.size() == 1 ? index_range(most[0]) : std::string()});
}

/// The value that sorts behind all others, for either order.
Value last_of(Builder& b, DType t, bool descending) {
  if (is_floating(t)) return ops::scalar(b, t, std::numeric_limits<double>::quiet_NaN());
  return neutral_of(b, descending ? ops::Combine::max : ops::Combine::min, t);
}

}  // namespace

Values bound_gather(const SizedNode& n) {
  const auto& a = n.as<ops::GatherAttrs>();
  for (std::size_t d = 0; d < a.slice_sizes.size(); ++d)
    if (n.varies(a.slice_sizes[d]) && !(a.slice_sizes[d] == n.shape(0)[d]))
      throw SizeRefusal{"slices take " + a.slice_sizes[d].to_string() + " of dimension " + n.shape(0)[d].to_string()};
  // Indices in padding point at the first element.
  Value indices = n.masked(1, positions(n, a.index_vector_dim), 0);
  std::vector<Dim> most;
  bool moves = false;
  for (int d : a.start_index_map) {
    const auto i = static_cast<std::size_t>(d);
    most.push_back(n.shape(0)[i] - a.slice_sizes[i]);
    moves = moves || n.varies(most.back());
  }
  if (moves) {
    const Value limit = limits(n, most, a.index_vector_dim);
    indices = ops::convert(indices, DType::i64);
    watch(n, "gather index", indices, limit, most);
    // The limit of an empty operand is below 0; its buffer is not empty, and no result is read.
    indices = ops::min(indices, ops::max(limit, ops::zeros_like(limit)));
  }
  return n.emit(Values{n.in[0], indices});
}

Values bound_scatter(const SizedNode& n) {
  const auto& a = n.as<ops::ScatterAttrs>();
  std::vector<Dim> most;
  std::size_t next = 0;
  bool moves = false;
  std::vector<Dim> window(n.shape(0).size(), 1);
  for (std::size_t d = 0; d < window.size(); ++d)
    if (!has_axis(a.inserted_window_dims, d) && !has_axis(a.input_batching_dims, d))
      window[d] = n.shape(2)[static_cast<std::size_t>(a.update_window_dims[next++])];
  for (std::size_t d = 0; d < window.size(); ++d)
    if (n.varies(window[d]) && !(window[d] == n.shape(0)[d]))
      throw SizeRefusal{"windows put " + window[d].to_string() + " into dimension " + n.shape(0)[d].to_string()};
  for (int d : a.scatter_dims_to_operand_dims) {
    const auto i = static_cast<std::size_t>(d);
    most.push_back(n.shape(0)[i] - window[i]);
    // What a single element writes behind the count becomes padding.
    moves = moves || (n.varies(most.back()) && (n.checked || !(window[i] == 1)));
  }
  const Axes where = positions(n, a.index_vector_dim);
  Value indices = n.in[1];
  if (moves) {
    const Value limit = limits(n, most, a.index_vector_dim);
    const Value given = n.masked(1, where, 0);
    indices = ops::convert(given, DType::i64);
    const Value dropped = ops::full_like(indices, static_cast<double>(ops::dropped_index(DType::i64)));
    watch(n, "scatter index", indices, limit, most);
    // What an i32 says for an update that is dropped is another number as i64.
    const Value mark = ops::full_like(given, static_cast<double>(ops::dropped_index(given.dtype())));
    const Value lands = ops::logical_and(ops::compare(indices, limit, ops::Direction::le),
                                         ops::compare(given, mark, ops::Direction::ne));
    indices = ops::select(lands, indices, dropped);
  }
  if (const Axes padded = n.varying(1, where); !padded.empty()) {
    const auto dropped = static_cast<double>(ops::dropped_index(indices.dtype()));
    indices = ops::select(n.within(n.shape(1), padded), indices, ops::full_like(indices, dropped));
  }
  return n.emit(Values{n.in[0], indices, n.in[2]});
}

// Offsets stop at the count; those in padding too, where their segments are empty.
Values bound_segment_reduce(const SizedNode& n) {
  Value offsets = n.in[1];
  const Value entries = n.value(n.shape(0)[0], offsets.dtype());
  if (n.varies(1, 0)) offsets = n.masked(1, {0}, entries);
  if (n.varies(0, 0)) {
    const Value most = ops::broadcast(entries, offsets.shape(), {});
    watch(n, "segment offset", ops::convert(offsets, DType::i64), ops::convert(most, DType::i64), {n.shape(0)[0]});
    offsets = ops::min(offsets, most);
  }
  return n.emit(Values{n.in[0], offsets});
}

// Stable, so that padding which compares equal to an element stays behind it.
Values bound_sort(const SizedNode& n) {
  const auto& a = n.as<ops::SortAttrs>();
  Values in(n.in.begin(), n.in.end());
  for (std::size_t k = 0; k < static_cast<std::size_t>(a.keys); ++k)
    if (n.varies(k, a.axis))
      in[k] = n.masked(k, {a.axis}, last_of(n.b, in[k].dtype(), !a.descending.empty() && a.descending[k]));
  return n.emit(in);
}

Values bound_top_k(const SizedNode& n) {
  const int last = static_cast<int>(n.shape(0).size()) - 1;
  return n.emit(Values{n.masked(0, {last}, neutral_of(n.b, ops::Combine::max, n.in[0].dtype()))});
}

}  // namespace rlx::compile
