// The elementwise primitives and constants: their samples, derivatives by differences, batching, sharding and cost.
#include "elementwise_support.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ops/build.hpp>

#include "api/conformance/compare.hpp"

#include <set>

namespace rlx {
namespace {

using namespace elementwise_tests;

TEST(ElementwiseRules, SamplesHold) {
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

TEST(ElementwiseRules, DerivativesEqualDifferences) {
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

TEST(ElementwiseRules, AbsentCotangentsAndTangentsStayAbsent) {
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

TEST(ElementwiseRules, GradientsAtKinks) {
  EXPECT_EQ(pulled("min", {vec({1, 2, 3}), vec({2, 2, 2})}), (Gradients{{1, 0.5, 0}, {0, 0.5, 1}}));
  EXPECT_EQ(pulled("max", {vec({1, 2, 3}), vec({2, 2, 2})}), (Gradients{{0, 0.5, 1}, {1, 0.5, 0}}));
  EXPECT_EQ(pulled("clamp", {vec({0, 0, 0, 0, 0}), vec({-1, 0, 0.5, 1, 2}), vec({1, 1, 1, 1, 1})}),
            (Gradients{{1, 0.5, 0, 0, 0}, {0, 0.5, 1, 0.5, 0}, {0, 0, 0, 0.5, 1}}));
  EXPECT_EQ(pulled("pow", {vec({0, 0, 3}), vec({0, 2, 0})}), (Gradients{{0, 0, 0}, {0, 0, std::log(3.0)}}));
  EXPECT_EQ(pulled("abs", {vec({0, -2})}), (Gradients{{0, -1}}));
  EXPECT_EQ(pulled("abs", {make_tensor(DType::c128, {2}, {0, 0, 0, 2})}), (Gradients{{0, 0, 0, 1}}));
}

// --- Batching.
TEST(ElementwiseRules, BatchEqualsTheStack) {
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

TEST(ElementwiseRules, ShardAndCostFitTheInstance) {
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
}  // namespace
}  // namespace rlx
