// Functions over Tensor that move, reduce and contract.
#include "api/tensor_support.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <numeric>

namespace rlx {

using detail::axis_of, detail::build1, detail::dims;

namespace {

Axes axes_of(std::string_view function, const Tensor& x, Axes axes) {
  for (int& a : axes) a = axis_of(function, x, a);
  std::sort(axes.begin(), axes.end());
  if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    throw ArgumentError(std::string(function) + ": axis " + std::to_string(*twice) + " of " + to_string(x.type()) +
                        " is given twice");
  return axes;
}

Axes all_axes(const Tensor& x) {
  Axes all(static_cast<std::size_t>(x.rank()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Handles with(const Tensor& first, const Tensors& rest) {
  Handles out{first};
  for (const Tensor& t : rest) out.push_back(t.is_number() ? detail::as_dtype(t, DType::i64) : t);
  return out;
}

}  // namespace

Tensor broadcast(const Tensor& x, Extents shape, Here here) {
  return build1({"broadcast", here}, {x}, [&](ValuesIn v) { return ops::broadcast_to(v[0], dims(shape)); });
}

Tensor reshape(const Tensor& x, Extents shape, Here here) {
  if (const auto open = std::find(shape.begin(), shape.end(), -1); open != shape.end()) {
    const std::int64_t rest = -std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    if (rest <= 0 || x.numel() % rest != 0)
      throw ArgumentError("reshape: no size in place of -1 makes " + to_string(Shape(dims(shape))) + " of " +
                          to_string(x.type()));
    *open = x.numel() / rest;
  }
  return build1({"reshape", here}, {x}, [&](ValuesIn v) { return ops::reshape(v[0], dims(shape)); });
}

Tensor transpose(const Tensor& x, Here here) {
  Axes order = all_axes(x);
  if (order.size() > 1) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, std::move(order), here);
}
Tensor transpose(const Tensor& x, Axes permutation, Here here) {
  for (int& a : permutation) a = axis_of("transpose", x, a);
  return build1({"transpose", here}, {x}, [&](ValuesIn v) { return ops::transpose(v[0], permutation); });
}

Tensor slice(const Tensor& x, Extents start, Extents limit, Extents stride, Here here) {
  return build1({"slice", here}, {x}, [&](ValuesIn v) { return ops::slice(v[0], dims(start), dims(limit), stride); });
}
Tensor slice_axis(const Tensor& x, int axis, std::int64_t start, std::int64_t limit, Here here) {
  return build1({"slice_axis", here}, {x}, [&, at = axis_of("slice_axis", x, axis)](ValuesIn v) {
    return ops::slice_axis(v[0], at, start, limit);
  });
}
Tensor pad(const Tensor& x, const Tensor& with, Extents low, Extents high, Extents interior, Here here) {
  Tensor xs[] = {x, with};
  detail::agree(xs);
  return build1({"pad", here}, {xs[0], xs[1]}, [&](ValuesIn v) { return ops::pad(v[0], v[1], low, high, interior); });
}
Tensor concat(const Tensors& xs, int axis, Here here) {
  if (xs.empty()) throw ArgumentError("concat of no tensors");
  return build1({"concat", here}, Handles(xs.begin(), xs.end()),
                [&, at = axis_of("concat", xs[0], axis)](ValuesIn v) { return ops::concat(v, at); });
}
Tensor stack(const Tensors& xs, int axis, Here here) {
  if (xs.empty()) throw ArgumentError("stack of no tensors");
  const int at = axis < 0 ? axis + xs[0].rank() + 1 : axis;
  if (at < 0 || at > xs[0].rank())
    throw ArgumentError("stack: there is no axis " + std::to_string(axis) + " to put between those of " +
                        to_string(xs[0].type()));
  return build1({"stack", here}, Handles(xs.begin(), xs.end()), [&](ValuesIn v) {
    Values wide;
    for (const Value& x : v) wide.push_back(ops::insert_axis(x, at, 1));
    return ops::concat(wide, at);
  });
}
Tensor reverse(const Tensor& x, Axes axes, Here here) {
  return build1({"reverse", here}, {x},
                [at = axes_of("reverse", x, std::move(axes))](ValuesIn v) { return ops::reverse(v[0], at); });
}
Tensor dynamic_slice(const Tensor& x, const Tensors& start, Extents sizes, Here here) {
  return build1({"dynamic_slice", here}, with(x, start),
                [&](ValuesIn v) { return ops::dynamic_slice(v[0], v.subspan(1), dims(sizes)); });
}
Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const Tensors& start, Here here) {
  Handles in = with(x, start);
  in.push_back(update);
  return build1({"dynamic_update_slice", here}, in,
                [](ValuesIn v) { return ops::dynamic_update_slice(v[0], v.back(), v.subspan(1, v.size() - 2)); });
}

#define RLX_TENSOR_REDUCE(f, op)                                                                                 \
  Tensor f(const Tensor& x, Here here) { return f(x, all_axes(x), false, here); }                                \
  Tensor f(const Tensor& x, Axes axes, bool keep, Here here) {                                                   \
    return build1({#f, here}, {x},                                                                               \
                  [keep, at = axes_of(#f, x, std::move(axes))](ValuesIn v) { return ops::op(v[0], at, keep); }); \
  }
RLX_TENSOR_REDUCE(sum, reduce_sum)
RLX_TENSOR_REDUCE(prod, reduce_prod)
RLX_TENSOR_REDUCE(max, reduce_max)
RLX_TENSOR_REDUCE(min, reduce_min)
RLX_TENSOR_REDUCE(mean, mean)
RLX_TENSOR_REDUCE(var, var)
RLX_TENSOR_REDUCE(logsumexp, logsumexp)
RLX_TENSOR_REDUCE(all, reduce_and)
RLX_TENSOR_REDUCE(any, reduce_or)
#undef RLX_TENSOR_REDUCE

Tensor argmax(const Tensor& x, int axis, Here here) {
  return build1({"argmax", here}, {x}, [at = axis_of("argmax", x, axis)](ValuesIn v) {
    return ops::arg_reduce(v[0], at, ops::Extremum::max);
  });
}
Tensor argmin(const Tensor& x, int axis, Here here) {
  return build1({"argmin", here}, {x}, [at = axis_of("argmin", x, axis)](ValuesIn v) {
    return ops::arg_reduce(v[0], at, ops::Extremum::min);
  });
}
Tensor cumsum(const Tensor& x, int axis, Here here) {
  return build1({"cumsum", here}, {x}, [at = axis_of("cumsum", x, axis)](ValuesIn v) { return ops::cumsum(v[0], at); });
}
Tensor softmax(const Tensor& x, int axis, Here here) {
  return build1({"softmax", here}, {x},
                [at = axis_of("softmax", x, axis)](ValuesIn v) { return ops::softmax(v[0], at); });
}
Tensor log_softmax(const Tensor& x, int axis, Here here) {
  return build1({"log_softmax", here}, {x},
                [at = axis_of("log_softmax", x, axis)](ValuesIn v) { return ops::log_softmax(v[0], at); });
}
Tensor stop_gradient(const Tensor& x, Here here) {
  return build1({"stop_gradient", here}, {x}, [](ValuesIn v) { return ops::stop_gradient(v[0]); });
}
Tensor norm(const Tensor& x, Here here) {
  return build1({"norm", here}, {x},
                [](ValuesIn v) { return ops::sqrt(ops::sum_all(ops::real(ops::mul(v[0], ops::conj(v[0]))))); });
}

Tensor take(const Tensor& x, const Tensor& indices, int axis, Here here) {
  return build1({"take", here}, {x, indices},
                [at = axis_of("take", x, axis)](ValuesIn v) { return ops::take(v[0], v[1], at); });
}
Tensor index_add(const Tensor& x, const Tensor& indices, const Tensor& updates, Here here) {
  return build1({"index_add", here}, {x, indices, updates},
                [](ValuesIn v) { return ops::index_add(v[0], v[1], v[2]); });
}
Tensor sort(const Tensor& x, int axis, Here here) {
  return build1({"sort", here}, {x},
                [at = axis_of("sort", x, axis)](ValuesIn v) { return ops::sort(v, {.axis = at})[0]; });
}

// A vector counts as a row on the left and as a column on the right; the dimension it lacks goes from the result too.
Tensor matmul(const Tensor& x, const Tensor& y, Here here) {
  return build1({"matmul", here}, {x, y}, [](ValuesIn v) {
    const int left = v[0].rank(), right = v[1].rank();
    if (left == 1 && right == 1) return ops::dot(v[0], v[1]);
    if (right == 1) {
      const Value r = ops::matmul(v[0], ops::insert_axis(v[1], 1, 1));
      Shape s = r.shape();
      s.pop_back();
      return ops::reshape(r, s);
    }
    if (left == 1) {
      const Value r = ops::matmul(ops::insert_axis(v[0], 0, 1), v[1]);
      Shape s = r.shape();
      s.erase(s.end() - 2);
      return ops::reshape(r, s);
    }
    return ops::matmul(v[0], v[1]);
  });
}
Tensor dot(const Tensor& x, const Tensor& y, Here here) {
  return build1({"dot", here}, {x, y}, [](ValuesIn v) { return ops::dot(v[0], v[1]); });
}

Tensor random_key(std::uint64_t seed) {
  HostTensor k(DType::u32, {2});
  k.set_u64(0, seed & 0xffffffffu);
  k.set_u64(1, seed >> 32);
  return k;
}
namespace {
template <class F>
Tensor random(const Caller& caller, const Tensor& key, const Tensor& counter, const F& f) {
  const Tensor at = counter.is_number() ? detail::as_dtype(counter, DType::u64) : counter;
  return build1(caller, {key, at}, [&](ValuesIn v) { return f(v[0], v[1]); });
}
}  // namespace
Tensor random_bits(const Tensor& key, const Tensor& counter, Extents shape, Here here) {
  return random({"random_bits", here}, key, counter,
                [&](Value k, Value at) { return ops::rng_bits(k, at, dims(shape)); });
}
Tensor random_uniform(const Tensor& key, const Tensor& counter, Extents shape, DType t, Here here) {
  return random({"random_uniform", here}, key, counter,
                [&](Value k, Value at) { return ops::rng_uniform(k, at, t, dims(shape)); });
}
Tensor random_normal(const Tensor& key, const Tensor& counter, Extents shape, DType t, Here here) {
  return random({"random_normal", here}, key, counter,
                [&](Value k, Value at) { return ops::rng_normal(k, at, t, dims(shape)); });
}

}  // namespace rlx
