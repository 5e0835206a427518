// Every elementwise operator on every dtype that it accepts, at every instruction level, against its reference.
#include "scalar_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace rlx::testing_kernels {
namespace {

struct Format {
  int digits, lowest;
};  ///< Bits of the mantissa; exponent of the smallest normal number, as frexp has it.
Format format_of(DType t) {
  switch (real_of(t)) {
    case DType::f16:
      return {11, -13};
    case DType::bf16:
      return {8, -125};
    case DType::f32:
      return {24, -125};
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
      return {4, -6};
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return {3, -14};
    default:
      return {53, -1021};
  }
}
/// One unit in the last place of a number of this size.
double unit_at(DType t, double size) {
  const Format f = format_of(t);
  int e = 0;
  std::frexp(size, &e);
  return std::ldexp(1.0, std::max(e, f.lowest) - f.digits);
}

/// Operators whose every result is one rounding of the exact one.
bool is_exact(std::string_view op) {
  static constexpr std::string_view inexact[] = {"exp", "expm1", "log",    "log1p",  "rsqrt",   "cbrt", "sin",  "cos",
                                                 "tan", "asin",  "acos",   "atan",   "atan2",   "sinh", "cosh", "tanh",
                                                 "erf", "erfc",  "erfinv", "lgamma", "digamma", "pow"};
  return std::find(std::begin(inexact), std::end(inexact), op) == std::end(inexact);
}
double allowed_ulps(const ScalarCase& c) {
  if (is_complex(c.in[0])) return 2;  // abs
  if (is_exact(c.op->name())) return 0;
  return c.out == DType::f64 ? 9 : c.out == DType::f32 ? 4 : 1;
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

std::string wrong_real(const ScalarCase& c, const std::vector<HostTensor>& in, std::int64_t i, const HostTensor& got,
                       const HostTensor& want) {
  if (!is_floating(c.out) && !float8.contains(c.out)) {
    if (got.get_u64(i) == want.get_u64(i)) return {};
    return std::to_string(got.get_i64(i)).append(" for ").append(std::to_string(want.get_i64(i)));
  }
  const double g = got.get_f64(i), w = want.get_f64(i);
  if (same(g, w)) return {};
  char text[80];
  std::snprintf(text, sizeof text, "%.17g for %.17g", g, w);
  double unit = unit_at(c.out, std::fabs(w));
  // Between its negative zeros the reference of these is itself precise in absolute terms only.
  const std::string_view op = c.op->name();
  if ((op == "lgamma" || op == "digamma") && in[0].get_f64(i) < 0)
    unit = std::max(unit, unit_at(c.out, 4 + std::fabs(op == "lgamma" ? std::lgamma(-in[0].get_f64(i)) : 0)));
  if (op == "digamma") unit = std::max(unit, 2 * unit_at(c.out, 0.5));
  if (std::isfinite(g) && std::isfinite(w) && g != 0 && std::fabs(g - w) <= allowed_ulps(c) * unit) return {};
  if (g == w && w == 0 && !is_exact(op)) return text;  // the sign of a zero counts
  if (std::isfinite(g) && std::isfinite(w) && g == 0 && std::fabs(w) <= allowed_ulps(c) * unit) return {};
  return text;
}

/// Relative to the modulus; parts that are not finite must agree where annex G is followed.
std::string wrong_complex(const ScalarCase& c, const std::vector<HostTensor>& in, std::int64_t i, const HostTensor& got,
                          const HostTensor& want) {
  const std::complex<double> g = got.get_c128(i), w = want.get_c128(i);
  if (same(g.real(), w.real()) && same(g.imag(), w.imag())) return {};
  bool special = false;
  for (const HostTensor& x : in)
    special |= !std::isfinite(x.get_c128(i).real()) || !std::isfinite(x.get_c128(i).imag());
  const std::string_view op = c.op->name();
  if (special && (op == "mul" || op == "pow" || op == "fma"))
    return {};  // products do not repair infinities as annex G does
  const double size = std::hypot(w.real(), w.imag()), epsilon = std::ldexp(1.0, 1 - format_of(c.out).digits);
  double amplified = 1;
  if (op == "pow") amplified += std::abs(in[1].get_c128(i) * std::log(in[0].get_c128(i)));
  if (!std::isfinite(amplified)) amplified = 1;
  const double error = std::hypot(g.real() - w.real(), g.imag() - w.imag());
  if (std::isfinite(size) && error <= 8 * amplified * epsilon * size + unit_at(c.out, 0)) return {};
  // NaN counts as alike with any sign of infinity or zero that annex G leaves open.
  const bool open = std::isnan(w.real()) || std::isnan(w.imag());
  auto part = [open](double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b || (open && std::isinf(a) && a == -b);
  };
  if (!std::isfinite(size) && part(g.real(), w.real()) && part(g.imag(), w.imag())) return {};
  if (special && std::isfinite(size) && std::fabs(g.real() - w.real()) <= epsilon * 8 &&
      std::fabs(g.imag() - w.imag()) <= epsilon * 8)
    return {};
  char text[160];
  std::snprintf(text, sizeof text, "(%.17g, %.17g) for (%.17g, %.17g)", g.real(), g.imag(), w.real(), w.imag());
  return text;
}

std::string written(const HostTensor& x, std::int64_t i) {
  char text[80] = "";
  if (is_complex(x.dtype()))
    std::snprintf(text, sizeof text, " (%.17g, %.17g)", x.get_c128(i).real(), x.get_c128(i).imag());
  else if (is_integer(x.dtype())) std::snprintf(text, sizeof text, " %lld", static_cast<long long>(x.get_i64(i)));
  else std::snprintf(text, sizeof text, " %.17g", x.get_f64(i));
  return text;
}

struct Prepared {
  std::vector<HostTensor> in;
  HostTensor want;
};
Prepared prepare(const ScalarCase& c) {
  std::vector<HostTensor> in = operands(c);
  const HostValues values(in.begin(), in.end());
  Types types;
  for (const HostValue& v : values) types.push_back(type_of(v));
  const Types results = c.op->infer(c.attrs, Signature{types});
  HostTensor want = std::get<HostTensor>(c.op->reference(c.attrs, {values, results, {}})[0]);
  return {std::move(in), std::move(want)};
}

/// One program of a kernel a case; results in their order.
std::vector<HostTensor> evaluate_cases(emit_llvm::Isa isa, std::span<const ScalarCase> cases,
                                       std::span<const Prepared> prepared) {
  Program p;
  std::vector<HostTensor> data;
  std::vector<std::size_t> at;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const ScalarCase& c = cases[k];
    const std::int64_t n = prepared[k].want.numel();
    std::vector<Value> buffers;
    for (const HostTensor& x : prepared[k].in) {
      buffers.push_back(p.buffer(x.dtype(), n));
      data.push_back(x);
    }
    buffers.push_back(p.buffer(c.out, n));
    at.push_back(data.size());
    data.push_back(HostTensor(c.out, {n}));
    p.kernel({n}, buffers, 1, [&](const Body& b) {
      Values in;
      for (std::size_t i = 0; i < c.in.size(); ++i) in.push_back(b.load(i, b.index[0]));
      b.store(c.in.size(), b.index[0], b.b.emit1(c.op->name(), in, c.attrs));
    });
  }
  const std::vector<HostTensor> r = run(*device_of(isa), p.graph(), data);
  std::vector<HostTensor> out;
  for (std::size_t i : at) out.push_back(r[i]);
  return out;
}

void examine(const ScalarCase& c, const Prepared& p, const HostTensor& got, emit_llvm::Isa isa) {
  int shown = 0, count = 0;
  std::string list;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const std::string why =
        is_complex(c.out) ? wrong_complex(c, p.in, i, got, p.want) : wrong_real(c, p.in, i, got, p.want);
    if (why.empty()) continue;
    ++count;
    if (++shown > 6) continue;
    list += "\n    of";
    for (const HostTensor& x : p.in) list += written(x, i);
    list += ": " + why;
  }
  if (count) ADD_FAILURE() << c.title << " at " << name(isa) << ": " << count << " of " << got.numel() << list;
}

void cover(const Op& op) {
  const std::vector<ScalarCase> cases = cases_of(op);
  EXPECT_FALSE(cases.empty()) << op.name();
  std::vector<Prepared> prepared;
  for (const ScalarCase& c : cases) prepared.push_back(prepare(c));
  for (emit_llvm::Isa isa : host_levels()) {
    std::vector<HostTensor> got;
    try {
      got = evaluate_cases(isa, cases, prepared);
    } catch (const DeviceError&) {
      // Something is refused: which?
      for (std::size_t k = 0; k < cases.size(); ++k) {
        try {
          examine(cases[k], prepared[k], evaluate_cases(isa, {&cases[k], 1}, {&prepared[k], 1})[0], isa);
        } catch (const DeviceError& e) {
          ADD_FAILURE() << cases[k].title << " refused at " << name(isa) << ": " << e.what();
        }
      }
      continue;
    }
    for (std::size_t k = 0; k < cases.size(); ++k) examine(cases[k], prepared[k], got[k], isa);
  }
}

class ScalarCoverage : public ::testing::TestWithParam<std::string> {};
TEST_P(ScalarCoverage, AgreesWithReference) { cover(registry().get(GetParam())); }

std::vector<std::string> subjects() {
  std::vector<std::string> all;
  for (const Op* op : registry().all())
    if (op->has_trait(Trait::elementwise) && op->is_primitive() && !op->name().starts_with("lir."))
      all.emplace_back(op->name());
  return all;
}
INSTANTIATE_TEST_SUITE_P(Ops, ScalarCoverage, ::testing::ValuesIn(subjects()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace rlx::testing_kernels
