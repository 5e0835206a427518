// The elementwise primitives and constants: their samples, derivatives by differences, batching, and references
// compared with independent arithmetic over whole small types.
#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/ops/register.hpp>

#include "api/conformance/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

namespace rlx {
namespace {

using Dims = std::vector<std::int64_t>;
constexpr double inf = std::numeric_limits<double>::infinity();

const Registry& registry() {
  static const Registry r = [] {
    Registry ops;
    ops::register_ops(ops);
    return ops;
  }();
  return r;
}

std::vector<const Op*> subjects() {
  std::vector<const Op*> out;
  for (const Op* op : registry().all())
    if (op->has_trait(Trait::elementwise) || op->has_trait(Trait::constant) || op->name() == "iota") out.push_back(op);
  return out;
}

/// Row-major elements, (real, imaginary) pairs of complex ones.
std::vector<double> elements(const HostTensor& x) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    v.push_back(x.get_c128(i).real());
    if (is_complex(x.dtype())) v.push_back(x.get_c128(i).imag());
  }
  return v;
}

HostTensor make_tensor(DType t, const Dims& shape, const std::vector<double>& v) {
  HostTensor x(t, shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (is_complex(t)) x.set_c128(i, {v.at(2 * k), v.at(2 * k + 1)});
    else x.set_f64(i, v.at(k));
  }
  return x;
}

HostTensor fill(const SampleOperand& o, std::mt19937_64& random) {
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

HostTensor call(const Op& op, const AnyAttrs& attrs, const std::vector<HostTensor>& in) {
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
HostTensor call(std::string_view op, const std::vector<HostTensor>& in, const AnyAttrs& attrs = {}) {
  return call(registry().get(op), attrs, in);
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

TEST(Elementwise, SamplesHold) {
  std::mt19937_64 random(1);
  for (const Op* op : subjects()) {
    int literal = 0;
    std::set<std::string_view> broken;
    int index = 0;
    for (const AnySample& s : op->samples()) {
      const std::string where = std::string(op->name()) + s.attrs.to_string() + ", sample " + std::to_string(index++);
      if (!s.breaks.empty()) {
        broken.insert(s.breaks);
        Types types;
        for (const SampleOperand& o : s.in) types.push_back(o.type);
        try {
          op->check(s.attrs, {types});
          ADD_FAILURE() << where << " is accepted, but should break " << s.breaks;
        } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), s.breaks) << e.what(); }
        continue;
      }
      std::vector<HostTensor> in;
      for (const SampleOperand& o : s.in) in.push_back(fill(o, random));
      const HostTensor y = call(*op, s.attrs, in);
      if (s.expect.empty()) continue;
      ++literal;
      EXPECT_EQ(conformance::literal_difference({y}, s), "") << where;
    }
    EXPECT_GT(literal, 0) << op->name() << " has no literal sample";
    for (const ConstraintDoc& c : op->constraints())
      EXPECT_TRUE(broken.contains(c.id)) << op->name() << " breaks " << c.id << " nowhere";
  }
}

// --- Derivatives.
/// The rule's graph: operands, then (co)tangents as inputs; what the rule returns as outputs, zeros where it is absent.
struct RuleGraph {
  Graph graph;
  std::vector<bool> formed;
  template <class F>
  RuleGraph(const Op& op, const AnyAttrs& attrs, const std::vector<HostTensor>& in, bool reverse, F rule)
      : graph("rule") {
    Builder b(graph, registry());
    Values x, t;
    for (const HostTensor& v : in) x.push_back(b.input(type_of(HostValue(v)), "x" + std::to_string(x.size())));
    const Values y = b.emit(op.name(), x, attrs);
    for (const Value& v : reverse ? y : x)
      t.push_back(is_floating(v.dtype()) || is_complex(v.dtype()) ? b.input(v.type(), "t" + std::to_string(t.size()))
                                                                  : Value{});
    const NodeId node = graph.value(y[0].id).node;
    for (const Value& v : rule(b, x, y, t, node)) {
      formed.push_back(static_cast<bool>(v));
      if (v) b.output(v, "r" + std::to_string(graph.outputs().size()));
    }
  }
};

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}

TEST(Elementwise, DerivativesEqualDifferences) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<> uniform(-1, 1);
  for (const Op* op : subjects()) {
    int checked = 0;
    for (const AnySample& s : op->samples()) {
      if (!s.breaks.empty() || !s.gradients || s.in.empty()) continue;
      std::vector<HostTensor> x, tangent;
      bool wide = true;
      for (const SampleOperand& o : s.in) {
        x.push_back(fill(o, random));
        const DType t = x.back().dtype();
        wide &= t == DType::f64 || t == DType::c128 || t == DType::boolean;
      }
      if (!wide) continue;
      const HostTensor y = call(*op, s.attrs, x);
      if (real_of(y.dtype()) != DType::f64) continue;
      const std::string where = std::string(op->name()) + s.attrs.to_string();
      HostValues arguments(x.begin(), x.end()), pull_arguments = arguments;
      // The difference quotient along a random direction.
      const double h = 1e-6;
      std::vector<HostTensor> up, down;
      for (const HostTensor& v : x) {
        if (v.dtype() == DType::boolean) {
          up.push_back(v);
          down.push_back(v);
          tangent.emplace_back();
          continue;
        }
        std::vector<double> d = elements(v), u = d, l = d;
        for (std::size_t i = 0; i < d.size(); ++i) {
          d[i] = uniform(random);
          u[i] += h * d[i];
          l[i] -= h * d[i];
        }
        tangent.push_back(make_tensor(v.dtype(), v.shape(), d));
        arguments.emplace_back(tangent.back());
        up.push_back(make_tensor(v.dtype(), v.shape(), u));
        down.push_back(make_tensor(v.dtype(), v.shape(), l));
      }
      std::vector<double> difference = elements(call(*op, s.attrs, up));
      const std::vector<double> low = elements(call(*op, s.attrs, down));
      double scale = 1;
      for (std::size_t i = 0; i < low.size(); ++i) {
        difference[i] = (difference[i] - low[i]) / (2 * h);
        scale = std::max(scale, std::fabs(difference[i]));
      }
      const RuleGraph push(*op, s.attrs, x, false, [&](Builder& b, ValuesIn in, ValuesIn out, ValuesIn t, NodeId n) {
        return op->jvp({b, s.attrs, in, out, t, b.graph(), b.graph().node(n)});
      });
      ASSERT_EQ(push.formed.size(), 1u) << where;
      std::vector<double> jvp(difference.size());
      if (push.formed[0]) {
        const HostValues r = evaluate(push.graph, registry(), arguments);
        EXPECT_EQ(to_string(type_of(r[0])), to_string(type_of(HostValue(y)))) << where;
        jvp = elements(std::get<HostTensor>(r[0]));
      }
      for (std::size_t i = 0; i < jvp.size(); ++i)
        EXPECT_NEAR(jvp[i], difference[i], 2e-7 * scale) << where << " jvp[" << i << "]";

      std::vector<double> c = difference;
      for (double& v : c) v = uniform(random);
      pull_arguments.emplace_back(make_tensor(y.dtype(), y.shape(), c));
      const double expected = inner(c, jvp);
      double got = 0;
      // One operand at a time, so that what is not wanted is seen to be absent.
      for (std::size_t k = 0; k < x.size(); ++k) {
        std::vector<bool> wanted(x.size());
        wanted[k] = x[k].dtype() != DType::boolean;
        const RuleGraph pull(*op, s.attrs, x, true, [&](Builder& b, ValuesIn in, ValuesIn out, ValuesIn t, NodeId n) {
          return op->vjp({b, s.attrs, in, out, {}, t, wanted, b.graph(), b.graph().node(n)});
        });
        ASSERT_EQ(pull.formed.size(), x.size()) << where;
        for (std::size_t j = 0; j < x.size(); ++j)
          EXPECT_FALSE((j != k || !wanted[k]) && pull.formed[j])
              << where << " forms operand " << j << ", which nobody wants";
        if (!pull.formed[k]) continue;
        const HostValues r = evaluate(pull.graph, registry(), pull_arguments);
        EXPECT_EQ(to_string(type_of(r[0])), to_string(type_of(HostValue(x[k])))) << where;
        got += inner(elements(std::get<HostTensor>(r[0])), elements(tangent[k]));
      }
      EXPECT_NEAR(got, expected, 1e-11 * std::max(1.0, scale * static_cast<double>(c.size()))) << where << " vjp";
      ++checked;
    }
    const bool floats = !op->operands().empty() && op->operands()[0].dtypes.contains(DType::f64);
    const bool to_bits =
        op->name() == "is_nan" || op->name() == "is_finite" || op->name() == "compare" || op->name() == "bitcast";
    EXPECT_TRUE(checked > 0 || to_bits || !floats) << op->name() << " has no sample to differentiate";
  }
}

TEST(Elementwise, AbsentCotangentsAndTangentsStayAbsent) {
  for (const Op* op : subjects())
    for (const AnySample& s : op->samples()) {
      if (!s.breaks.empty()) continue;
      std::mt19937_64 random(3);
      std::vector<HostTensor> x;
      for (const SampleOperand& o : s.in) x.push_back(fill(o, random));
      const std::vector<bool> wanted(x.size(), true);
      const RuleGraph pull(*op, s.attrs, x, true, [&](Builder& b, ValuesIn in, ValuesIn out, ValuesIn, NodeId n) {
        return op->vjp({b, s.attrs, in, out, {}, Values(out.size()), wanted, b.graph(), b.graph().node(n)});
      });
      EXPECT_EQ(pull.formed, std::vector<bool>(x.size(), false)) << op->name();
      const RuleGraph push(*op, s.attrs, x, false, [&](Builder& b, ValuesIn in, ValuesIn out, ValuesIn, NodeId n) {
        return op->jvp({b, s.attrs, in, out, Values(in.size()), b.graph(), b.graph().node(n)});
      });
      EXPECT_EQ(push.formed, std::vector<bool>(1, false)) << op->name();
    }
}

/// What a rule gives for these operands and a cotangent of ones.
std::vector<std::vector<double>> pulled(std::string_view name, const std::vector<HostTensor>& x) {
  const Op& op = registry().get(name);
  const HostTensor y = call(name, x);
  const std::vector<bool> wanted(x.size(), true);
  const AnyAttrs attrs;
  const RuleGraph pull(op, attrs, x, true, [&](Builder& b, ValuesIn in, ValuesIn out, ValuesIn t, NodeId n) {
    return op.vjp({b, attrs, in, out, {}, t, wanted, b.graph(), b.graph().node(n)});
  });
  HostValues arguments(x.begin(), x.end());
  arguments.emplace_back(make_tensor(y.dtype(), y.shape(), std::vector<double>(elements(y).size(), 1)));
  std::vector<std::vector<double>> out;
  for (const HostValue& v : evaluate(pull.graph, registry(), arguments))
    out.push_back(elements(std::get<HostTensor>(v)));
  return out;
}
using Gradients = std::vector<std::vector<double>>;
HostTensor vec(std::vector<double> v) { return make_tensor(DType::f64, {static_cast<std::int64_t>(v.size())}, v); }

TEST(Elementwise, GradientsAtKinks) {
  EXPECT_EQ(pulled("min", {vec({1, 2, 3}), vec({2, 2, 2})}), (Gradients{{1, 0.5, 0}, {0, 0.5, 1}}));
  EXPECT_EQ(pulled("max", {vec({1, 2, 3}), vec({2, 2, 2})}), (Gradients{{0, 0.5, 1}, {1, 0.5, 0}}));
  EXPECT_EQ(pulled("clamp", {vec({0, 0, 0, 0, 0}), vec({-1, 0, 0.5, 1, 2}), vec({1, 1, 1, 1, 1})}),
            (Gradients{{1, 0.5, 0, 0, 0}, {0, 0.5, 1, 0.5, 0}, {0, 0, 0, 0.5, 1}}));
  EXPECT_EQ(pulled("pow", {vec({0, 0, 3}), vec({0, 2, 0})}), (Gradients{{0, 0, 0}, {0, 0, std::log(3.0)}}));
  EXPECT_EQ(pulled("abs", {vec({0, -2})}), (Gradients{{0, -1}}));
  EXPECT_EQ(pulled("abs", {make_tensor(DType::c128, {2}, {0, 0, 0, 2})}), (Gradients{{0, 0, 0, 1}}));
}

// --- Batching.
TEST(Elementwise, BatchEqualsTheStack) {
  std::mt19937_64 random(4);
  constexpr std::int64_t size = 3;
  for (const Op* op : subjects())
    for (const AnySample& s : op->samples()) {
      if (!s.breaks.empty() || s.in.empty()) continue;
      std::vector<std::vector<HostTensor>> single(size);
      for (auto& x : single)
        for (const SampleOperand& o : s.in) x.push_back(fill(o, random));
      const int rank = single[0][0].rank();
      Graph g;
      Builder b(g, registry());
      Values x, y;
      std::vector<int> axes;
      HostValues arguments;
      for (std::size_t k = 0; k < s.in.size(); ++k) {
        axes.push_back(k == 1 ? -1 : k == 0 ? rank : 0);
        const HostTensor& first = single[0][k];
        if (axes[k] < 0)
          for (auto& v : single) v[k] = first;
        Dims shape = first.shape();
        if (axes[k] >= 0) shape.insert(shape.begin() + axes[k], size);
        HostTensor all(first.dtype(), shape);
        for (std::int64_t i = 0; i < all.numel(); ++i) {
          const std::int64_t n = first.numel();
          const std::int64_t from = axes[k] < 0    ? 0
                                    : axes[k] == 0 ? i / n
                                                   : i % size,
                             at = axes[k] < 0    ? i
                                  : axes[k] == 0 ? i % n
                                                 : i / size;
          const HostTensor& t = single[static_cast<std::size_t>(from)][k];
          if (is_complex(t.dtype())) all.set_c128(i, t.get_c128(at));
          else if (is_floating(t.dtype())) all.set_f64(i, t.get_f64(at));
          else if (is_signed_integer(t.dtype())) all.set_i64(i, t.get_i64(at));
          else all.set_u64(i, t.get_u64(at));
        }
        x.push_back(b.input(type_of(HostValue(first)), "x" + std::to_string(k)));
        y.push_back(b.input(type_of(HostValue(all)), "y" + std::to_string(k)));
        arguments.emplace_back(first);
        arguments.emplace_back(all);
      }
      const Value one = b.emit1(op->name(), x, s.attrs);
      const Node node = g.node(g.value(one.id).node);
      const Batched r = op->batch({b, s.attrs, y, axes, size, g, node});
      ASSERT_EQ(r.axes, std::vector<int>{0}) << op->name();
      b.output(r.out[0], "r");
      const std::vector<double> got = elements(std::get<HostTensor>(evaluate(g, registry(), arguments)[0]));
      std::vector<double> want;
      for (const auto& v : single)
        for (double e : elements(call(*op, s.attrs, v))) want.push_back(e);
      ASSERT_EQ(got.size(), want.size()) << op->name();
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same(got[i], want[i])) << op->name() << "[" << i << "]";
    }
}

TEST(Elementwise, ShardAndCostFitTheInstance) {
  for (const Op* op : subjects())
    for (const AnySample& s : op->samples()) {
      if (!s.breaks.empty()) continue;
      Types types;
      for (const SampleOperand& o : s.in) types.push_back(o.type);
      const Signature signature{types};
      const ShardRule r = op->shard(s.attrs, signature);
      const auto result = std::get<TensorType>(op->infer(s.attrs, signature)[0]);
      ASSERT_EQ(r.operands.size(), types.size()) << op->name();
      EXPECT_EQ(static_cast<int>(r.results.at(0).size()), result.rank()) << op->name();
      std::int64_t bytes = byte_size(result.dtype, result.numel().constant());
      for (std::size_t i = 0; i < types.size(); ++i)
        bytes += byte_size(signature.dtype(i), signature.tensor(i).numel().constant());
      EXPECT_EQ(op->cost(s.attrs, signature).bytes.constant(), bytes) << op->name();
    }
}

// --- References against independent arithmetic.
/// One long double function an operator; what is missing here has tests of its own.
using Wide = long double (*)(long double);
const std::pair<std::string_view, Wide> libm[] = {{"exp", [](long double x) { return std::exp(x); }},
                                                  {"log", [](long double x) { return std::log(x); }},
                                                  {"expm1", [](long double x) { return std::expm1(x); }},
                                                  {"log1p", [](long double x) { return std::log1p(x); }},
                                                  {"sqrt", [](long double x) { return std::sqrt(x); }},
                                                  {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }},
                                                  {"cbrt", [](long double x) { return std::cbrt(x); }},
                                                  {"sin", [](long double x) { return std::sin(x); }},
                                                  {"cos", [](long double x) { return std::cos(x); }},
                                                  {"tan", [](long double x) { return std::tan(x); }},
                                                  {"asin", [](long double x) { return std::asin(x); }},
                                                  {"acos", [](long double x) { return std::acos(x); }},
                                                  {"atan", [](long double x) { return std::atan(x); }},
                                                  {"sinh", [](long double x) { return std::sinh(x); }},
                                                  {"cosh", [](long double x) { return std::cosh(x); }},
                                                  {"tanh", [](long double x) { return std::tanh(x); }},
                                                  {"erf", [](long double x) { return std::erf(x); }},
                                                  {"erfc", [](long double x) { return std::erfc(x); }},
                                                  {"lgamma", [](long double x) { return std::lgamma(x); }},
                                                  {"floor", [](long double x) { return std::floor(x); }},
                                                  {"ceil", [](long double x) { return std::ceil(x); }},
                                                  {"round", [](long double x) { return std::nearbyint(x); }},
                                                  {"neg", [](long double x) { return -x; }},
                                                  {"abs", [](long double x) { return std::fabs(x); }}};

TEST(Elementwise, AllSmallFloatsAgreeWithLibm) {
  for (DType t : {DType::f16, DType::bf16}) {
    HostTensor x(t, {65536});
    for (int i = 0; i < 65536; ++i)
      x.as_mutable<std::uint16_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(i);
    for (const auto& [name, f] : libm) {
      const HostTensor y = call(name, {x});
      int wrong = 0;
      for (int i = 0; i < 65536; ++i) {
        const double got = y.get_f64(i), want = round_to(t, static_cast<double>(f(x.get_f64(i))));
        if (!same(got, want) && ++wrong == 1)
          ADD_FAILURE() << name << " of " << x.get_f64(i) << " is " << got << ", not " << want;
      }
      EXPECT_EQ(wrong, 0) << name << " in " << rlx::name(t);
    }
    for (std::string_view name : {"erfinv", "digamma"}) {
      const HostTensor y = call(name, {x});
      for (int i = 0; i < 65536; ++i) {
        const double v = x.get_f64(i);
        const bool domain =
            name == "erfinv" ? std::fabs(v) <= 1 : v == inf || (std::isfinite(v) && !(v < 0 && v == std::floor(v)));
        ASSERT_EQ(std::isnan(y.get_f64(i)), !domain) << name << " of " << v;
      }
    }
    for (std::string_view name : {"is_nan", "is_finite"}) {
      const HostTensor y = call(name, {x});
      for (int i = 0; i < 65536; ++i)
        ASSERT_EQ(y.get_i64(i), name == "is_nan" ? std::isnan(x.get_f64(i)) : std::isfinite(x.get_f64(i)))
            << name << " of " << x.get_f64(i);
    }
    const HostTensor sign = call("sign", {x});
    for (int i = 0; i < 65536; ++i) {
      const double v = x.get_f64(i), want = std::isnan(v) || v == 0 ? v : std::copysign(1, v);
      ASSERT_TRUE(same(sign.get_f64(i), want)) << v;
    }
  }
}

/// Computed with 60 digits by mpmath.
TEST(Elementwise, SpecialFunctionsAreAccurate) {
  const auto check = [](std::string_view name, std::vector<std::pair<double, double>> points, double ulps) {
    for (const auto& [x, want] : points)
      EXPECT_NEAR(call(name, {HostTensor::scalar(DType::f64, x)}).get_f64(0), want, ulps * 0x1p-53 * std::fabs(want))
          << name << " of " << x;
  };
  check("erfinv",
        {{1e-12, 8.86226925452757996e-13},
         {1e-05, 8.86226925475959453e-6},
         {0.3, 0.272462714726754345},
         {0.49, 0.465868600235057337},
         {0.51, 0.488122050515958822},
         {0.9, 1.16308715367667416},
         {0.9999999, 3.76656258163847089},
         {0.9999999999999999, 5.86358474875516793},
         {0.9999999999990905, 5.05125408524938997},
         {-0.6, -0.595116081449994822}},
        4);
  check("digamma",
        {{1e-08, -100000000.577215646},
         {0.1, -10.4237549404110762},
         {0.9, -0.754926949947051349},
         {1.4, -0.0613845445851162368},
         {0x1.762d86356be3fp+0, -9.24126552172942752e-17},
         {1.4617, 0.0000656593922936764955},
         {1.52, 0.0550221145795516389},
         {1.53, 0.0641673073660771778},
         {7.5, 1.94675748424608679},
         {11.99, 2.44179228366833489},
         {12.01, 2.44353032156246816},
         {10000000000.0, 23.0258509298904568},
         {-0.1, 9.24507305005294804},
         {-1.25, 3.71413912021352783},
         {-10.75, -0.720895760167161174},
         {-100.3, 6.89564312486043503}},
        4);
  check("lgamma",
        {{1e-08, 18.4206807381802089},
         {0.1, 2.2527126517342059},
         {0.9, 0.0663762397347429544},
         {1.4, -0.119612914172371293},
         {7.5, 7.53436423675873296},
         {10000000000.0, 220258509288.810581},
         {-0.1, 2.3689613327287886},
         {-1.25, 1.36643176123697623},
         {-10.75, -15.4030745035048173}},
        8);
}

TEST(Elementwise, ErfinvInvertsErf) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    const double y = std::uniform_real_distribution<>(-2, 2)(random);
    EXPECT_NEAR(call("erfinv", {HostTensor::scalar(DType::f64, std::erf(y))}).get_f64(0), y,
                1e-13 * std::exp(y * y / 2));
  }
}

TEST(Elementwise, AllPairsOfBytes) {
  HostTensor x(DType::i8, {65536}), y(DType::i8, {65536}), ux(DType::u8, {65536}), uy(DType::u8, {65536});
  for (int i = 0; i < 65536; ++i) {
    x.set_i64(i, i & 255);
    y.set_i64(i, i >> 8);
    ux.set_i64(i, i & 255);
    uy.set_i64(i, i >> 8);
  }
  const auto check = [](std::string_view name, const HostTensor& a, const HostTensor& b, auto f) {
    const HostTensor z = call(name, {a, b});
    for (int i = 0; i < 65536; ++i) {
      const int p = static_cast<int>(a.get_i64(i)), q = static_cast<int>(b.get_i64(i));
      const int want = a.dtype() == DType::i8 ? static_cast<std::int8_t>(f(p, q)) : static_cast<std::uint8_t>(f(p, q));
      ASSERT_EQ(z.get_i64(i), want) << name << "(" << p << ", " << q << ")";
    }
  };
  const auto power = [](int p, int q) {
    if (q < 0) return p == 1 ? 1 : p == -1 ? (q & 1 ? -1 : 1) : 0;
    unsigned r = 1;
    while (q--) r *= static_cast<unsigned>(p);
    return static_cast<int>(r);
  };
  for (const auto& [a, b] : {std::pair{x, y}, std::pair{ux, uy}}) {
    check("add", a, b, [](int p, int q) { return p + q; });
    check("sub", a, b, [](int p, int q) { return p - q; });
    check("mul", a, b, [](int p, int q) { return p * q; });
    check("div", a, b, [](int p, int q) { return q == 0 ? -1 : p / q; });
    check("rem", a, b, [](int p, int q) { return q == 0 ? p : p % q; });
    check("pow", a, b, power);
    check("min", a, b, [](int p, int q) { return p < q ? p : q; });
    check("max", a, b, [](int p, int q) { return p < q ? q : p; });
    check("and", a, b, [](int p, int q) { return p & q; });
    check("or", a, b, [](int p, int q) { return p | q; });
    check("xor", a, b, [](int p, int q) { return p ^ q; });
    check("shift_left", a, b, [](int p, int q) { return q < 0 || q > 7 ? 0 : p * (1 << q); });
    check("shift_right_logical", a, b, [](int p, int q) { return q < 0 || q > 7 ? 0 : (p & 255) >> q; });
    check("shift_right_arithmetic", a, b, [signed_type = a.dtype() == DType::i8](int p, int q) {
      const int v = signed_type ? p : static_cast<std::int8_t>(p);
      return v >> (q < 0 || q > 7 ? 7 : q);
    });
  }
}

TEST(Elementwise, FmaRoundsOnce) {
  std::mt19937_64 random(6);
  std::uniform_int_distribution<std::uint32_t> bits;
  constexpr std::int64_t n = 100000;
  HostTensor x(DType::f32, {n}), y = x, z = x;
  for (std::size_t i = 0; i < n; ++i) {
    // Random bits, then a sum near a tie of the product: the cases that two roundings get wrong.
    x.as_mutable<float>()[i] = std::bit_cast<float>(bits(random));
    y.as_mutable<float>()[i] = std::bit_cast<float>(bits(random));
    z.as_mutable<float>()[i] = std::bit_cast<float>(bits(random));
    if (i % 2 == 0) continue;
    x.as_mutable<float>()[i] = static_cast<float>(4097 + bits(random) % 64 * 2);
    y.as_mutable<float>()[i] = static_cast<float>(4097 + bits(random) % 64 * 2);
    z.as_mutable<float>()[i] =
        std::ldexp(static_cast<float>(bits(random) % 7) - 3, static_cast<int>(bits(random) % 100) - 100);
  }
  const HostTensor r = call("fma", {x, y, z});
  for (std::size_t i = 0; i < n; ++i) {
    const float want = std::fma(x.as<float>()[i], y.as<float>()[i], z.as<float>()[i]);
    ASSERT_TRUE(same(r.as<float>()[i], want)) << x.as<float>()[i] << " " << y.as<float>()[i] << " " << z.as<float>()[i];
  }
}

TEST(Elementwise, ReducePrecisionIsAConversion) {
  std::mt19937_64 random(7);
  HostTensor x(DType::f32, {20000});
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.set_f64(i, std::ldexp(std::uniform_real_distribution<>(-2, 2)(random), static_cast<int>(i % 40) - 20));
  for (const auto& [t, exponent, mantissa, least] :
       {std::tuple{DType::f16, 5, 10, 0x1p-14}, {DType::bf16, 8, 7, 0x1p-126}}) {
    const HostTensor y = call("reduce_precision", {x}, ops::ReducePrecisionAttrs{exponent, mantissa});
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double v = x.get_f64(i), r = round_to(t, v);
      // Between, rounding to a subnormal and flushing after rounding the mantissa may differ.
      if (std::fabs(v) < least && std::fabs(r) >= least) continue;
      ASSERT_EQ(y.get_f64(i), std::fabs(r) < least ? 0 : r) << v;
    }
  }
}

}  // namespace
}  // namespace rlx
