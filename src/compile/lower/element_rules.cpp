#include "compile/lower/element_rules.hpp"

#include "compile/index_check.hpp"
#include "compile/lower/positions.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ops/attributes/elementwise.hpp>
#include <rlx/ops/attributes/indexing.hpp>
#include <rlx/ops/attributes/shape.hpp>
#include <rlx/ops/attributes/source.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::compile {

Value elementwise_element(Elements& e, const Node& n, const Coordinates& c) {
  Values in;
  for (ValueId v : n.operands) in.push_back(e.at(v, c));
  // What a quantized tensor stores is what its buffer holds.
  if (n.op->name() == "bitcast" && in[0].dtype() == n.attrs.as<ops::DTypeAttrs>().dtype) return in[0];
  return e.builder().emit1(n.op->name(), in, n.attrs);
}

// Only constants whose elements are all the same come here; others have a buffer.
Value constant_element(Elements& e, const Node& n, const Coordinates&) {
  const HostTensor& t = n.attrs.as<ops::ConstantAttrs>().value;
  HostTensor scalar(t.dtype(), {});
  std::copy_n(t.data(), scalar.bytes(), scalar.mutable_data());
  return ops::constant(e.builder(), scalar);
}

Value dim_size_element(Elements& e, const Node& n, const Coordinates&) {
  const auto& a = n.attrs.as<ops::DimSizeAttrs>();
  return ops::convert(e.index().number(Extent(a.size.constant(), a.size.constant() >= 0)), a.dtype);
}

Value iota_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& a = n.attrs.as<ops::IotaAttrs>();
  return ops::convert(e.index().emit(c[static_cast<std::size_t>(a.axis)]), a.dtype);
}

Value broadcast_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& a = n.attrs.as<ops::BroadcastAttrs>();
  const auto shape = e.shape(n.operands[0]);
  if (e.flat()) return e.at(n.operands[0], {Index(0)});  // Flat kernels hold broadcasts of single elements only.
  Coordinates from(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i)
    from[i] = shape[i] == 1 ? Index(0) : c[static_cast<std::size_t>(a.axes[i])];
  return e.at(n.operands[0], from);
}

Value reshape_element(Elements& e, const Node& n, const Coordinates& c) {
  if (e.flat()) return e.at(n.operands[0], c);
  return e.at_linear(n.operands[0], e.index().linear(c, e.shape(n.results[0])));
}

Value transpose_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& p = n.attrs.as<ops::TransposeAttrs>().permutation;
  Coordinates from(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) from[static_cast<std::size_t>(p[i])] = c[i];
  return e.at(n.operands[0], from);
}

Value slice_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& a = n.attrs.as<ops::SliceAttrs>();
  Coordinates from(c.size());
  for (std::size_t i = 0; i < c.size(); ++i)
    from[i] = c[i] * (a.stride.empty() ? 1 : a.stride[i]) + Index(a.start[i].constant());
  return e.at(n.operands[0], from);
}

Index window_start(Elements& e, ValueId start, Extent extent, std::int64_t size) {
  const Value s = ops::convert(e.at(start, e.flat() ? Coordinates{Index(0)} : Coordinates{}), DType::i64);
  return e.index().clamped(s, extent + (1 - size));
}

Value dynamic_slice_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto shape = e.shape(n.operands[0]);
  const auto sizes = e.shape(n.results[0]);
  Coordinates from(c.size());
  for (std::size_t i = 0; i < c.size(); ++i)
    from[i] = c[i] + window_start(e, n.operands[i + 1], Extent::of(shape, i), sizes[i]);
  return e.at(n.operands[0], from);
}

Value pad_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& a = n.attrs.as<ops::PadAttrs>();
  const auto shape = e.shape(n.operands[0]);
  const Value with = e.at(n.operands[1], e.flat() ? Coordinates{Index(0)} : Coordinates{});
  if (element_count(shape) == 0) return with;
  Inside inside(e);
  Coordinates from(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::int64_t step = a.interior.empty() ? 1 : a.interior[i] + 1;
    const Extent stretched((shape[i] - 1) * step + 1, Extent::of(shape, i).is_handed_over);
    from[i] = inside.limited(c[i] + Index(-a.low[i]), stretched);
    if (step == 1) continue;
    const Value between = e.index().emit(e.index().remainder(from[i], step));
    inside.require(ops::compare(between, e.index().number(0), ops::Direction::eq));
    from[i] = e.index().divide(from[i], step);
  }
  return inside.choose(e.at(n.operands[0], from), with);
}

Value concat_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto axis = static_cast<std::size_t>(n.attrs.as<ops::AxisAttrs>().axis);
  Value result;
  std::int64_t start = 0;
  for (ValueId v : n.operands) {
    const std::int64_t extent = e.shape(v)[axis];
    if (element_count(e.shape(v)) == 0) continue;
    Coordinates from = c;
    const Index offset = c[axis] + Index(-start);
    from[axis] = e.index().clamped(offset, extent);
    const Value x = e.at(v, from);
    // Pieces come in order, so a later piece replaces the result where the position has reached it.
    result = result ? ops::select(ops::compare(e.index().emit(c[axis]), e.index().number(start), ops::Direction::lt),
                                  result, x)
                    : x;
    start += extent;
  }
  return result;
}

Value reverse_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto shape = e.shape(n.operands[0]);
  Coordinates from = c;
  for (int axis : n.attrs.as<ops::AxesAttrs>().axes) {
    const auto i = static_cast<std::size_t>(axis);
    from[i] = c[i] * -1 + Index(shape[i] - 1);
  }
  return e.at(n.operands[0], from);
}

Value gather_element(Elements& e, const Node& n, const Coordinates& c) {
  const auto& a = n.attrs.as<ops::GatherAttrs>();
  const auto operand = e.shape(n.operands[0]);
  // Result dimensions are batch ones (which address the index array) and offset ones (which run inside the slice).
  Coordinates batch, offset;
  for (std::size_t d = 0; d < c.size(); ++d) (contains(a.offset_dims, d) ? offset : batch).push_back(c[d]);
  const IndexVectors vectors(e, n.operands[1], a.index_vector_dim, std::move(batch));
  Coordinates from(operand.size());
  std::size_t next = 0;
  for (std::size_t d = 0; d < operand.size(); ++d)
    if (!contains(a.collapsed_slice_dims, d) && !contains(a.operand_batching_dims, d)) from[d] = offset[next++];
  for (std::size_t k = 0; k < a.operand_batching_dims.size(); ++k)
    from[static_cast<std::size_t>(a.operand_batching_dims[k])] = vectors.coordinate(a.indices_batching_dims[k]);
  for (std::size_t k = 0; k < a.start_index_map.size(); ++k) {
    const auto d = static_cast<std::size_t>(a.start_index_map[k]);
    const Extent room = Extent::of(operand, d) + (1 - a.slice_sizes[d].constant());
    const Value start = vectors.component(k);
    if (e.checked()) {
      Builder& b = e.builder();
      const Value low = ops::compare(start, e.index().number(0), ops::Direction::ge);
      const Value high = ops::compare(start, e.index().number(room), ops::Direction::lt);
      b.emit("lir.check", {b.emit1("and", {low, high}), start},
             index_check("gather index", n, index_range(room.value - 1)));
    }
    from[d] = from[d] + e.index().clamped(start, room);
  }
  return e.at(n.operands[0], from);
}

}  // namespace rlx::compile
