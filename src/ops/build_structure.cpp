// Sugar of the operators that are not elementwise.
#include "ops/combine.hpp"
#include "ops/structure.hpp"

#include <algorithm>

namespace rlx::ops {

static Builder& builder_of(ValuesIn xs, const char* op) {
  for (const Value& x : xs)
    if (x) return *x.builder;
  throw ArgumentError(std::string(op) + " needs an operand");
}

// --- Shape.
Value broadcast(Value x, Shape shape, std::vector<int> axes) {
  return x.builder->emit1("broadcast", {x}, BroadcastAttrs{std::move(shape), std::move(axes)});
}
Value broadcast_to(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  const int missing = static_cast<int>(shape.size()) - x.rank();
  if (missing < 0)
    throw ArgumentError("broadcast_to: " + to_string(x.shape()) + " has more dimensions than " + to_string(shape));
  return broadcast(x, std::move(shape), shifted(axes_upto(x.rank()), missing));
}
Value reshape(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  return x.builder->emit1("reshape", {x}, ReshapeAttrs{std::move(shape)});
}
Value transpose(Value x, std::vector<int> permutation) {
  if (permutation == axes_upto(x.rank())) return x;
  return x.builder->emit1("transpose", {x}, TransposeAttrs{std::move(permutation)});
}
Value slice(Value x, std::vector<Dim> start, std::vector<Dim> limit, std::vector<std::int64_t> stride) {
  return x.builder->emit1("slice", {x}, SliceAttrs{std::move(start), std::move(limit), std::move(stride)});
}
Value slice_axis(Value x, int axis, Dim start, Dim limit) {
  std::vector<Dim> from(x.shape().size(), 0), to = x.shape();
  from.at(static_cast<std::size_t>(axis)) = std::move(start);
  to.at(static_cast<std::size_t>(axis)) = std::move(limit);
  return slice(x, std::move(from), std::move(to));
}
Value dynamic_slice(Value x, ValuesIn start, std::vector<Dim> sizes) {
  Values operands{x};
  operands.insert(operands.end(), start.begin(), start.end());
  return x.builder->emit1("dynamic_slice", operands, DynamicSliceAttrs{std::move(sizes)});
}
Value dynamic_update_slice(Value x, Value update, ValuesIn start) {
  Values operands{x, update};
  operands.insert(operands.end(), start.begin(), start.end());
  return x.builder->emit1("dynamic_update_slice", operands);
}
Value pad(Value x, Value with, std::vector<std::int64_t> low, std::vector<std::int64_t> high,
          std::vector<std::int64_t> interior) {
  return x.builder->emit1("pad", {x, with}, PadAttrs{std::move(low), std::move(high), std::move(interior)});
}
Value concat(ValuesIn xs, int axis) { return builder_of(xs, "concat").emit1("concat", xs, AxisAttrs{axis}); }
Value reverse(Value x, std::vector<int> axes) {
  if (axes.empty()) return x;
  return x.builder->emit1("reverse", {x}, AxesAttrs{std::move(axes)});
}
Value insert_axis(Value x, int axis, Dim size) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, std::move(size));
  Axes axes = axes_except(x.rank() + 1, {axis});
  return broadcast(x, std::move(shape), std::move(axes));
}

// --- Reductions.
Values reduce(ValuesIn xs, ValuesIn identities, ReduceAttrs attrs, const RegionBody& combine) {
  Values operands(xs.begin(), xs.end());
  operands.insert(operands.end(), identities.begin(), identities.end());
  return builder_of(xs, "reduce").emit("reduce", operands, std::move(attrs), {&combine, 1});
}
Values reduce(ValuesIn xs, ValuesIn identities, std::vector<int> axes, const RegionBody& combine) {
  return reduce(xs, identities, ReduceAttrs{.axes = std::move(axes)}, combine);
}

static Value keep_axes(Value r, Shape shape, const Axes& axes) {
  for (int d : axes) shape.at(static_cast<std::size_t>(d)) = 1;
  return reshape(r, std::move(shape));
}
static Value reduce_by(Combine kind, Value x, Axes axes, bool keep, DType result = DType::boolean) {
  if (axes.empty()) return result == DType::boolean ? x : convert(x, result);
  std::sort(axes.begin(), axes.end());
  const Shape shape = x.shape();
  const Value neutral = identity(*x.builder, kind, x.dtype());
  ReduceAttrs a{.axes = axes};
  if (result != DType::boolean && result != x.dtype()) a.result = {result};
  const Value r = reduce({&x, 1}, {&neutral, 1}, std::move(a),
                         [kind](ValuesIn v) { return Values{combined(kind, v[0], v[1])}; })[0];
  return keep ? keep_axes(r, shape, axes) : r;
}
Value reduce_sum(Value x, std::vector<int> axes, bool keep, DType result) {
  return reduce_by(Combine::add, x, std::move(axes), keep, result);
}
Value reduce_prod(Value x, std::vector<int> axes, bool keep) {
  return reduce_by(Combine::mul, x, std::move(axes), keep);
}
Value reduce_max(Value x, std::vector<int> axes, bool keep) {
  return reduce_by(Combine::max, x, std::move(axes), keep);
}
Value reduce_min(Value x, std::vector<int> axes, bool keep) {
  return reduce_by(Combine::min, x, std::move(axes), keep);
}
static Value of_bool(Value x, const char* op) {
  if (x.dtype() != DType::boolean)
    throw ArgumentError(std::string(op) + " takes bool, not " + std::string(name(x.dtype())));
  return x;
}
Value reduce_and(Value x, std::vector<int> axes, bool keep) {
  return reduce_min(of_bool(x, "reduce_and"), std::move(axes), keep);
}
Value reduce_or(Value x, std::vector<int> axes, bool keep) {
  return reduce_max(of_bool(x, "reduce_or"), std::move(axes), keep);
}
Value sum_all(Value x) { return reduce_sum(x, axes_upto(x.rank())); }

Value arg_reduce(Value x, int axis, Extremum kind, DType index) {
  return x.builder->emit1("arg_reduce", {x}, ArgReduceAttrs{axis, kind, index});
}
Values associative_scan(ValuesIn xs, ValuesIn identities, AssociativeScanAttrs attrs, const RegionBody& combine) {
  Values operands(xs.begin(), xs.end());
  operands.insert(operands.end(), identities.begin(), identities.end());
  return builder_of(xs, "associative_scan").emit("associative_scan", operands, std::move(attrs), {&combine, 1});
}
Value cumsum(Value x, int axis, bool reverse, bool exclusive) {
  const Value zero = identity(*x.builder, Combine::add, x.dtype());
  return associative_scan({&x, 1}, {&zero, 1}, {.axis = axis, .reverse = reverse, .exclusive = exclusive},
                          [](ValuesIn v) { return Values{add(v[0], v[1])}; })[0];
}
Value segment_reduce(Value data, Value offsets, Combine kind) {
  return data.builder->emit1("segment_reduce", {data, offsets}, SegmentReduceAttrs{kind});
}
Value reduce_window(Value x, ReduceWindowAttrs attrs) {
  return x.builder->emit1("reduce_window", {x}, std::move(attrs));
}

Value sum_to(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  const Shape from = x.shape();
  const int extra = x.rank() - static_cast<int>(shape.size());
  if (extra < 0) throw ArgumentError("sum_to: " + to_string(shape) + " has more dimensions than " + to_string(from));
  Axes summed = axes_upto(extra);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (const std::size_t j = i + static_cast<std::size_t>(extra); shape[i] == 1 && !(from[j] == 1))
      summed.push_back(static_cast<int>(j));
  return reshape(reduce_sum(x, summed), std::move(shape));
}

// --- Access by index.
Value gather(Value x, Value indices, GatherAttrs attrs) {
  return x.builder->emit1("gather", {x, indices}, std::move(attrs));
}
Value scatter(Value x, Value indices, Value updates, ScatterAttrs attrs) {
  return x.builder->emit1("scatter", {x, indices, updates}, std::move(attrs));
}
Value nonzero(Value mask, Dim size, DType index, Dim bound) {
  return mask.builder->emit1("nonzero", {mask}, SizedAttrs{std::move(size), std::move(bound), index});
}
Values repeat(Value counts, Dim size, DType index, Dim bound) {
  return counts.builder->emit("repeat", {counts}, SizedAttrs{std::move(size), std::move(bound), index});
}
Value check_within(Value x, Value limit, CheckWithinAttrs attrs) {
  return x.builder->emit1("check_within", {x, limit}, std::move(attrs));
}
Value take(Value x, Value indices, int axis) {
  const int n = indices.rank();
  // Nothing is read of an empty dimension: a slice of 1 would not fit into it.
  if (x.tensor().dim(axis) == 0 && element_count(indices.shape()) == 0) {
    Shape shape = x.shape();
    const Shape inner = indices.shape();
    const auto at = shape.begin() + axis;
    shape.insert(shape.erase(at), inner.begin(), inner.end());
    return zeros(*x.builder, tensor(x.dtype(), std::move(shape)));
  }
  GatherAttrs g{
      .collapsed_slice_dims = {axis}, .start_index_map = {axis}, .index_vector_dim = n, .slice_sizes = x.shape()};
  g.slice_sizes.at(static_cast<std::size_t>(axis)) = 1;
  for (int d = 0; d < x.rank(); ++d)
    if (d != axis) g.offset_dims.push_back(d < axis ? d : d + n - 1);
  return gather(x, indices, std::move(g));
}
Value index_add(Value x, Value indices, Value updates) {
  ScatterAttrs a{
      .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1, .kind = Combine::add};
  a.update_window_dims = shifted(axes_upto(x.rank() - 1));
  return scatter(x, indices, updates, std::move(a));
}
Values sort(ValuesIn xs, SortAttrs attrs) { return builder_of(xs, "sort").emit("sort", xs, std::move(attrs)); }
Values top_k(Value x, std::int64_t k) { return x.builder->emit("top_k", {x}, TopKAttrs{k}); }

// --- Contractions.
Value dot_general(Value lhs, Value rhs, DotGeneralAttrs attrs) {
  return lhs.builder->emit1("dot_general", {lhs, rhs}, std::move(attrs));
}
Value matmul(Value lhs, Value rhs) {
  const int n = lhs.rank();
  if (n < 2 || rhs.rank() != n)
    throw ArgumentError("matmul takes two matrices or batches of them, not " + to_string(lhs.shape()) + " and " +
                        to_string(rhs.shape()));
  return dot_general(lhs, rhs, {axes_upto(n - 2), axes_upto(n - 2), {n - 1}, {n - 2}});
}
Value dot(Value x, Value y) { return dot_general(x, y, {{}, {}, {0}, {0}}); }
Value ragged_dot(Value lhs, Value rhs, Value group_sizes, RaggedDotAttrs attrs) {
  return lhs.builder->emit1("ragged_dot", {lhs, rhs, group_sizes}, attrs);
}
Value conv(Value input, Value kernel, ConvAttrs attrs) {
  return input.builder->emit1("conv", {input, kernel}, std::move(attrs));
}
Value fft(Value x, FftAttrs attrs) { return x.builder->emit1("fft", {x}, attrs); }

// --- Random numbers.
Value rng_bits(Value key, Value counter, Shape shape) {
  return key.builder->emit1("rng_bits", {key, counter}, RngBitsAttrs{std::move(shape)});
}
Value rng_uniform(Value key, Value counter, DType t, Shape shape) {
  return key.builder->emit1("rng_uniform", {key, counter}, RngRealAttrs{t, std::move(shape)});
}
Value rng_normal(Value key, Value counter, DType t, Shape shape) {
  return key.builder->emit1("rng_normal", {key, counter}, RngRealAttrs{t, std::move(shape)});
}

// --- Control flow.
Values if_(Value predicate, ValuesIn operands, const RegionBody& then_body, const RegionBody& else_body) {
  Values all{predicate};
  all.insert(all.end(), operands.begin(), operands.end());
  const RegionBody bodies[] = {then_body, else_body};
  return predicate.builder->emit("if", all, {}, bodies);
}
Values while_(ValuesIn state, ValuesIn invariants, const RegionBody& condition, const RegionBody& body,
              std::int64_t max_trips) {
  Values all(state.begin(), state.end());
  all.insert(all.end(), invariants.begin(), invariants.end());
  const RegionBody bodies[] = {condition, body};
  return builder_of(all, "while").emit("while", all, WhileAttrs{static_cast<int>(state.size()), max_trips}, bodies);
}
Values scan(ValuesIn state, ValuesIn sequences, ValuesIn invariants, const RegionBody& body, bool reverse) {
  if (sequences.empty() || sequences[0].rank() == 0)
    throw ArgumentError("scan needs a sequence, whose dimension 0 it walks");
  Values all(state.begin(), state.end());
  all.insert(all.end(), sequences.begin(), sequences.end());
  all.insert(all.end(), invariants.begin(), invariants.end());
  const ScanAttrs attrs{static_cast<int>(state.size()), static_cast<int>(sequences.size()), sequences[0].shape()[0],
                        reverse};
  return sequences[0].builder->emit("scan", all, attrs, {&body, 1});
}
Values checkpoint(ValuesIn operands, const RegionBody& body) {
  return builder_of(operands, "checkpoint").emit("checkpoint", operands, {}, {&body, 1});
}
Values barrier(ValuesIn values) { return values.empty() ? Values{} : values[0].builder->emit("barrier", values); }
Value stop_gradient(Value x) { return x.builder->emit1("stop_gradient", {x}); }

// --- Composites that belong to no family.
Value softmax(Value x, int axis) { return x.builder->emit1("softmax", {x}, AxisAttrs{axis}); }
Value log_softmax(Value x, int axis) { return x.builder->emit1("log_softmax", {x}, AxisAttrs{axis}); }
Value logsumexp(Value x, std::vector<int> axes, bool keep) {
  return x.builder->emit1("logsumexp", {x}, MomentAttrs{std::move(axes), keep});
}
Value mean(Value x, std::vector<int> axes, bool keep) {
  return x.builder->emit1("mean", {x}, MomentAttrs{std::move(axes), keep});
}
Value var(Value x, std::vector<int> axes, bool keep, std::int64_t correction) {
  return x.builder->emit1("var", {x}, VarAttrs{std::move(axes), keep, correction});
}
Value dequantize(Value x, DType t) { return x.builder->emit1("dequantize", {x}, DTypeAttrs{t}); }
Value layer_norm(Value x, Value scale, Value bias, double epsilon) {
  return x.builder->emit1("layer_norm", {x, scale, bias}, LayerNormAttrs{epsilon});
}

}  // namespace rlx::ops
