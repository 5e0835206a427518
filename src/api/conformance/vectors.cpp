#include "api/conformance/vectors.hpp"

#include <cmath>
#include <complex>

namespace rlx::conformance {

bool is_smooth(const Type& t) {
  const auto fine = [](DType d) { return d == DType::f64 || d == DType::c128; };
  if (const auto* x = std::get_if<TensorType>(&t)) return !x->quantization && fine(x->dtype);
  const auto* s = std::get_if<SparseType>(&t);
  return s && fine(s->dtype);
}

const HostTensor& elements_of(const HostValue& x) {
  const auto* t = std::get_if<HostTensor>(&x);
  return t ? *t : std::get<HostSparse>(x).values;
}

static HostValue with_elements(const HostValue& x, HostTensor elements) {
  if (std::holds_alternative<HostTensor>(x)) return elements;
  HostSparse s = std::get<HostSparse>(x);
  s.values = std::move(elements);
  return s;
}

double inner(const HostValue& x, const HostValue& y) {
  const HostTensor &a = elements_of(x), &b = elements_of(y);
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += (std::conj(a.get_c128(i)) * b.get_c128(i)).real();
  return sum;
}

double magnitude(const HostValue& x, const HostValue& y) {
  const HostTensor &a = elements_of(x), &b = elements_of(y);
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += std::abs(a.get_c128(i)) * std::abs(b.get_c128(i));
  return sum;
}

HostValue moved(const HostValue& x, double t, const HostValue& v) {
  HostTensor e = elements_of(x);
  for (std::int64_t i = 0; i < e.numel(); ++i) e.set_c128(i, e.get_c128(i) + t * elements_of(v).get_c128(i));
  return with_elements(x, std::move(e));
}

HostValue random_like(const HostValue& x, std::uint64_t seed) {
  Generator g(seed);
  HostTensor e = elements_of(x);
  for (std::int64_t i = 0; i < e.numel(); ++i) set_uniform(e, i, -1, 1, g);
  return with_elements(x, std::move(e));
}

bool all_finite(const HostValue& x) {
  const HostTensor& e = elements_of(x);
  for (std::int64_t i = 0; i < e.numel(); ++i)
    if (!std::isfinite(e.get_c128(i).real()) || !std::isfinite(e.get_c128(i).imag())) return false;
  return true;
}

}  // namespace rlx::conformance
