// Operators that are not elementwise: every sample's value or refusal, derivatives by differences and adjointness,
// batching against single calls.
#include "api/conformance/compare.hpp"
#include "sample_runner.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rlx::testing {
namespace {

std::vector<const Op*> subjects() {
  std::vector<const Op*> out;
  for (const Op* op : registry().all())
    if (!op->has_trait(Trait::elementwise) && !op->has_trait(Trait::constant) && op->name() != "iota" &&
        !op->name().starts_with("sparse") && !op->name().starts_with("comm."))
      out.push_back(op);
  return out;
}

template <class F>
void for_each_sample(F f) {
  for (const Op* op : subjects()) {
    int index = 0;
    for (const AnySample& s : op->samples()) {
      SCOPED_TRACE(std::string(op->name()) + s.attrs.to_string() + ", sample " + std::to_string(index++));
      try {
        f(*op, s);
      } catch (const std::exception& e) { ADD_FAILURE() << e.what(); }
    }
  }
}

bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b; }

TEST(Structure, SamplesHold) {
  std::mt19937_64 random(1);
  std::set<std::string> broken, literal;
  for_each_sample([&](const Op& op, const AnySample& s) {
    const std::string name(op.name());
    if (!s.breaks.empty()) {
      broken.insert(name + std::string(s.breaks));
      try {
        OneNode n(op, s);
        ADD_FAILURE() << "accepted, but should break " << s.breaks;
      } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), s.breaks) << e.what(); }
      return;
    }
    OneNode n(op, s);
    const auto in = filled(s, random);
    const HostValues out = run(n.graph, in);
    if (s.expect.empty()) return;
    literal.insert(name);
    EXPECT_EQ(conformance::literal_difference(out, s), "");
  });
  for (const Op* op : subjects()) {
    EXPECT_TRUE(literal.contains(std::string(op->name()))) << op->name() << " has no literal sample";
    for (const ConstraintDoc& c : op->constraints())
      EXPECT_TRUE(broken.contains(std::string(op->name()) + std::string(c.id)))
          << op->name() << " breaks " << c.id << " nowhere";
  }
}

// --- Derivatives.
using Reals = std::vector<double>;

Reals random_reals(std::size_t n, std::mt19937_64& random) {
  Reals v(n);
  for (double& e : v) e = std::uniform_real_distribution<>(-1, 1)(random);
  return v;
}
HostTensor moved(const HostTensor& x, const Reals& direction, double step) {
  Reals e = elements(x);
  for (std::size_t i = 0; i < e.size(); ++i) e[i] += step * direction[i];
  return tensor_of(x.dtype(), x.shape(), e);
}

bool differentiable(const AnySample& s, std::size_t i) {
  return s.in[i].differentiable && is_smooth(std::get<TensorType>(s.in[i].type).dtype);
}

/// Inputs: operands, then a tangent (jvp) or cotangents (vjp). Outputs: what the rule gives; `formed` tells which.
struct RuleGraph {
  Graph graph;
  std::vector<bool> formed;
};
RuleGraph jvp_graph(const Op& op, const AnySample& s, const std::vector<bool>& active) {
  OneNode n(op, s);
  RuleGraph r;
  Builder b(r.graph, registry());
  Values in, tangent;
  for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
  for (std::size_t i = 0; i < s.in.size(); ++i)
    tangent.push_back(active[i] ? b.input(s.in[i].type, "t" + std::to_string(i)) : Value{});
  const Values out = b.emit(op.name(), in, s.attrs, s.regions);
  const Values d = op.jvp({b, s.attrs, in, out, tangent, n.graph, n.node()});
  EXPECT_EQ(d.size(), out.size());
  for (const Value& v : d) {
    r.formed.push_back(static_cast<bool>(v));
    if (v) b.output(v, "d" + std::to_string(r.formed.size()));
  }
  return r;
}
RuleGraph vjp_graph(const Op& op, const AnySample& s, const std::vector<bool>& active, const std::vector<bool>& given) {
  OneNode n(op, s);
  RuleGraph r;
  Builder b(r.graph, registry());
  Values in, cotangent;
  for (const SampleOperand& o : s.in) in.push_back(b.input(o.type, "x" + std::to_string(in.size())));
  const Values out = b.emit(op.name(), in, s.attrs, s.regions);
  for (std::size_t k = 0; k < out.size(); ++k)
    cotangent.push_back(given[k] ? b.input(out[k].type(), "t" + std::to_string(k)) : Value{});
  const Values saved = op.vjp_save(b, s.attrs, in, out);
  const Values d = op.vjp({b, s.attrs, in, out, saved, cotangent, active, n.graph, n.node()});
  EXPECT_EQ(d.size(), in.size());
  for (std::size_t i = 0; i < d.size(); ++i) {
    r.formed.push_back(static_cast<bool>(d[i]));
    if (d[i]) {
      EXPECT_EQ(to_string(d[i].type()), to_string(in[i].type())) << "cotangent of operand " << i;
      b.output(d[i], "d" + std::to_string(i));
    }
  }
  return r;
}

TEST(Structure, DerivativesMatchDifferences) {
  std::mt19937_64 random(2);
  std::set<std::string> checked;
  for_each_sample([&](const Op& op, const AnySample& s) {
    if (!s.breaks.empty() || !s.gradients) return;
    if (op.vjp_rule().kind != RuleKind::given || op.jvp_rule().kind != RuleKind::given) return;
    OneNode n(op, s);
    const auto in = filled(s, random);
    std::vector<bool> all;
    for (std::size_t i = 0; i < s.in.size(); ++i) all.push_back(differentiable(s, i));
    std::vector<std::vector<bool>> choices{all};
    if (std::count(all.begin(), all.end(), true) > 1)
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i]) choices.emplace_back(all.size(), false), choices.back()[i] = true;
    if (std::count(all.begin(), all.end(), true) == 0) return;
    checked.insert(std::string(op.name()));
    for (const auto& active : choices) {
      std::vector<Reals> direction;
      auto forward = in, up = in, down = in;
      const double h = 1e-5;
      for (std::size_t i = 0; i < in.size(); ++i) {
        direction.push_back(active[i] ? random_reals(elements(in[i]).size(), random)
                                      : Reals(elements(in[i]).size(), 0));
        if (!active[i]) continue;
        forward.push_back(tensor_of(in[i].dtype(), in[i].shape(), direction[i]));
        up[i] = moved(in[i], direction[i], h);
        down[i] = moved(in[i], direction[i], -h);
      }
      const HostValues y_up = run(n.graph, up), y_down = run(n.graph, down);
      const RuleGraph jvp = jvp_graph(op, s, active);
      const HostValues d = run(jvp.graph, forward);
      std::vector<Reals> tangents;
      std::vector<bool> given;
      std::size_t next = 0;
      for (std::size_t k = 0; k < y_up.size(); ++k) {
        const bool smooth = is_smooth(std::get<HostTensor>(y_up[k]).dtype());
        given.push_back(smooth);
        const Reals a = elements(y_up[k]), b = elements(y_down[k]);
        tangents.emplace_back(a.size(), 0.0);
        if (jvp.formed[k]) tangents[k] = elements(d[next++]);
        if (!smooth) continue;
        ASSERT_EQ(tangents[k].size(), a.size());
        for (std::size_t i = 0; i < a.size(); ++i)
          EXPECT_NEAR(tangents[k][i], (a[i] - b[i]) / (2 * h), 1e-7 * std::max(1.0, std::fabs(tangents[k][i])))
              << "jvp, result " << k << "[" << i << "]";
      }
      // <u, J v> = <J* u, v>, in real and imaginary parts.
      auto backward = in;
      double left = 0, right = 0, size = 0;
      for (std::size_t k = 0; k < y_up.size(); ++k) {
        if (!given[k]) continue;
        const auto& y = std::get<HostTensor>(y_up[k]);
        const Reals u = random_reals(tangents[k].size(), random);
        backward.push_back(tensor_of(y.dtype(), y.shape(), u));
        for (std::size_t i = 0; i < u.size(); ++i)
          left += u[i] * tangents[k][i], size += std::fabs(u[i] * tangents[k][i]);
      }
      const RuleGraph vjp = vjp_graph(op, s, active, given);
      const HostValues g = run(vjp.graph, backward);
      next = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (!vjp.formed[i]) continue;
        const Reals e = elements(g[next++]);
        for (std::size_t j = 0; j < e.size(); ++j) right += e[j] * direction[i][j];
      }
      EXPECT_NEAR(left, right, 1e-12 * std::max(1.0, size)) << "vjp";
    }
  });
  for (const char* name : {"broadcast",
                           "reshape",
                           "transpose",
                           "slice",
                           "dynamic_slice",
                           "dynamic_update_slice",
                           "pad",
                           "concat",
                           "reverse",
                           "reduce",
                           "associative_scan",
                           "reduce_window",
                           "segment_reduce",
                           "gather",
                           "scatter",
                           "sort",
                           "top_k",
                           "dot_general",
                           "ragged_dot",
                           "conv",
                           "fft",
                           "softmax",
                           "log_softmax"})
    EXPECT_TRUE(checked.contains(name)) << name;
}

// --- Batching.
HostTensor stacked(const std::vector<HostTensor>& members, int axis) {
  Dims shape = members[0].shape();
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(members.size()));
  std::int64_t outer = 1, inner = 1;
  for (int d = 0; d < members[0].rank(); ++d)
    (d < axis ? outer : inner) *= members[0].shape()[static_cast<std::size_t>(d)];
  HostTensor y(members[0].dtype(), shape);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t m = 0; m < members.size(); ++m)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t to = (o * static_cast<std::int64_t>(members.size()) + static_cast<std::int64_t>(m)) * inner +
                                i,
                           from = o * inner + i;
        if (is_complex(y.dtype())) y.set_c128(to, members[m].get_c128(from));
        else if (is_floating(y.dtype())) y.set_f64(to, members[m].get_f64(from));
        else if (is_unsigned_integer(y.dtype())) y.set_u64(to, members[m].get_u64(from));
        else y.set_i64(to, members[m].get_i64(from));
      }
  return y;
}

TEST(Structure, BatchingEqualsSingleCalls) {
  std::mt19937_64 random(3);
  std::set<std::string> refused;
  for_each_sample([&](const Op& op, const AnySample& s) {
    if (!s.breaks.empty() || op.batch_rule().kind != RuleKind::given || s.in.empty()) return;
    constexpr std::size_t members = 3;
    OneNode n(op, s);
    for (unsigned mask = 1; mask < 1u << s.in.size(); ++mask)
      for (bool last : {false, true}) {
        std::vector<std::vector<HostTensor>> single(members);
        std::vector<HostTensor> batched;
        std::vector<int> axes;
        for (std::size_t i = 0; i < s.in.size(); ++i) {
          std::vector<HostTensor> values;
          for (std::size_t m = 0; m < members; ++m)
            values.push_back(m == 0 || mask >> i & 1 ? filled(s.in[i], random) : values[0]);
          const bool varies = !s.in[i].literal.empty() && values[0].rank() > 0 && is_floating(values[0].dtype());
          for (std::size_t m = 1; m < members && varies && (mask >> i & 1); ++m)
            values[m].set_f64(0, values[m].get_f64(0) + static_cast<double>(m));
          for (std::size_t m = 0; m < members; ++m) single[m].push_back(values[m]);
          axes.push_back(mask >> i & 1 ? (last ? values[0].rank() : 0) : -1);
          batched.push_back(axes[i] < 0 ? values[0] : stacked(values, axes[i]));
        }
        Graph g;
        Builder b(g, registry());
        Values in;
        for (std::size_t i = 0; i < batched.size(); ++i) {
          const auto& one = std::get<TensorType>(s.in[i].type);
          in.push_back(b.input(axes[i] < 0 ? one : with_dimension(one, axes[i], members), "x" + std::to_string(i)));
        }
        Batched r;
        try {
          r = op.batch({b, s.attrs, in, axes, Dim(members), n.graph, n.node()});
        } catch (const VerifyError& e) {
          if (e.constraint() != "batch") throw;
          refused.insert(std::string(op.name()));
          continue;
        }
        for (const Value& v : r.out) b.output(v, "y" + std::to_string(g.outputs().size()));
        const HostValues got = run(g, batched);
        std::vector<std::vector<HostTensor>> want(got.size());
        for (std::size_t m = 0; m < members; ++m) {
          const HostValues y = run(n.graph, single[m]);
          for (std::size_t k = 0; k < y.size(); ++k) want[k].push_back(std::get<HostTensor>(y[k]));
        }
        for (std::size_t k = 0; k < got.size(); ++k) {
          const HostTensor w = r.axes[k] < 0 ? want[k][0] : stacked(want[k], r.axes[k]);
          ASSERT_EQ(to_string(type_of(got[k])), to_string(type_of(HostValue(w)))) << "mask " << mask;
          const Reals a = elements(got[k]), e = elements(w);
          for (std::size_t i = 0; i < a.size(); ++i)
            if (!same(a[i], e[i])) {
              EXPECT_NEAR(a[i], e[i], 8 * conformance::unit_of(w.dtype()) * std::max(1.0, std::fabs(e[i])))
                  << "mask " << mask << ", result " << k << "[" << i << "]";
            }
        }
      }
  });
  // Identities that differ from member to member, limits that do, and blocks whose bytes the members would part.
  EXPECT_EQ(refused, (std::set<std::string>{"associative_scan", "check_within", "dequantize", "reduce"}));
}

TEST(Structure, RulesAreNamedAndShaped) {
  for_each_sample([&](const Op& op, const AnySample& s) {
    if (!s.breaks.empty()) return;
    OneNode n(op, s);
    const Types types = n.graph.types_of(n.node().operands), results = n.graph.types_of(n.node().results);
    std::vector<RegionType> regions;
    for (RegionId r : n.node().regions)
      regions.push_back({n.graph.types_of(n.graph.region(r).arguments), n.graph.types_of(n.graph.region(r).results)});
    const Signature signature{types, regions};
    if (op.cost_rule().kind == RuleKind::given) {
      const Cost c = op.cost(s.attrs, signature);
      EXPECT_GE(c.flops.constant(), 0);
      EXPECT_GE(c.bytes.constant(), 0);
    }
    if (op.shard_rule().kind != RuleKind::given) return;
    const ShardRule r = op.shard(s.attrs, signature);
    const auto fits = [&](const std::vector<std::vector<int>>& factors, const Types& of) {
      ASSERT_EQ(factors.size(), of.size());
      for (std::size_t i = 0; i < of.size(); ++i) {
        EXPECT_EQ(factors[i].size(), std::get<TensorType>(of[i]).shape.size());
        for (int f : factors[i]) EXPECT_TRUE(-1 <= f && f < static_cast<int>(r.factors.size()));
      }
    };
    fits(r.operands, types);
    fits(r.results, results);
  });
}

}  // namespace
}  // namespace rlx::testing
