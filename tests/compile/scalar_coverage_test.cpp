// Every elementwise operator on every dtype that it accepts, at every instruction level, against its reference.
#include "kernel_program.hpp"

#include <rlx/ir/host_value.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/signature.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace rlx::testing_kernels {
namespace {

constexpr std::int64_t random_count = 200;

struct ScalarCase {
  const Op* op;
  std::vector<DType> in;
  AnyAttrs attrs;
  DType out{};
  std::string title;
};

std::string describe(const ScalarCase& c) {
  std::string s(c.op->name());
  for (DType t : c.in) s.append(" ").append(name(t));
  return s.append(" -> ").append(name(c.out));
}

/// Attributes to try with operands of dtype t; what the operator's constraints refuse is dropped.
std::vector<AnyAttrs> attributes(const Op& op) {
  std::vector<AnyAttrs> all;
  if (op.name() == "convert" || op.name() == "bitcast")
    for (int t = 0; t < dtype_count; ++t) all.push_back(ops::DTypeAttrs{static_cast<DType>(t)});
  else if (op.name() == "compare")
    for (auto d : {ops::Direction::eq, ops::Direction::ne, ops::Direction::lt, ops::Direction::le, ops::Direction::gt,
                   ops::Direction::ge})
      all.push_back(ops::CompareAttrs{d});
  else if (op.name() == "reduce_precision")
    for (auto [e, m] : {std::pair{5, 10}, {8, 7}, {4, 3}, {8, 23}, {11, 52}, {2, 1}, {1, 0}, {15, 0}})
      all.push_back(ops::ReducePrecisionAttrs{e, m});
  else all.push_back(op.default_attrs());
  return all;
}

std::vector<ScalarCase> cases_of(const Op& op) {
  std::vector<ScalarCase> all;
  for (int t = 0; t < dtype_count; ++t) {
    std::vector<DType> in;
    for (const Operand& o : op.operands()) {
      const auto wanted = static_cast<DType>(t);
      if (o.dtypes.contains(wanted)) in.push_back(wanted);
      else if (o.dtypes.contains(DType::boolean) && &o == op.operands().data())
        in.push_back(DType::boolean);  // a predicate
    }
    if (in.size() != op.operands().size()) continue;
    Types types;
    for (DType d : in) types.emplace_back(TensorType{d, {Dim(4)}});
    const Signature s{types};
    const std::vector<AnyAttrs> choices = attributes(op);
    for (std::size_t a = 0; a < choices.size();
         ++a) {  // iterators of AnyAttrs convert to it, which confuses their comparison
      const AnyAttrs& attrs = choices[a];
      try {
        op.check(attrs, s);
      } catch (const VerifyError&) { continue; }
      ScalarCase c{&op, in, attrs, std::get<TensorType>(op.infer(attrs, s).at(0)).dtype, {}};
      c.title = describe(c);
      all.push_back(c);
    }
  }
  return all;
}

// --- Values.
std::vector<double> special_numbers(DType t, bool complex_part) {
  const double inf = INFINITY;
  if (complex_part) return {0, -0.0, 1, -1, 0.5, -2.5, 3, inf, -inf, NAN};
  std::vector<double> v = {0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 1.5, -2.5, 3, -7, 100, inf, -inf, NAN};
  if (t == DType::f64)
    for (double x : {5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e300, 1e-300}) v.push_back(x);
  else if (t == DType::f16)
    for (double x : {6e-8, 6.2e-5, 65504., -60000.}) v.push_back(x);
  else
    for (double x : {1.4e-45, 1.1754943508222875e-38, 3.4028234663852886e38, -1e30, 1e-30}) v.push_back(x);
  return v;
}
std::vector<std::int64_t> special_integers(DType t) {
  if (t == DType::boolean) return {0, 1};
  const int width = bit_width(t);
  const auto top = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - width));  // largest signed
  return {0, 1, 2, 3, 5, 7, width - 1, width, -1, -2, -7, top, -top - 1, top - 1};
}

std::int64_t special_count(DType t) {
  if (is_complex(t)) {
    const auto n = static_cast<std::int64_t>(special_numbers(t, true).size());
    return n * n;
  }
  if (float8.contains(t)) return 256;
  return static_cast<std::int64_t>(is_floating(t) ? special_numbers(t, false).size() : special_integers(t).size());
}
void set_special(HostTensor& x, std::int64_t i, std::int64_t k) {
  const DType t = x.dtype();
  if (is_complex(t)) {
    const std::vector<double> v = special_numbers(t, true);
    const auto n = static_cast<std::int64_t>(v.size());
    x.set_c128(i, {v[static_cast<std::size_t>(k / n)], v[static_cast<std::size_t>(k % n)]});
  } else if (float8.contains(t)) x.mutable_data()[i] = static_cast<std::byte>(k);
  else if (is_floating(t)) x.set_f64(i, special_numbers(t, false)[static_cast<std::size_t>(k)]);
  else x.set_i64(i, special_integers(t)[static_cast<std::size_t>(k)]);
}
void set_random(HostTensor& x, std::int64_t i, std::mt19937_64& g) {
  const DType t = x.dtype();
  std::uniform_real_distribution<double> near(-4, 4), unit(-1, 1), exponent(-20, 20);
  auto number = [&] {
    const auto kind = g() % 4;
    return kind == 0   ? near(g)
           : kind == 1 ? unit(g)
           : kind == 2 ? std::ldexp(unit(g), static_cast<int>(exponent(g)))
                       : std::fabs(near(g)) * 4;
  };
  if (is_complex(t)) x.set_c128(i, {g() % 2 ? near(g) : number(), near(g)});
  else if (float8.contains(t)) x.mutable_data()[i] = static_cast<std::byte>(g());
  else if (is_floating(t)) x.set_f64(i, number());
  else x.set_i64(i, static_cast<std::int64_t>(g() >> (g() % 64)));
}

/// Operands: all pairs of special values of the first two (a third takes them in turn), then random ones.
std::vector<HostTensor> operands(const ScalarCase& c) {
  std::mt19937_64 g(std::hash<std::string>{}(std::string(c.op->name())));
  std::vector<std::int64_t> counts;
  for (DType t : c.in) counts.push_back(special_count(t));
  const bool pairs = c.in.size() == 2 && !is_complex(c.in[0]);
  const std::int64_t special = c.in.size() == 1 ? counts[0] : pairs ? counts[0] * counts[1] : 500;
  std::vector<HostTensor> all;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    HostTensor x(c.in[k], {special + random_count});
    for (std::int64_t i = 0; i < special + random_count; ++i) {
      if (i >= special) set_random(x, i, g);
      else if (c.in.size() == 1) set_special(x, i, i);
      else if (pairs) set_special(x, i, k == 0 ? i / counts[1] : i % counts[1]);
      else set_special(x, i, static_cast<std::int64_t>(g() % static_cast<std::uint64_t>(counts[k])));
    }
    all.push_back(x);
  }
  return all;
}

// --- Comparison.
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
