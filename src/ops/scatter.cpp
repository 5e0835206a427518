// Repeated indices combine in index order, each step rounded to the dtype of x; with kind set the last one wins. There
// is no wider type for partial results: they are elements of x, and a device would need a second copy of it.
#include "ops/combine.hpp"
#include "ops/indexing.hpp"

namespace rlx::ops {

constexpr Operand scatter_operands[] = {{"x", storable}, {"indices", index_types}, {"updates", storable}};

// The shape of updates: dimensions of indices where update_window_dims does not say otherwise.
static Answer scatter_updates_fit(const ScatterAttrs& a, const Signature& s) {
  const Axes batch = index_batch_dims(s.rank(1), a.index_vector_dim);
  const Axes at = axes_except(s.rank(2), a.update_window_dims);
  Answer all = has_length(at.size(), static_cast<int>(batch.size()), "dimensions of updates outside windows");
  if (all.is_no()) return all;
  for (std::size_t k = 0; k < at.size(); ++k)
    all = std::move(all) && s.equal(s.tensor(2).dim(at[k]), s.tensor(1).dim(batch[k]));
  std::size_t next = 0;
  for (int d = 0; d < s.rank(0); ++d)
    if (!contains(a.inserted_window_dims, d) && !contains(a.input_batching_dims, d))
      all = std::move(all) && s.less_equal(s.tensor(2).dim(a.update_window_dims[next++]), s.tensor(0).dim(d));
  return all;
}

constexpr Constraint<ScatterAttrs> scatter_constraints[] = {
    {"C1", "x and updates have one dtype, which `kind` can combine",
     [](const ScatterAttrs& a, const Signature& s) {
       if (s.dtype(0) != s.dtype(2)) return Answer::no(std::string(name(s.dtype(2))) + " updates");
       return a.kind == Combine::set || (numbers | DTypeSet{DType::boolean}).contains(s.dtype(0))
                  ? can_combine(a.kind, s.dtype(0))
                  : Answer::no("not arithmetic");
     }},
    {"C2",
     "0 <= index_vector_dim <= rank(indices), and scatter_dims_to_operand_dims has an entry for each component of an "
     "index",
     [](const ScatterAttrs& a, const Signature& s) {
       return index_vector_fits(s, a.index_vector_dim, a.scatter_dims_to_operand_dims.size());
     }},
    {"C3",
     "update_window_dims, inserted_window_dims and input_batching_dims ascend; x has as many dimensions as they have "
     "entries",
     [](const ScatterAttrs& a, const Signature& s) {
       return axes_ascending(a.update_window_dims, s.rank(2)) && axes_ascending(a.inserted_window_dims, s.rank(0)) &&
              axes_ascending(a.input_batching_dims, s.rank(0)) &&
              has_length(a.update_window_dims.size() + a.inserted_window_dims.size() + a.input_batching_dims.size(),
                         s.rank(0), "their union");
     }},
    {"C4",
     "input_batching_dims and indices_batching_dims pair distinct dimensions of equal size, not the index vector's",
     [](const ScatterAttrs& a, const Signature& s) {
       return batching_fits(s, a.input_batching_dims, a.indices_batching_dims, a.index_vector_dim);
     }},
    {"C5", "scatter_dims_to_operand_dims names distinct dimensions of x; inserted and mapped ones are no batching ones",
     [](const ScatterAttrs& a, const Signature& s) {
       for (int d : a.input_batching_dims)
         if (contains(a.scatter_dims_to_operand_dims, d) || contains(a.inserted_window_dims, d))
           return Answer::no("dimension " + std::to_string(d));
       return axes_distinct(a.scatter_dims_to_operand_dims, s.rank(0));
     }},
    {"C6", "updates has the dimensions of indices, and windows no greater than x", scatter_updates_fit}};

static Types scatter_infer(const ScatterAttrs&, const Signature& s) { return {tensor(s.dtype(0), s.shape(0))}; }

static HostValues scatter_reference(const ScatterAttrs& a, const ReferenceCall& c) {
  HostTensor y = c.tensor(0);
  const HostTensor &indices = c.tensor(1), &updates = c.tensor(2);
  const auto vector_dim = static_cast<std::size_t>(a.index_vector_dim);
  for_each_position(updates.shape(), [&](const Position& p, std::int64_t i) {
    Position at(indices.shape().size(), 0), to(y.shape().size(), 0), window;
    std::size_t next = 0;
    for (std::size_t d = 0; d < p.size(); ++d) {
      if (contains(a.update_window_dims, static_cast<int>(d))) {
        window.push_back(p[d]);
        continue;
      }
      if (next == vector_dim) ++next;
      at[next++] = p[d];
    }
    next = 0;
    for (std::size_t d = 0; d < to.size(); ++d) {
      const int axis = static_cast<int>(d);
      if (!contains(a.inserted_window_dims, axis) && !contains(a.input_batching_dims, axis)) to[d] = window[next++];
    }
    for (std::size_t k = 0; k < a.input_batching_dims.size(); ++k)
      to[static_cast<std::size_t>(a.input_batching_dims[k])] = at[static_cast<std::size_t>(a.indices_batching_dims[k])];
    for (std::size_t k = 0; k < a.scatter_dims_to_operand_dims.size(); ++k) {
      if (vector_dim < at.size()) at[vector_dim] = static_cast<std::int64_t>(k);
      const auto d = static_cast<std::size_t>(a.scatter_dims_to_operand_dims[k]);
      const std::int64_t index = indices.get_i64(flat(at, indices.shape()));
      to[d] =
          index < -y.shape()[d] || index > y.shape()[d] ? -1 : to[d] + index;  // no overflow: far outside stays outside
    }
    if (!inside(to, y.shape())) return;
    const std::int64_t j = flat(to, y.shape());
    if (a.kind == Combine::set) copy_element(y, j, updates, i);
    else combine_element(a.kind, y, j, updates, i);
  });
  return {y};
}

/// Which updates survive a scatter with kind set: each writes its number, and the last at a place finds its own there.
static Value scatter_winners(Value indices, TensorType updates, const ScatterAttrs& a, Shape x) {
  Builder& b = *indices.builder;
  const Value ids = reshape(iota(b, DType::i64, {element_count(updates.shape)}, 0), updates.shape);
  const Value written = scatter(full(b, DType::i64, x, -1), indices, ids, a);
  return compare(windows(written, indices, a, updates.shape, -1), ids, Direction::eq);
}

/// Where x and where updates attain the extremum, as numbers, and how many do at each place.
struct ScatterTies {
  Value x, updates, count;
};
static ScatterTies scatter_ties(ValuesIn in, Value out, const ScatterAttrs& a) {
  const DType t = out.dtype();
  ScatterAttrs sum = a;
  sum.kind = Combine::add;
  ScatterTies r;
  r.x = convert(compare(in[0], out, Direction::eq), t);
  r.updates = convert(compare(windows(out, in[1], a, in[2].shape(), 0), in[2], Direction::eq), t);
  r.count = scatter(r.x, in[1], r.updates, sum);
  return r;
}

static Values scatter_vjp(const VjpCall<ScatterAttrs>& c) {
  const ScatterAttrs& a = c.attrs;
  const Value t = c.cotangent[0];
  const TensorType updates = c.in[2].tensor();
  Values out(3);
  switch (a.kind) {
    case Combine::add:
      if (c.wanted[0]) out[0] = t;
      if (c.wanted[2]) out[2] = windows(t, c.in[1], a, updates.shape, 0);
      break;
    case Combine::set:
      if (c.wanted[0]) out[0] = scatter(t, c.in[1], zeros(c.b, updates), a);
      if (c.wanted[2])
        out[2] = select(scatter_winners(c.in[1], updates, a, c.in[0].shape()), windows(t, c.in[1], a, updates.shape, 0),
                        zeros(c.b, updates));
      break;
    case Combine::mul:
      if (c.wanted[2])
        refuse_rule("scatter", "vjp",
                    "kind mul has no derivative with respect to updates: it needs the product of the others");
      if (c.wanted[0]) out[0] = mul(t, conj(scatter(full_like(c.in[0], 1), c.in[1], c.in[2], a)));
      break;
    case Combine::min:
    case Combine::max: {
      const ScatterTies ties = scatter_ties(c.in, c.out[0], a);
      const Value share = div(t, max(ties.count, full_like(ties.count, 1)));
      if (c.wanted[0]) out[0] = mul(share, ties.x);
      if (c.wanted[2]) out[2] = mul(windows(share, c.in[1], a, updates.shape, 0), ties.updates);
    }
  }
  return out;
}

static Values scatter_jvp(const JvpCall<ScatterAttrs>& c) {
  if (!c.tangent[0] && !c.tangent[2]) return {Value{}};
  const ScatterAttrs& a = c.attrs;
  const Value x = c.tangent[0] ? c.tangent[0] : zeros_like(c.in[0]);
  const Value u = c.tangent[2] ? c.tangent[2] : zeros_like(c.in[2]);
  if (a.kind == Combine::add || a.kind == Combine::set) return {scatter(x, c.in[1], u, a)};
  if (a.kind == Combine::mul) {
    if (c.tangent[2])
      refuse_rule("scatter", "jvp",
                  "kind mul has no derivative with respect to updates: it needs the product of the others");
    return {mul(x, scatter(full_like(c.in[0], 1), c.in[1], c.in[2], a))};
  }
  const ScatterTies ties = scatter_ties(c.in, c.out[0], a);
  ScatterAttrs sum = a;
  sum.kind = Combine::add;
  return {div(scatter(mul(x, ties.x), c.in[1], mul(u, ties.updates), sum), max(ties.count, full_like(ties.count, 1)))};
}

// Indices alike for all members: the batch runs inside the windows. Otherwise all three are paired.
static Batched scatter_batch(const BatchCall<ScatterAttrs>& c) {
  ScatterAttrs a = c.attrs;
  const bool paired = c.axes[1] >= 0;
  const Value x = lead(c.in[0], c.axes[0], c.size), updates = lead(c.in[2], c.axes[2], c.size);
  const Value indices = paired ? lead(c.in[1], c.axes[1], c.size) : c.in[1];
  a.update_window_dims = shifted(a.update_window_dims);
  a.inserted_window_dims = shifted(a.inserted_window_dims);
  a.input_batching_dims = shifted(a.input_batching_dims);
  a.scatter_dims_to_operand_dims = shifted(a.scatter_dims_to_operand_dims);
  if (paired) {
    a.indices_batching_dims = prepended(0, shifted(a.indices_batching_dims));
    a.input_batching_dims.insert(a.input_batching_dims.begin(), 0);
    ++a.index_vector_dim;
  } else {
    a.update_window_dims.insert(a.update_window_dims.begin(), 0);
  }
  return {{scatter(x, indices, updates, a)}, {0}};
}

// Cut where windows cover x; dimensions that indices address stay whole.
static ShardRule scatter_shard(const ScatterAttrs& a, const Signature& s) {
  ShardRule r = shard_positions(s, scatter_infer(a, s), {});
  r.operands[1].assign(s.shape(1).size(), -1);
  r.operands[2].assign(s.shape(2).size(), -1);
  std::size_t next = 0;
  for (int d = 0; d < s.rank(0); ++d) {
    const bool window = !contains(a.inserted_window_dims, d) && !contains(a.input_batching_dims, d);
    const int from = window ? a.update_window_dims[next++] : -1;
    if (window && s.tensor(2).dim(from) == s.tensor(0).dim(d)) r.operands[2][static_cast<std::size_t>(from)] = d;
    else r.factors[static_cast<std::size_t>(d)].kind = ShardRule::Kind::whole;
  }
  return r;
}
static Cost scatter_cost(const ScatterAttrs&, const Signature& s) {
  return {s.tensor(2).numel(), bytes_of(s.types[0]) * 2 + bytes_of(s.types[1]) + bytes_of(s.types[2])};
}

extern const OpDef<ScatterAttrs> scatter_op{
    .name = "scatter",
    .doc = "x combined with updates at computed places, each step in the dtype of x; an update outside x is dropped.",
    .operands = scatter_operands,
    .constraints = scatter_constraints,
    .infer = scatter_infer,
    .meaning = Primitive<ScatterAttrs>{scatter_reference},
    .vjp = Vjp<ScatterAttrs>{scatter_vjp},
    .jvp = scatter_jvp,
    .batch = scatter_batch,
    .shard = scatter_shard,
    .cost = scatter_cost,
    .samples = []() -> std::vector<Sample<ScatterAttrs>> {
      const auto rows = [](Combine kind) { return ScatterAttrs{{1}, {0}, {}, {}, {0}, 1, kind}; };
      const ScatterAttrs paired{{}, {1}, {0}, {0}, {1}, 1, Combine::add}, window{{0}, {}, {}, {}, {0}, 0, Combine::add};
      const auto with = [&](auto change) {
        ScatterAttrs a = rows(Combine::add);
        change(a);
        return a;
      };
      const SampleOperand x{f64({4, 2})}, u{f64({3, 2})}, i{i32({3}), {2, 0, 2}}, outside{i32({3}), {4, -1, 1}};
      const SampleOperand literal{f32({3}), {1, 2, 3}}, twice{i32({2}), {1, 1}}, five{f32({2}), {5, -7}};
      const auto line = [](Combine kind) { return ScatterAttrs{{}, {0}, {}, {}, {0}, 1, kind}; };
      return {
          sample<ScatterAttrs>({x, i, u}, rows(Combine::add)),
          sample<ScatterAttrs>({x, i, u}, rows(Combine::set)),
          sample<ScatterAttrs>({x, i, u}, rows(Combine::max)),
          sample<ScatterAttrs>({x, outside, u}, rows(Combine::min)),
          sample<ScatterAttrs>({x, i, u}, rows(Combine::mul)).without_gradients(),
          sample<ScatterAttrs>({x, outside, u}, rows(Combine::add)),
          sample<ScatterAttrs>({x, outside, u}, rows(Combine::set)),
          sample<ScatterAttrs>({literal, twice, five}, line(Combine::add)).expects({{1, 0, 3}}).exact(),
          sample<ScatterAttrs>({literal, twice, five}, line(Combine::set)).expects({{1, -7, 3}}).exact(),
          sample<ScatterAttrs>({literal, twice, five}, line(Combine::max)).expects({{1, 5, 3}}).exact(),
          sample<ScatterAttrs>({literal, twice, five}, line(Combine::min)).expects({{1, -7, 3}}).exact(),
          sample<ScatterAttrs>({literal, twice, five}, line(Combine::mul)).expects({{1, -70, 3}}).exact(),
          sample<ScatterAttrs>({{boolean({3}), {1, 1, 0}}, twice, {boolean({2}), {0, 1}}}, line(Combine::min))
              .expects({{1, 0, 0}})
              .exact(),
          sample<ScatterAttrs>({{boolean({3}), {0, 0, 1}}, twice, {boolean({2}), {0, 1}}}, line(Combine::max))
              .expects({{0, 1, 1}})
              .exact(),
          sample<ScatterAttrs>({literal, {i32({2}), {3, -1}}, five}, line(Combine::add)).expects({{1, 2, 3}}).exact(),
          sample<ScatterAttrs>({literal, {i32({1}), {2}}, five}, window).expects({{1, 2, 8}}).exact(),
          sample<ScatterAttrs>({f64({2, 3}), {i32({2, 1}), {2, 0}}, f64({2})}, paired),
          sample<ScatterAttrs>({f64({4, 2}), i32({0}), f64({0, 2})}, rows(Combine::add)),
          sample<ScatterAttrs>({x, i, f32({3, 2})}, rows(Combine::add)).breaking("C1"),
          sample<ScatterAttrs>({c64({4, 2}), i, c64({3, 2})}, rows(Combine::max)).breaking("C1"),
          sample<ScatterAttrs>({x, i, u}, with([](auto& a) { a.index_vector_dim = 2; })).breaking("C2"),
          sample<ScatterAttrs>({x, i, u}, with([](auto& a) { a.update_window_dims = {0, 1}; })).breaking("C3"),
          sample<ScatterAttrs>({f64({2, 3}), i32({3, 1}), f64({3})}, paired).breaking("C4"),
          sample<ScatterAttrs>({f64({2, 3}), i32({2, 1}), f64({2})}, {{}, {1}, {0}, {0}, {0}, 1, Combine::add})
              .breaking("C5"),
          sample<ScatterAttrs>({x, i, f64({4, 2})}, rows(Combine::add)).breaking("C6"),
          sample<ScatterAttrs>({x, i, f64({3, 3})}, rows(Combine::add)).breaking("C6")};
    }};

}  // namespace rlx::ops
