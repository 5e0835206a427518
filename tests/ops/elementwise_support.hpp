// What the tests of the elementwise primitives share: their operators, tensors from numbers, calls of references.
#pragma once
#include <rlx/ops/register.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace rlx::elementwise_tests {

using Dims = std::vector<std::int64_t>;

inline const Registry& registry() {
  static const Registry r = [] {
    Registry ops;
    ops::register_ops(ops);
    return ops;
  }();
  return r;
}

inline std::vector<const Op*> subjects() {
  std::vector<const Op*> out;
  for (const Op* op : registry().all())
    if (op->has_trait(Trait::elementwise) || op->has_trait(Trait::constant) || op->name() == "iota") out.push_back(op);
  return out;
}

/// Row-major elements, (real, imaginary) pairs of complex ones.
inline std::vector<double> elements(const HostTensor& x) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    v.push_back(x.get_c128(i).real());
    if (is_complex(x.dtype())) v.push_back(x.get_c128(i).imag());
  }
  return v;
}

inline HostTensor make_tensor(DType t, const Dims& shape, const std::vector<double>& v) {
  HostTensor x(t, shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (is_complex(t)) x.set_c128(i, {v.at(2 * k), v.at(2 * k + 1)});
    else x.set_f64(i, v.at(k));
  }
  return x;
}

inline HostTensor fill(const SampleOperand& o, std::mt19937_64& random) {
  const auto& t = std::get<TensorType>(o.type);
  const Dims shape = constant_shape(t.shape);
  const auto n = static_cast<std::size_t>(element_count(shape)) * (is_complex(t.dtype) ? 2 : 1);
  if (!o.literal.empty()) return make_tensor(t.dtype, shape, o.literal);
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double share = o.fill == Fill::distinct ? (static_cast<double>(i) + 0.5) / static_cast<double>(n)
                                                  : std::uniform_real_distribution<>(0, 1)(random);
    v[i] = o.low + (o.high - o.low) * share;
    if (is_integer(t.dtype) || t.dtype == DType::boolean) v[i] = std::floor(v[i] + 0.5);
  }
  if (o.fill == Fill::distinct) std::shuffle(v.begin(), v.end(), random);
  return make_tensor(t.dtype, shape, v);
}

inline HostTensor call(const Op& op, const AnyAttrs& attrs, const std::vector<HostTensor>& in) {
  const HostValues values(in.begin(), in.end());
  Types types;
  for (const HostValue& v : values) types.push_back(type_of(v));
  const Signature s{types};
  op.check(attrs, s);
  const Types results = op.infer(attrs, s);
  HostValues out = op.reference(attrs, {values, results, {}});
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(to_string(type_of(out[0])), to_string(results.at(0))) << op.name();
  return std::get<HostTensor>(out[0]);
}
inline HostTensor call(std::string_view op, const std::vector<HostTensor>& in, const AnyAttrs& attrs = {}) {
  return call(registry().get(op), attrs, in);
}

inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace rlx::elementwise_tests
