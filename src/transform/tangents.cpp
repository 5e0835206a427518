#include "transform/tangents.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::transform {
namespace {

Values parts(Value a) { return a.builder->emit("sparse.parts", {a}); }

Value assembled(ValuesIn structure, Value values, const SparseType& t) {
  return values.builder->emit1("sparse.assemble", {structure[0], structure[1], values}, ops::AssembleAttrs{t.shape[1]});
}

bool same_kind(const Type& a, const Type& b) {
  const auto *x = std::get_if<TensorType>(&a), *y = std::get_if<TensorType>(&b);
  return x && y ? x->dtype == y->dtype && x->shape == y->shape : a == b;
}

}  // namespace

Value zeros(Builder& b, DType t, Shape shape) { return ops::full(b, t, std::move(shape), 0); }

Value zero_like(Value like) {
  if (const auto* s = std::get_if<SparseType>(&like.type())) {
    const SparseType t = *s;
    const Values p = parts(like);
    return assembled(p, ops::zeros_like(p[2]), t);
  }
  return ops::zeros_like(like);
}

Value sum(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  if (const auto* s = std::get_if<SparseType>(&a.type())) {
    const SparseType t = *s;
    const Values p = parts(a), q = parts(b);
    return assembled(p, ops::add(p[2], q[2]), t);
  }
  // fp8 is a storage type: there is no sum of it.
  if (const DType t = a.dtype(); float8.contains(t))
    return ops::convert(ops::add(ops::convert(a, DType::f32), ops::convert(b, DType::f32)), t);
  return ops::add(a, b);
}

Values instantiated(ValuesIn ts, ValuesIn likes, const Mask& m) {
  Values out;
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i]) out.push_back(instantiated(ts[i], likes[i]));
  return out;
}

void check_rule(const Node& n, std::string_view rule, ValuesIn given, ValuesIn like) {
  const std::string who = std::string(n.op->name()) + ": its " + std::string(rule) + " rule gave ";
  if (given.size() != like.size())
    throw InternalError(who + std::to_string(given.size()) + " values, expected " + std::to_string(like.size()));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i] && !same_kind(given[i].type(), like[i].type()))
      throw InternalError(who + to_string(given[i].type()) + " for value " + std::to_string(i) + ", which is " +
                          to_string(like[i].type()));
}

}  // namespace rlx::transform
