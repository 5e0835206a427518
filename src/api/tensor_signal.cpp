// Functions over Tensor that transform, convolve, pool and accumulate.
#include <rlx/tensor_signal.hpp>

#include "api/tensor_support.hpp"
#include "ops/combine.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace rlx {

using detail::axis_of, detail::build1;
using ops::FftKind;

namespace {

void require_dtype(std::string_view function, const Tensor& x, DTypeSet allowed) {
  if (!allowed.contains(x.dtype()))
    throw ArgumentError(std::string(function) + ": x is " + to_string(x.type()) + ", expected " + allowed.to_string());
}
constexpr DTypeSet real_signal{DType::f32, DType::f64};

/// The transform along a dimension: the operator's is the last one.
Value fft_along(Value x, int axis, FftKind kind, std::int64_t length) {
  Axes order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  return ops::transpose(ops::fft(ops::transpose(x, order), {kind, length}), order);
}

std::int64_t fft_length(std::string_view function, Value x, int axis) {
  const Dim n = x.tensor().dim(axis);
  if (!n.is_constant())
    throw ArgumentError(std::string(function) + ": axis " + std::to_string(axis) + " of " + to_string(x.type()) +
                        " has a length that only the run knows, and a transform is made for one");
  return n.constant();
}

Tensor complex_fft(const Caller& caller, const Tensor& x, Axes axes, FftKind kind) {
  require_dtype(caller.function, x, real_signal | complex_types);
  for (int& a : axes) a = axis_of(caller.function, x, a);
  for (auto a = axes.begin(); a != axes.end(); ++a)
    if (std::find(axes.begin(), a, *a) != a)
      throw ArgumentError(std::string(caller.function) + ": axis " + std::to_string(*a) + " of " + to_string(x.type()) +
                          " is given twice");
  return build1(caller, {x}, [&](ValuesIn v) {
    Value y = is_complex(v[0].dtype()) ? v[0] : ops::complex(v[0], ops::zeros_like(v[0]));
    for (int a : axes) y = fft_along(y, a, kind, fft_length(caller.function, y, a));
    return y;
  });
}

Axes axes_or_all(const Tensor& x, Axes axes) {
  if (!axes.empty()) return axes;
  axes.resize(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// Windows over the spatial dimensions of x [N, spatial..., C].
ops::ReduceWindowAttrs pool_window(std::string_view function, const Tensor& x, const Pool& p, ops::Combine kind) {
  const std::size_t spatial = p.window.size();
  const auto fits = [&](const Extents& list) { return list.empty() || list.size() == spatial; };
  if (x.rank() < 2 || spatial != static_cast<std::size_t>(x.rank()) - 2 || !fits(p.stride) || !fits(p.low) ||
      !fits(p.high))
    throw ArgumentError(std::string(function) + ": x is " + to_string(x.type()) +
                        ", so window, and stride, low and high unless they are empty, have " +
                        std::to_string(std::max(x.rank() - 2, 0)) + " entries, one a spatial dimension");
  const auto around = [](const Extents& inner, std::int64_t outer) {
    Extents all{outer};
    all.insert(all.end(), inner.begin(), inner.end());
    all.push_back(outer);
    return all;
  };
  const Extents none(spatial, 0);
  return {kind,
          around(p.window, 1),
          around(p.stride.empty() ? p.window : p.stride, 1),
          {},
          around(p.low.empty() ? none : p.low, 0),
          around(p.high.empty() ? none : p.high, 0)};
}

}  // namespace

Tensor fft(const Tensor& x, int axis, Here here) { return complex_fft({"fft", here}, x, {axis}, FftKind::forward); }
Tensor ifft(const Tensor& x, int axis, Here here) { return complex_fft({"ifft", here}, x, {axis}, FftKind::inverse); }
Tensor fftn(const Tensor& x, Axes axes, Here here) {
  return complex_fft({"fftn", here}, x, axes_or_all(x, std::move(axes)), FftKind::forward);
}
Tensor ifftn(const Tensor& x, Axes axes, Here here) {
  return complex_fft({"ifftn", here}, x, axes_or_all(x, std::move(axes)), FftKind::inverse);
}
Tensor rfft(const Tensor& x, int axis, Here here) {
  require_dtype("rfft", x, real_signal);
  return build1({"rfft", here}, {x}, [at = axis_of("rfft", x, axis)](ValuesIn v) {
    return fft_along(v[0], at, FftKind::real_forward, fft_length("rfft", v[0], at));
  });
}
Tensor irfft(const Tensor& x, std::int64_t length, int axis, Here here) {
  require_dtype("irfft", x, complex_types);
  const int at = axis_of("irfft", x, axis);
  const std::int64_t entries = x.dim(at), n = length < 0 ? 2 * (entries - 1) : length;
  if (n < 1 || n / 2 + 1 != entries)
    throw ArgumentError("irfft: " + std::to_string(entries) + " entries of " + to_string(x.type()) +
                        " are not those of a real signal of length " + std::to_string(n) +
                        (n < 1 ? ", which is at least 1" : ", which has " + std::to_string(n / 2 + 1)));
  return build1({"irfft", here}, {x}, [&](ValuesIn v) { return fft_along(v[0], at, FftKind::real_inverse, n); });
}

Tensor conv(const Tensor& input, const Tensor& kernel, ops::ConvAttrs attrs, Here here) {
  return build1({"conv", here}, {input, kernel}, [&](ValuesIn v) { return ops::conv(v[0], v[1], attrs); });
}
Tensor reduce_window(const Tensor& x, ops::ReduceWindowAttrs attrs, Here here) {
  return build1({"reduce_window", here}, {x}, [&](ValuesIn v) { return ops::reduce_window(v[0], attrs); });
}
Tensor max_pool(const Tensor& x, const Pool& pool, Here here) {
  return build1({"max_pool", here}, {x}, [a = pool_window("max_pool", x, pool, ops::Combine::max)](ValuesIn v) {
    return ops::reduce_window(v[0], a);
  });
}
Tensor avg_pool(const Tensor& x, const Pool& pool, bool count_padding, Here here) {
  require_dtype("avg_pool", x, floating | complex_types);
  return build1({"avg_pool", here}, {x}, [&, a = pool_window("avg_pool", x, pool, ops::Combine::add)](ValuesIn v) {
    const Value sums = ops::reduce_window(v[0], a);
    if (!count_padding) return ops::div(sums, ops::reduce_window(ops::full_like(v[0], 1), a));
    const double size = std::accumulate(pool.window.begin(), pool.window.end(), 1.0, std::multiplies<>());
    return ops::div(sums, ops::full_like(sums, size));
  });
}

namespace {

Tensor cumulative(const Caller& caller, const Tensor& x, ops::Combine kind, ops::AssociativeScanAttrs a) {
  a.axis = axis_of(caller.function, x, a.axis);
  return build1(caller, {x}, [&](ValuesIn v) {
    if (const Answer can = ops::can_combine(kind, v[0].dtype()); can.is_no())
      throw ArgumentError(std::string(caller.function) + ": x is " + to_string(v[0].type()) + ": " + can.why);
    const Value neutral = ops::identity(*v[0].builder, kind, v[0].dtype());
    return ops::associative_scan(v, {&neutral, 1}, a,
                                 [&](ValuesIn p) { return Values{ops::combined(kind, p[0], p[1])}; })[0];
  });
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, bool reverse, bool exclusive, Here here) {
  return cumulative({"cumsum", here}, x, ops::Combine::add, {.axis = axis, .reverse = reverse, .exclusive = exclusive});
}
Tensor cumprod(const Tensor& x, int axis, bool reverse, bool exclusive, Here here) {
  return cumulative({"cumprod", here}, x, ops::Combine::mul,
                    {.axis = axis, .reverse = reverse, .exclusive = exclusive});
}
Tensor cummax(const Tensor& x, int axis, bool reverse, Here here) {
  return cumulative({"cummax", here}, x, ops::Combine::max, {.axis = axis, .reverse = reverse});
}
Tensor cummin(const Tensor& x, int axis, bool reverse, Here here) {
  return cumulative({"cummin", here}, x, ops::Combine::min, {.axis = axis, .reverse = reverse});
}

}  // namespace rlx
