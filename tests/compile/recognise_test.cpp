// What the recognition pass finds, however it is written.
#include "written_out.hpp"

#include <rlx/ir/evaluate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rlx::written_out {
namespace {

// --- Every composite that has a pattern.

TEST(Recognise, EachSampleOfEachOperatorIsFoundInItsDecomposition) {
  const KernelRecord matmul{.name = "made_up.matmul",
                            .op = "linalg.matmul",
                            .provider = "handwritten",
                            .action = Launch{[](const LaunchCall&) {}}};
  std::size_t found = 0;
  for (const char* name : {"softmax", "log_softmax", "logsumexp", "mean", "var", "layer_norm", "linalg.matmul"}) {
    const Op& op = registry().get(name);
    for (const AnySample& s : op.samples()) {
      if (!s.breaks.empty()) continue;
      std::vector<Type> types;
      for (const SampleOperand& o : s.in) types.push_back(o.type);
      SCOPED_TRACE(name + s.attrs.to_string() + " of " + to_string(types[0]));
      const Graph written = graph_of(types, [&](ValuesIn in) { return op.decompose(*in[0].builder, s.attrs, in); });
      const auto* moments = s.attrs.get_if<ops::MomentAttrs>();
      if (moments && moments->axes.empty()) continue;  // x over 1: nothing is summed.
      const Looked l = look(written, {}, std::span(&matmul, 1));
      ASSERT_EQ(nodes_of(l.graph), Nodes{name + s.attrs.to_string()}) << print(l.graph);
      EXPECT_EQ(l.graph.node(l.graph.region(Graph::top).nodes[0]).operands, l.graph.inputs());
      ++found;
    }
  }
  EXPECT_GE(found, 35u);
}

// Whatever is found inside of what other operators decompose into computes what was there.
TEST(Recognise, EveryDecompositionKeepsItsBits) {
  std::size_t looked = 0;
  std::mt19937_64 random(11);
  for (const Op* op : registry().all())
    for (const AnySample& s : op->samples()) {
      const auto plain = [](const SampleOperand& o) {
        const auto* t = std::get_if<TensorType>(&o.type);
        return t && is_floating(t->dtype) && is_constant(o.type) && !t->quantization;
      };
      if (op->meaning() != Meaning::composite || !s.breaks.empty() || s.in.empty() ||
          !op->introduces(s.attrs).empty() || !std::all_of(s.in.begin(), s.in.end(), plain))
        continue;
      SCOPED_TRACE(std::string(op->name()) + s.attrs.to_string());
      std::vector<Type> types;
      HostValues in;
      for (const SampleOperand& o : s.in) {
        types.push_back(o.type);
        const auto& t = std::get<TensorType>(o.type);
        HostTensor x(t.dtype, constant_shape(t.shape));
        std::uniform_real_distribution<double> element(0.5, 1.5);
        for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, element(random));
        in.emplace_back(std::move(x));
      }
      const Graph g = graph_of(types, [&](ValuesIn v) { return op->decompose(*v[0].builder, s.attrs, v); });
      const Graph found = look(g).graph;
      HostValues before;
      try {
        before = evaluate(g, registry(), in);
      } catch (const NumericalError&) { continue; }  // A matrix that is not positive definite.
      const HostValues after = evaluate(found, registry(), in);
      for (std::size_t i = 0; i < before.size(); ++i)
        if (const auto* x = std::get_if<HostTensor>(&before[i])) {
          EXPECT_TRUE(x->identical(std::get<HostTensor>(after[i])));
        }
      ++looked;
    }
  EXPECT_GE(looked, 40u);
}

TEST(Recognise, OperatorsThatAreThereAlreadyStay) {
  const Graph g = graph_of(f32({4, 5}), [](Value x) { return ops::softmax(ops::mean(x, {1}, true), 0); });
  EXPECT_TRUE(stays(g));
  EXPECT_EQ(look(g).report.rows[0].recognised.written, "");
}

// --- Written by hand.

TEST(Recognise, SoftmaxInText) {
  const Looked l = look(parsed(softmax_text()));
  EXPECT_EQ(nodes_of(l.graph), Nodes{"softmax{axis = 1}"});
  const ReportRow& row = l.report.rows.back();
  EXPECT_EQ(row.op, "softmax");
  EXPECT_EQ(row.value, "%15");
  EXPECT_EQ(row.types, "f32[2,3]");
  EXPECT_EQ(row.location.to_string(), "written.rlx:21");
  EXPECT_EQ(row.recognised.written, "div");
  EXPECT_EQ(row.recognised.pattern, "softmax");
  EXPECT_EQ(row.recognised.from, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(row.recognised.into, -1);
}

TEST(Recognise, ByHand) {
  EXPECT_EQ(recognised(graph_of(f32({4, 5}), [](Value x) { return softmax_by_hand(x, 0); })), Nodes{"softmax"});
  EXPECT_EQ(recognised(graph_of(f64({2, 3, 4}), [](Value x) { return log_softmax_by_hand(x, 1); })),
            Nodes{"log_softmax{axis = 1}"});
  EXPECT_EQ(recognised(graph_of(f32({2, 3, 4}), [](Value x) { return logsumexp_by_hand(x, {0, 2}); })),
            Nodes{"logsumexp{axes = [0, 2], keep = true}"});
  EXPECT_EQ(recognised(graph_of(f32({2, 5}), [](Value x) { return mean_by_hand(x, {0, 1}, false, 10); })),
            Nodes{"mean{axes = [0, 1]}"});
  EXPECT_EQ(
      recognised(graph_of(f32({2, 3, 4}), [](Value x) { return ops::reshape(logsumexp_by_hand(x, {0, 2}), {3}); })),
      Nodes{"logsumexp{axes = [0, 2]}"});
  EXPECT_EQ(recognised(graph_of(f32({2, 5}), [](Value x) { return mean_by_hand(x, {1}, true, 5); })),
            Nodes{"mean{axes = [1], keep = true}"});
  EXPECT_EQ(recognised(graph_of(f32({2, 5}), [](Value x) { return var_by_hand(x, {1}, 5, 5); })),
            Nodes{"var{axes = [1]}"});
  // The count less one, as one number.
  EXPECT_EQ(recognised(graph_of(f32({2, 5}), [](Value x) { return var_by_hand(x, {1}, 5, 4); })),
            Nodes{"var{axes = [1], correction = 1}"});
  EXPECT_EQ(recognised(graph_of({f32({2, 3, 8}), f32({8}), f32({8})},
                                [](ValuesIn v) { return Values{layer_norm_by_hand(v[0], v[1], v[2], 1e-6, 8)}; })),
            Nodes{"layer_norm{epsilon = 1e-06}"});
}

// Small types are computed in f32 and rounded once, as the operator is.
TEST(Recognise, SmallTypesWidenedByHand) {
  const auto wide = [](Value x) { return ops::convert(softmax_by_hand(ops::convert(x, DType::f32), 1), x.dtype()); };
  EXPECT_EQ(recognised(graph_of(bf16({4, 5}), wide)), Nodes{"softmax{axis = 1}"});
  // Every step rounded is another function.
  EXPECT_TRUE(stays(graph_of(bf16({4, 5}), [](Value x) { return softmax_by_hand(x, 1); })));
}

// --- What may be written in several ways.

// The maximum with -inf is the maximum, and 1 times x is x; a constant may have all its elements; a broadcast may stand
// where the decomposition has a reshape and a broadcast.
TEST(Recognise, OtherShapesAndIdentities) {
  const Graph g = graph_of(f32({1, 3, 4}), [](Value x) {
    Builder& b = *x.builder;
    Value top = ops::max(ops::full(b, DType::f32, {1, 3}, -INFINITY), ops::reduce_max(x, {2}));
    top = ops::broadcast(ops::reshape(top, {3}), {1, 3, 4}, {1});
    const Value e = ops::exp(ops::sub(x, b.emit1("stop_gradient", {top})));
    const Value sum = ops::reshape(ops::reduce_sum(e, {2}), {1, 3, 1});
    return ops::div(ops::mul(ops::scalar(b, DType::f32, 1), e), ops::broadcast_to(sum, {1, 3, 4}));
  });
  EXPECT_EQ(recognised(g), Nodes{"softmax{axis = 2}"});
  const Graph of_elements = graph_of(f32({2, 3}), [](Value x) {
    const double threes[] = {3, 3};
    return ops::div(ops::reduce_sum(x, {1}), ops::constant(*x.builder, HostTensor::from(DType::f32, {2}, threes)));
  });
  EXPECT_EQ(recognised(of_elements), Nodes{"mean{axes = [1]}"});
}

// Operators that have a pattern are looked into: an importer's mean inside a layer norm that it has no name for.
TEST(Recognise, OperatorsInsideOfOthers) {
  const Graph g = graph_of({f32({4, 8}), f32({8}), f32({8})}, [](ValuesIn v) {
    const Value d = ops::sub(v[0], ops::mean(v[0], {1}, true)), square = ops::mean(ops::mul(d, d), {1}, true);
    const Value y = ops::mul(d, ops::rsqrt(ops::add(square, ops::scalar(*d.builder, DType::f32, 1e-3))));
    return Values{ops::add(ops::mul(y, v[1]), v[2])};
  });
  EXPECT_EQ(recognised(g), Nodes{"layer_norm{epsilon = 0.001}"});
}

// The reciprocal of a power of two is exact, that of any other count is not.
TEST(Recognise, AMeanByTheReciprocalOfItsCount) {
  const auto mean = [](std::int64_t n) {
    return graph_of(f32({2, n}), [n](Value x) {
      return ops::mul(ops::reduce_sum(x, {1}), ops::scalar(*x.builder, DType::f32, 1.0 / static_cast<double>(n)));
    });
  };
  const Looked l = look(mean(8));
  EXPECT_EQ(nodes_of(l.graph), Nodes{"mean{axes = [1]}"});
  EXPECT_EQ(l.report.rows.back().recognised.pattern, "mean_by_reciprocal");
  EXPECT_NE(l.report.to_table().find("note: recognised: mean (mean_by_reciprocal) from "), std::string::npos)
      << l.report.to_table();
  EXPECT_TRUE(stays(mean(6)));
  EXPECT_EQ(recognised(graph_of(f16({2, 8}),
                                [](Value x) {  // The sum of f16 in f32.
                                  const Value sum = ops::reduce_sum(x, {1}, false, DType::f32);
                                  return ops::convert(ops::mul(sum, ops::scalar(*x.builder, DType::f32, 0.125)),
                                                      DType::f16);
                                })),
            Nodes{"mean{axes = [1]}"});
}

TEST(Recognise, ManyInOneGraph) {
  constexpr int n = 200;
  const Graph g = graph_of(f32({4, 5}), [](Value x) {
    for (int i = 0; i < n; ++i) x = softmax_by_hand(x, i % 2);
    return x;
  });
  const Nodes nodes = recognised(g);
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) EXPECT_EQ(nodes[static_cast<std::size_t>(i)], i % 2 ? "softmax{axis = 1}" : "softmax");
}

// Constants and repeated operands that others use too stay for those.
TEST(Recognise, WhatIsSharedStays) {
  const Graph g = graph_of({f32({4, 8}), f32({8}), f32({8})}, [](ValuesIn v) {
    const Value scale = ops::broadcast(v[1], {4, 8}, {1}), bias = ops::broadcast(v[2], {4, 8}, {1});
    const Value a = layer_norm_by_hand(v[0], scale, bias, 1e-5, 8), b = layer_norm_by_hand(a, scale, bias, 1e-5, 8);
    return Values{b, ops::sin(scale)};
  });
  EXPECT_EQ(recognised(g), (Nodes{"broadcast{shape = [4, 8], axes = [1]}", "layer_norm", "layer_norm", "sin"}));
}

}  // namespace
}  // namespace rlx::written_out
