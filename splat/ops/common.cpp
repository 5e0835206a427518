#include "splat/ops/common.hpp"

#include <rlx/transform/vjp.hpp>

namespace rlx::splat {

Answer one_dtype(const Signature& s, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i)
    if (s.dtype(i) != s.dtype(first))
      return Answer::no(std::string(name(s.dtype(i))) + " is not " + std::string(name(s.dtype(first))));
  return true;
}

Answer has_shape(const Signature& s, std::size_t i, const Shape& shape) { return s.same_shape(s.shape(i), shape); }

Answer ends_with(const Signature& s, std::size_t i, const Shape& trailing) {
  const Shape& shape = s.shape(i);
  if (shape.size() < trailing.size()) return Answer::no("rank " + std::to_string(shape.size()));
  Answer a = true;
  for (std::size_t k = 0; k < trailing.size(); ++k)
    a = std::move(a) && s.equal(shape[shape.size() - trailing.size() + k], trailing[k]);
  return a;
}

Value component(Value x, int k) {
  Shape shape = x.shape();
  shape.pop_back();
  return ops::reshape(ops::slice_axis(x, x.rank() - 1, k, k + 1), std::move(shape));
}

Values components(Value x) {
  Values out;
  for (int k = 0; k < static_cast<int>(x.shape().back().constant()); ++k) out.push_back(component(x, k));
  return out;
}

Value stacked(ValuesIn planes) {
  Values columns;
  for (const Value& p : planes) columns.push_back(with_axis(p, p.rank()));
  return ops::concat(columns, planes[0].rank());
}

Value with_axis(Value x, int axis) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, 1);
  return ops::reshape(x, std::move(shape));
}

Value leading(Value x, int axis, const Dim& size) {
  if (axis < 0) return ops::insert_axis(x, 0, size);
  std::vector<int> order{axis};
  for (int d = 0; d < x.rank(); ++d)
    if (d != axis) order.push_back(d);
  return ops::transpose(x, order);
}

Shape with_last(Shape shape, int count, const Shape& trailing) {
  shape.resize(shape.size() - static_cast<std::size_t>(count));
  shape.insert(shape.end(), trailing.begin(), trailing.end());
  return shape;
}

Value bounded(Value x, double limit) { return ops::compare(ops::abs(x), ops::full_like(x, limit), ops::Direction::le); }

double square_limit(DType t) { return t == DType::f32 ? 1e18 : 1e153; }

Values pulled_back(Builder& b, ValuesIn in, ValuesIn cotangents, const std::vector<bool>& wanted,
                   const std::function<Values(Builder&, ValuesIn)>& emit) {
  Graph forward("forward");
  forward.symbols = b.graph().symbols;
  Builder inner(forward, b.registry());
  Values x, arguments(in.begin(), in.end());
  for (const Value& v : in) x.push_back(inner.input(v.type(), "x" + std::to_string(x.size())));
  for (const Value& y : emit(inner, x)) inner.output(y, "y" + std::to_string(forward.outputs().size()));
  std::vector<bool> given;
  for (const Value& c : cotangents) {
    given.push_back(static_cast<bool>(c));
    if (c) arguments.push_back(c);
  }
  const Graph back = transform::vjp(forward, b.registry(), {wanted, given, false});
  const Values pulled = b.inline_region(back, Graph::top, arguments);
  Values out(in.size());
  for (std::size_t i = 0, k = 0; i < in.size(); ++i)
    if (wanted[i]) out[i] = pulled[k++];
  return out;
}

Dim bytes_of(const Type& t) {
  const auto& x = std::get<TensorType>(t);
  return x.numel() * (bit_width(x.dtype) / 8);
}

Cost cost_of(const Signature& s, const Types& results, Dim flops) {
  Dim bytes = 0;
  for (const Type& t : s.types) bytes = bytes + bytes_of(t);
  for (const Type& t : results) bytes = bytes + bytes_of(t);
  return {std::move(flops), std::move(bytes)};
}

}  // namespace rlx::splat
