#include "ops/indexing.hpp"

#include <algorithm>

namespace rlx::ops {

constexpr Operand gather_operands[] = {{"x", storable}, {"indices", index_types}};
constexpr Constraint<GatherAttrs> gather_constraints[] = {
    {"C1", "0 <= index_vector_dim <= rank(indices), and start_index_map has an entry for each component of an index",
     [](const GatherAttrs& a, const Signature& s) {
       return index_vector_fits(s, a.index_vector_dim, a.start_index_map.size());
     }},
    {"C2",
     "offset_dims, collapsed_slice_dims and operand_batching_dims ascend; x has as many dimensions as they have "
     "entries",
     [](const GatherAttrs& a, const Signature& s) {
       const int batch = s.rank(1) - (a.index_vector_dim < s.rank(1));
       return axes_ascending(a.offset_dims, batch + static_cast<int>(a.offset_dims.size())) &&
              axes_ascending(a.collapsed_slice_dims, s.rank(0)) && axes_ascending(a.operand_batching_dims, s.rank(0)) &&
              has_length(a.offset_dims.size() + a.collapsed_slice_dims.size() + a.operand_batching_dims.size(),
                         s.rank(0), "their union");
     }},
    {"C3",
     "operand_batching_dims and indices_batching_dims pair distinct dimensions of equal size, not the index vector's",
     [](const GatherAttrs& a, const Signature& s) {
       return batching_fits(s, a.operand_batching_dims, a.indices_batching_dims, a.index_vector_dim);
     }},
    {"C4",
     "start_index_map names distinct dimensions of x; collapsed, mapped and batching ones do not overlap with batching "
     "ones",
     [](const GatherAttrs& a, const Signature& s) {
       for (int d : a.operand_batching_dims)
         if (contains(a.start_index_map, d) || contains(a.collapsed_slice_dims, d))
           return Answer::no("dimension " + std::to_string(d));
       return axes_distinct(a.start_index_map, s.rank(0));
     }},
    // A batching dimension may be empty: its partner is too, so that nothing is read.
    {"C5",
     "slice_sizes has an entry for each dimension of x, between 0 and the dimension where that is no batching one",
     [](const GatherAttrs& a, const Signature& s) {
       Answer all = has_length(a.slice_sizes.size(), s.rank(0), "slice_sizes");
       if (all.is_no()) return all;
       for (std::size_t i = 0; i < a.slice_sizes.size(); ++i)
         if (!contains(a.operand_batching_dims, static_cast<int>(i)))
           all = std::move(all) && s.less_equal(0, a.slice_sizes[i]) && s.less_equal(a.slice_sizes[i], s.shape(0)[i]);
       return all;
     }},
    {"C6", "the slice size of collapsed and of batching dimensions is 1", [](const GatherAttrs& a, const Signature& s) {
       Answer all = true;
       for (const Axes* dims : {&a.collapsed_slice_dims, &a.operand_batching_dims})
         for (int d : *dims) all = std::move(all) && s.equal(a.slice_sizes[static_cast<std::size_t>(d)], 1);
       return all;
     }}};

// Offset dimensions stand where offset_dims says, those of indices fill the rest.
static Types gather_infer(const GatherAttrs& a, const Signature& s) {
  Shape batch, offset, shape;
  for (int d : index_batch_dims(s.rank(1), a.index_vector_dim)) batch.push_back(s.tensor(1).dim(d));
  for (int d = 0; d < s.rank(0); ++d)
    if (!contains(a.collapsed_slice_dims, d) && !contains(a.operand_batching_dims, d))
      offset.push_back(a.slice_sizes[static_cast<std::size_t>(d)]);
  std::size_t next_batch = 0, next_offset = 0;
  for (std::size_t i = 0; i < batch.size() + offset.size(); ++i)
    shape.push_back(contains(a.offset_dims, static_cast<int>(i)) ? offset[next_offset++] : batch[next_batch++]);
  return {tensor(s.dtype(0), shape)};
}

static HostValues gather_reference(const GatherAttrs& a, const ReferenceCall& c) {
  const HostTensor &x = c.tensor(0), &indices = c.tensor(1);
  HostTensor y = c.make();
  const auto vector_dim = static_cast<std::size_t>(a.index_vector_dim);
  for_each_position(y.shape(), [&](const Position& p, std::int64_t i) {
    Position at(indices.shape().size(), 0), from(x.shape().size(), 0), size(x.shape().size(), 1);
    std::size_t next_batch = 0, next_offset = 0;
    std::vector<std::int64_t> offset;
    for (std::size_t d = 0; d < p.size(); ++d) {
      if (contains(a.offset_dims, static_cast<int>(d))) {
        offset.push_back(p[d]);
        continue;
      }
      if (next_batch == vector_dim) ++next_batch;
      at[next_batch++] = p[d];
    }
    // Slice extents as the result shows them; what it lacks is 1.
    for (std::size_t d = 0; d < from.size(); ++d) {
      const int axis = static_cast<int>(d);
      if (contains(a.collapsed_slice_dims, axis) || contains(a.operand_batching_dims, axis)) continue;
      size[d] = y.shape()[static_cast<std::size_t>(a.offset_dims[next_offset])];
      from[d] = offset[next_offset++];
    }
    for (std::size_t k = 0; k < a.operand_batching_dims.size(); ++k)
      from[static_cast<std::size_t>(a.operand_batching_dims[k])] =
          at[static_cast<std::size_t>(a.indices_batching_dims[k])];
    for (std::size_t k = 0; k < a.start_index_map.size(); ++k) {
      if (vector_dim < at.size()) at[vector_dim] = static_cast<std::int64_t>(k);
      const auto d = static_cast<std::size_t>(a.start_index_map[k]);
      from[d] += std::clamp<std::int64_t>(indices.get_i64(flat(at, indices.shape())), 0, x.shape()[d] - size[d]);
    }
    copy_element(y, i, x, flat(from, x.shape()));
  });
  return {y};
}

// Adds to the places that were read, which are the clamped ones.
static Values gather_vjp(const VjpCall<GatherAttrs>& c) {
  if (!c.wanted[0]) return {Value{}, Value{}};
  const TensorType x = c.in[0].tensor();
  std::vector<Dim> upper;
  for (int d : c.attrs.start_index_map) upper.push_back(x.dim(d) - c.attrs.slice_sizes[static_cast<std::size_t>(d)]);
  const Value indices = clamp_indices(c.in[1], c.attrs.index_vector_dim, std::vector<Dim>(upper.size(), 0), upper);
  return {scatter(zeros(c.b, x), indices, c.cotangent[0], scatter_of(c.attrs, Combine::add)), Value{}};
}
static Values gather_jvp(const JvpCall<GatherAttrs>& c) {
  return {c.tangent[0] ? gather(c.tangent[0], c.in[1], c.attrs) : Value{}};
}

// A batch of x alone runs inside the slices, one of indices alone is one more of their dimensions, both are paired.
static Batched gather_batch(const BatchCall<GatherAttrs>& c) {
  GatherAttrs a = c.attrs;
  const bool of_x = c.axes[0] >= 0, of_indices = c.axes[1] >= 0;
  const Value x = of_x ? lead(c.in[0], c.axes[0], c.size) : c.in[0];
  const Value indices = of_indices ? lead(c.in[1], c.axes[1], c.size) : c.in[1];
  a.offset_dims = shifted(a.offset_dims);
  if (of_x) {
    a.collapsed_slice_dims = shifted(a.collapsed_slice_dims);
    a.operand_batching_dims = shifted(a.operand_batching_dims);
    a.start_index_map = shifted(a.start_index_map);
    a.slice_sizes.insert(a.slice_sizes.begin(), of_indices ? Dim(1) : c.size);
    if (!of_indices) a.offset_dims.insert(a.offset_dims.begin(), 0);
  }
  if (of_indices) {
    a.indices_batching_dims = shifted(a.indices_batching_dims);
    ++a.index_vector_dim;
  }
  if (of_x && of_indices) {
    a.operand_batching_dims.insert(a.operand_batching_dims.begin(), 0);
    a.indices_batching_dims.insert(a.indices_batching_dims.begin(), 0);
  }
  return {{gather(x, indices, a)}, {0}};
}

// Cut along dimensions of indices, or along slices that cover their dimension.
static ShardRule gather_shard(const GatherAttrs& a, const Signature& s) {
  ShardRule r;
  Axes x(s.shape(0).size(), -1), indices(s.shape(1).size(), -1), y;
  const Axes batch = index_batch_dims(s.rank(1), a.index_vector_dim);
  for (std::size_t i = 0; i < batch.size() + a.offset_dims.size(); ++i) {
    y.push_back(static_cast<int>(i));
    r.factors.emplace_back();
  }
  const Axes at = axes_except(static_cast<int>(y.size()), a.offset_dims);
  for (std::size_t k = 0; k < batch.size(); ++k) indices[static_cast<std::size_t>(batch[k])] = at[k];
  for (std::size_t k = 0; k < a.operand_batching_dims.size(); ++k)
    x[static_cast<std::size_t>(a.operand_batching_dims[k])] =
        indices[static_cast<std::size_t>(a.indices_batching_dims[k])];
  std::size_t next = 0;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const int axis = static_cast<int>(d);
    if (contains(a.collapsed_slice_dims, axis) || contains(a.operand_batching_dims, axis)) continue;
    const int to = a.offset_dims[next++];
    if (a.slice_sizes[d] == s.shape(0)[d]) x[d] = to;
    else r.factors[static_cast<std::size_t>(to)].kind = ShardRule::Kind::whole;
  }
  r.operands = {x, indices};
  r.results = {y};
  return r;
}
static Cost gather_cost(const GatherAttrs& a, const Signature& s) {
  return {0, bytes_of(gather_infer(a, s)[0]) * 2 + bytes_of(s.types[1])};
}

extern const OpDef<GatherAttrs> gather_op{
    .name = "gather",
    .doc = "Slices of x that start at computed indices, which are clamped so that each slice fits.",
    .operands = gather_operands,
    .constraints = gather_constraints,
    .infer = gather_infer,
    .meaning = Primitive<GatherAttrs>{gather_reference},
    .vjp = Vjp<GatherAttrs>{gather_vjp},
    .jvp = gather_jvp,
    .batch = gather_batch,
    .shard = gather_shard,
    .cost = gather_cost,
    .samples = []() -> std::vector<Sample<GatherAttrs>> {
      const GatherAttrs rows{.offset_dims = {1},
                             .collapsed_slice_dims = {0},
                             .start_index_map = {0},
                             .index_vector_dim = 1,
                             .slice_sizes = {1, 2}};
      const GatherAttrs paired{{1}, {}, {0}, {0}, {1}, 1, {1, 2}};
      const auto with = [&](auto change) {
        GatherAttrs a = rows;
        change(a);
        return a;
      };
      const SampleOperand index{i32({3}), Fill::index, 0, 4}, x{f64({4, 2})};
      return {sample<GatherAttrs>({x, index}, rows),
              sample<GatherAttrs>({{f32({3, 2}), {1, 2, 3, 4, 5, 6}}, {i32({4}), {2, 0, 9, -1}}}, rows)
                  .expects({{5, 6, 1, 2, 5, 6, 1, 2}})
                  .exact(),
              sample<GatherAttrs>({{f32({2, 3}), {1, 2, 3, 4, 5, 6}}, {i64({2, 1}), {1, 0}}}, paired)
                  .expects({{2, 3, 4, 5}})
                  .exact(),
              sample<GatherAttrs>({f64({5, 3}), {i32({2, 2}), {1, 2, 4, 0}}}, {{1, 2}, {}, {}, {}, {0, 1}, 1, {2, 2}}),
              sample<GatherAttrs>({f64({3, 4}), {i32({2}), {1, 3}}}, {{0}, {1}, {}, {}, {1}, 1, {3, 1}}),
              sample<GatherAttrs>({x, i32({0})}, rows),
              sample<GatherAttrs>({f64({4, 0}), index}, {{1}, {0}, {}, {}, {0}, 1, {1, 0}}),
              sample<GatherAttrs>({f64({0, 3}), i32({0, 1})}, paired),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.index_vector_dim = 2; })).breaking("C1"),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.start_index_map = {0, 1}; })).breaking("C1"),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.offset_dims = {0, 1}; })).breaking("C2"),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.offset_dims = {2}; })).breaking("C2"),
              sample<GatherAttrs>({f32({2, 3}), i32({3, 1})}, paired).breaking("C3"),
              sample<GatherAttrs>({f32({2, 3}), i32({2, 1})}, {{1}, {}, {0}, {1}, {1}, 1, {1, 2}}).breaking("C3"),
              sample<GatherAttrs>({f32({2, 3}), i32({2, 1})}, {{1}, {}, {0}, {0}, {0}, 1, {1, 2}}).breaking("C4"),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.slice_sizes = {1, 3}; })).breaking("C5"),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.slice_sizes = {1}; })).breaking("C5"),
              sample<GatherAttrs>({x, index}, with([](auto& a) { a.slice_sizes = {2, 2}; })).breaking("C6")};
    }};

}  // namespace rlx::ops
