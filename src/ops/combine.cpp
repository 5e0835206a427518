#include "ops/combine.hpp"

#include "ops/structure.hpp"

#include <cmath>
#include <limits>

namespace rlx::ops {

// Saturating stores give the limits of every integer type.
HostTensor identity_of(Combine kind, DType t) {
  if (kind == Combine::mul) return HostTensor::scalar(t, 1);
  if (kind != Combine::min && kind != Combine::max) return HostTensor::scalar(t, 0);
  const bool high = kind == Combine::min;
  if (t == DType::boolean) return HostTensor::scalar(t, high);
  if (!is_integer(t)) {
    double most = std::numeric_limits<double>::infinity();
    for (std::uint8_t code = 0x7F; std::isnan(round_to(t, most)); --code) most = f8_value(t, code);  // no infinity
    return HostTensor::scalar(t, high ? most : -most);
  }
  const int bits = bit_width(t);
  if (is_unsigned_integer(t)) {
    HostTensor v(t, {});
    v.set_u64(0, high ? UINT64_MAX >> (64 - bits) : 0);
    return v;
  }
  const std::int64_t least = INT64_MIN >> (64 - bits);
  return HostTensor::scalar_i64(t, high ? -(least + 1) : least);
}

Value identity(Builder& b, Combine kind, DType t) { return constant(b, identity_of(kind, t)); }

DType partial_type(Combine kind, DType t) {
  return kind == Combine::add || kind == Combine::mul ? default_accumulator(t) : t;
}

template <class T>
static T apply(Combine kind, T x, T y) {
  if (kind == Combine::set) return y;
  if (kind == Combine::add) return x + y;
  if (kind == Combine::mul) return x * y;
  if constexpr (std::is_same_v<T, std::complex<double>>) throw InternalError("complex numbers have no order");
  else return kind == Combine::min ? minimum(x, y) : maximum(x, y);
}

void combine_element(Combine kind, HostTensor& y, std::int64_t i, const HostTensor& x, std::int64_t j) {
  const DType t = y.dtype();
  if (is_complex(t)) y.set_c128(i, apply(kind, y.get_c128(i), x.get_c128(j)));
  else if (is_floating(t)) y.set_f64(i, apply(kind, y.get_f64(i), x.get_f64(j)));
  else if (is_unsigned_integer(t)) y.set_u64(i, apply(kind, y.get_u64(i), x.get_u64(j)));
  else if (kind == Combine::min || kind == Combine::max || kind == Combine::set)
    y.set_i64(i, apply(kind, y.get_i64(i), x.get_i64(j)));
  else
    y.set_u64(
        i, apply(kind, static_cast<std::uint64_t>(y.get_i64(i)), static_cast<std::uint64_t>(x.get_i64(j))));  // wraps
}

Answer can_combine(Combine kind, DType t) {
  const bool ordered = kind == Combine::min || kind == Combine::max;
  if (is_complex(t) && ordered) return Answer::no("complex numbers have no order");
  if (t == DType::boolean && !ordered && kind != Combine::set)
    return Answer::no("bool is combined by min (and) or max (or)");
  return true;
}

Value combined(Combine kind, Value x, Value y) {
  const bool logical = x.dtype() == DType::boolean;
  switch (kind) {
    case Combine::add:
      return add(x, y);
    case Combine::mul:
      return mul(x, y);
    case Combine::min:
      return logical ? logical_and(x, y) : min(x, y);
    case Combine::max:
      return logical ? logical_or(x, y) : max(x, y);
    case Combine::set:
      break;
  }
  return y;
}

Value product_of_others(Value x, const std::vector<int>& axes) {
  Builder& b = *x.builder;
  Axes order = axes_except(x.rank(), axes);
  order.insert(order.end(), axes.begin(), axes.end());
  const Value moved = transpose(x, order);
  const Shape shape = moved.shape();
  const int kept = x.rank() - static_cast<int>(axes.size());
  Shape rows(shape.begin(), shape.begin() + kept);
  rows.push_back(element_count(Shape(shape.begin() + kept, shape.end())));
  const Value flat_rows = reshape(moved, rows), one = identity(b, Combine::mul, x.dtype());
  const auto product = [&](bool reverse) {
    return associative_scan({&flat_rows, 1}, {&one, 1}, {.axis = kept, .reverse = reverse, .exclusive = true},
                            [](ValuesIn v) { return Values{mul(v[0], v[1])}; })[0];
  };
  return transpose(reshape(mul(product(false), product(true)), shape), inverse_permutation(order));
}

}  // namespace rlx::ops
