#include "api/conformance/compare.hpp"

#include "api/conformance/fill.hpp"

#include <rlx/ir/counted.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rlx::conformance {

double unit_of(DType t) {
  switch (real_of(t)) {
    case DType::f64:
      return 0x1p-52;
    case DType::f32:
      return 0x1p-23;
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
      return 0x1p-3;
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return 0x1p-2;
    default:
      return 0;
  }
}

double tolerance(const SampleBase& s, DType t) {
  if (!is_floating(t) && !is_complex(t)) return 0;
  return s.rtol >= 0 ? s.rtol : (bit_width(t) == 8 ? 1 : 8) * unit_of(t);
}

namespace {

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

// Real and imaginary parts in turn; one a number of other types.
std::int64_t part_count(const HostTensor& x) { return x.numel() * (is_complex(x.dtype()) ? 2 : 1); }
double part(const HostTensor& x, std::int64_t i) {
  if (!is_complex(x.dtype())) return x.get_f64(i);
  const auto v = x.get_c128(i / 2);
  return i % 2 ? v.imag() : v.real();
}

std::string integer_difference(const HostTensor& got, const HostTensor& expected) {
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    if (got.get_i64(i) == expected.get_i64(i) && got.get_u64(i) == expected.get_u64(i)) continue;
    const bool large = is_unsigned_integer(got.dtype());
    return "element " + std::to_string(i) + " is " +
           (large ? std::to_string(got.get_u64(i)) : std::to_string(got.get_i64(i))) + ", expected " +
           (large ? std::to_string(expected.get_u64(i)) : std::to_string(expected.get_i64(i)));
  }
  return {};
}

}  // namespace

std::string difference(const HostTensor& got, const HostTensor& expected, double rtol) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape())
    return "result is " + to_string(type_of(got)) + ", expected " + to_string(type_of(expected));
  const DType t = got.dtype();
  if (!is_floating(t) && !is_complex(t)) return integer_difference(got, expected);
  double scale = 0, worst = 0;
  std::int64_t where = -1;
  for (std::int64_t i = 0; i < part_count(expected); ++i)
    if (const double e = part(expected, i); std::isfinite(e)) scale = std::max(scale, std::abs(e));
  for (std::int64_t i = 0; i < part_count(expected); ++i) {
    const double a = part(got, i), e = part(expected, i);
    bool same = a == e && (rtol > 0 || a != 0 || std::signbit(a) == std::signbit(e));
    if (std::isnan(e) && std::isnan(a)) same = true;
    if (same) continue;
    const double error = std::isfinite(a) && std::isfinite(e) ? std::abs(a - e) : INFINITY;
    if (error <= rtol * scale && (rtol > 0 || error > 0)) continue;
    if (where < 0 || error > worst) worst = error, where = i;
  }
  if (where < 0) return {};
  std::string what = (is_complex(t) ? "part " : "element ") + std::to_string(where) + " is " +
                     number(part(got, where)) + ", expected " + number(part(expected, where));
  if (std::isfinite(worst) && scale > 0)
    what += ": off by " + number(worst / scale) + " of the scale, allowed " + number(rtol);
  return what;
}

std::string difference(const HostValue& got, const HostValue& expected, const SampleBase& s) {
  if (got.index() != expected.index())
    return "result is " + to_string(type_of(got)) + ", expected " + to_string(type_of(expected));
  if (const auto* t = std::get_if<HostTensor>(&got))
    return difference(*t, std::get<HostTensor>(expected), tolerance(s, t->dtype()));
  const auto* a = std::get_if<HostSparse>(&got);
  if (!a) return {};
  const auto& e = std::get<HostSparse>(expected);
  if (!(a->type == e.type)) return "result is " + to_string(Type(a->type)) + ", expected " + to_string(Type(e.type));
  if (auto d = difference(a->offsets, e.offsets, 0); !d.empty()) return "row offsets: " + d;
  if (auto d = difference(a->indices, e.indices, 0); !d.empty()) return "column indices: " + d;
  return difference(a->values, e.values, tolerance(s, a->values.dtype()));
}

std::string difference(const HostValues& got, const HostValues& expected, const SampleBase& s) {
  if (got.size() != expected.size())
    return counted(got.size(), "result") + ", expected " + std::to_string(expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (auto d = difference(got[i], expected[i], s); !d.empty())
      return (got.size() > 1 ? "result " + std::to_string(i) + ": " : "") + d;
  return {};
}

std::string literal_difference(const HostValues& all, const SampleBase& s) {
  HostValues got = all;
  std::erase_if(got, [](const HostValue& v) { return std::holds_alternative<HostToken>(v); });
  if (got.size() != s.expect.size())
    return counted(got.size(), "result") + ", the sample states " + std::to_string(s.expect.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto* t = std::get_if<HostTensor>(&got[i]);
    const auto* a = std::get_if<HostSparse>(&got[i]);
    if (!t && !a)
      return "result " + std::to_string(i) + " is " + to_string(type_of(got[i])) + ", which no literal can state";
    const HostTensor& x = t ? *t : a->values;
    const std::string d = difference(x, from_literal(x.dtype(), x.shape(), s.expect[i]), tolerance(s, x.dtype()));
    if (!d.empty()) return (got.size() > 1 ? "result " + std::to_string(i) + ": " : "") + d;
  }
  return {};
}

}  // namespace rlx::conformance
