// What the recognition pass finds, what it leaves as it is, and what the report says of both.
#include "written_out.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/rlx.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rlx::written_out {
namespace {

using Nodes = std::vector<std::string>;

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

// --- What stays as it is.

TEST(Recognise, NotWithoutTheMaximum) {
  EXPECT_TRUE(stays(graph_of(f32({4, 5}), [](Value x) {
    const Value e = ops::exp(x);
    return ops::div(e, ops::reduce_sum(e, {1}, true));
  })));
  EXPECT_TRUE(stays(graph_of(f32({4, 5}), [](Value x) { return ops::log(ops::reduce_sum(ops::exp(x), {1})); })));
  // A maximum that is not finite is subtracted: NaN where logsumexp is infinite.
  EXPECT_TRUE(stays(graph_of(f32({4, 5}), [](Value x) {
    const Value top = ops::reduce_max(x, {1}, true);
    return ops::add(ops::log(ops::reduce_sum(ops::exp(ops::sub(x, top)), {1}, true)), top);
  })));
}

TEST(Recognise, NotWhereAnInnerValueIsUsedOutside) {
  EXPECT_TRUE(stays(parsed(softmax_text(", %9 \"e\""))));
  EXPECT_FALSE(stays(parsed(softmax_text())));
  EXPECT_TRUE(stays(graph_of(std::vector<Type>{f32({4, 5})}, [](ValuesIn v) {
    const Value d = ops::sub(v[0], ops::reduce_max(v[0], {1}, true)), e = ops::exp(d);
    return Values{ops::div(e, ops::reduce_sum(e, {1}, true)), ops::sin(d)};
  })));
}

TEST(Recognise, NotAlongOtherAxes) {
  EXPECT_TRUE(stays(graph_of(f32({4, 4}), [](Value x) {
    const Value e = ops::exp(ops::sub(x, ops::reduce_max(x, {1}, true)));
    return ops::div(e, ops::reduce_sum(e, {0}, true));
  })));
  // The rows' sums laid along the columns of a square.
  EXPECT_TRUE(stays(graph_of(f32({4, 4}), [](Value x) {
    const Value e = ops::exp(ops::sub(x, ops::reduce_max(x, {1}, true)));
    return ops::div(e, ops::broadcast(ops::reduce_sum(e, {1}), {4, 4}, {1}));
  })));
  // The mean of the first dimension; layer_norm's is the last.
  const Graph g = graph_of({f32({8, 8}), f32({8}), f32({8})}, [](ValuesIn v) {
    const Value d =
        ops::sub(v[0], ops::div(ops::reduce_sum(v[0], {0}, true), ops::scalar(*v[0].builder, DType::f32, 8)));
    const Value s = ops::div(ops::reduce_sum(ops::mul(d, d), {0}, true), ops::scalar(*v[0].builder, DType::f32, 8));
    return Values{
        ops::add(ops::mul(ops::mul(d, ops::rsqrt(ops::add(s, ops::scalar(*d.builder, DType::f32, 1)))), v[1]), v[2])};
  });
  const Nodes nodes = recognised(g);
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const std::string& n) { return n.starts_with("mean"); }), 2);
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const std::string& n) { return n.starts_with("layer"); }), 0);
}

TEST(Recognise, NotWithOtherConstants) {
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) { return mean_by_hand(x, {1}, false, 6); })));
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) {  // The least maximum is 0.
    const Value zero = ops::scalar(*x.builder, DType::f32, 0);
    const Value top = ops::max(zero, ops::reduce_max(x, {1}));
    const Value e = ops::exp(ops::sub(x, ops::broadcast(top, {2, 5}, {0})));
    return ops::div(e, ops::reduce_sum(e, {1}, true));
  })));
  // The deviations are from another number than the mean.
  EXPECT_EQ(recognised(graph_of(f32({2, 5}),
                                [](Value x) {
                                  const Value d = ops::sub(x, mean_by_hand(x, {1}, true, 4));
                                  return mean_by_hand(ops::mul(d, d), {1}, false, 5);
                                }))
                .back(),
            "mean{axes = [1]}");
}

TEST(Recognise, NotWithOtherOperators) {
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) {
    const Value e = ops::exp(ops::sub(x, ops::reduce_min(x, {1}, true)));
    return ops::div(e, ops::reduce_sum(e, {1}, true));
  })));
  EXPECT_TRUE(stays(graph_of(f32({2, 5}), [](Value x) {  // The wrong way round.
    const Value e = ops::exp(ops::sub(x, ops::reduce_max(x, {1}, true)));
    return ops::div(ops::reduce_sum(e, {1}, true), e);
  })));
  EXPECT_TRUE(stays(graph_of(std::vector<Type>{f32({2, 5}), f32({2, 5})}, [](ValuesIn v) {  // Of two tensors.
    const Value e = ops::exp(ops::sub(v[0], ops::reduce_max(v[1], {1}, true)));
    return Values{ops::div(e, ops::reduce_sum(e, {1}, true))};
  })));
  // A division by the root rounds otherwise than a product with rsqrt.
  const Nodes nodes = recognised(graph_of({f32({4, 8}), f32({8}), f32({8})}, [](ValuesIn v) {
    const Value d = ops::sub(v[0], ops::mean(v[0], {1}, true)), square = ops::mean(ops::mul(d, d), {1}, true);
    const Value y = ops::div(d, ops::sqrt(ops::add(square, ops::scalar(*d.builder, DType::f32, 1e-5))));
    return Values{ops::add(ops::mul(y, v[1]), v[2])};
  }));
  EXPECT_EQ(nodes.back(), "add");
}

TEST(Recognise, NotOfIntegers) {
  EXPECT_TRUE(stays(graph_of(i32({2, 5}), [](Value x) { return mean_by_hand(x, {1}, false, 5); })));
}

// --- Sizes.

TEST(Recognise, SymbolsOnWhichNoConstraintDepends) {
  const auto softmax = [](int axis, SymbolTable symbols) {
    return graph_of(
        std::vector<Type>{f32({Dim::symbol("n"), 5})}, [&](ValuesIn v) { return Values{softmax_by_hand(v[0], axis)}; },
        std::move(symbols));
  };
  const SymbolTable any{{"n", {}}}, some{{"n", {.lower = 1}}};
  EXPECT_EQ(recognised(softmax(1, any)), Nodes{"softmax{axis = 1}"});
  // softmax refuses an empty dimension; the nodes do not.
  EXPECT_TRUE(stays(softmax(0, any)));
  EXPECT_EQ(recognised(softmax(0, some)), Nodes{"softmax"});
}

TEST(Recognise, SizesThatResultsIntroduce) {
  const Graph g = parsed(
      "rlx 1\ngraph g(%0 \"m\": bool[6], %1 \"x\": f32[3,5]) symbols(k) {\n"
      "  %2 = nonzero(%0) {size = k} : i32[k]\n"
      "  %3 = convert(%2) {dtype = f64} : f64[k]\n"
      "  %4 = constant() {value = f64[](0)} : f64[]\n" +
      reduce_line(5, 3, 4, 0, "add", "f64[]") +
      "  %9 = dim_size() {size = k, dtype = f64} : f64[]\n"
      "  %10 = div(%5, %9) : f64[]\n"
      "  return %10 \"mean\"\n}\n");
  EXPECT_EQ(nodes_of(look(g).graph), (Nodes{"nonzero{size = k}", "convert{dtype = f64}", "mean{axes = [0]}"}));
}

// --- Regions.

TEST(Recognise, InsideLoopsBranchesAndCheckpoints) {
  Graph g("loop");
  Builder b(g, registry());
  const Value x = b.input(f32({4, 8}), "x"), p = b.input(TensorType{DType::boolean}, "p");
  const auto i64 = [&](double v) { return ops::scalar(b, DType::i64, v); };
  const Value looped = ops::while_(
      std::array{i64(0), x}, {}, [&](ValuesIn v) { return Values{ops::compare(v[0], i64(3), ops::Direction::lt)}; },
      [&](ValuesIn v) { return Values{ops::add(v[0], i64(1)), softmax_by_hand(v[1], 1)}; })[1];
  const Value branched = ops::if_(
      p, std::array{looped}, [](ValuesIn v) { return Values{log_softmax_by_hand(v[0], 0)}; },
      [](ValuesIn v) { return Values{ops::sin(v[0])}; })[0];
  b.output(branched, "y");
  const Looked l = look(g);
  std::map<std::string, Nodes> inside;
  for (NodeId id : l.graph.region(Graph::top).nodes)
    for (RegionId r : l.graph.node(id).regions)
      for (const std::string& n : nodes_of(l.graph, r)) inside[std::string(l.graph.node(id).op->name())].push_back(n);
  EXPECT_EQ(inside["while"].back(), "softmax{axis = 1}");
  EXPECT_EQ(inside["if"], (Nodes{"log_softmax", "sin"}));
  const auto row =
      std::find_if(l.report.rows.begin(), l.report.rows.end(), [](const ReportRow& r) { return r.op == "softmax"; });
  ASSERT_NE(row, l.report.rows.end());
  EXPECT_TRUE(row->region.starts_with("while/")) << row->region;
  for (int part : row->recognised.from) EXPECT_EQ(l.report.rows[static_cast<std::size_t>(part)].region, row->region);
}

// A checkpoint's nodes have no rows: its own says it.
TEST(Recognise, InsideACheckpoint) {
  const Looked l = look(graph_of(f32({4, 8}), [](Value x) {
    return ops::checkpoint(std::array{x}, [](ValuesIn v) { return Values{softmax_by_hand(v[0], 1)}; })[0];
  }));
  const Node& n = l.graph.node(l.graph.region(Graph::top).nodes.at(0));
  EXPECT_EQ(nodes_of(l.graph, n.regions.at(0)), Nodes{"softmax{axis = 1}"});
  ASSERT_EQ(l.report.rows.size(), 1u);
  ASSERT_EQ(l.report.rows[0].notes.size(), 1u);
  EXPECT_TRUE(l.report.rows[0].notes[0].starts_with("recognised: softmax from ")) << l.report.rows[0].notes[0];
}

// --- Policies.

const KernelRecord softmax_record{
    .name = "made_up.softmax", .op = "softmax", .provider = "handwritten", .action = Launch{[](const LaunchCall&) {}}};
Graph one_softmax() {
  return graph_of(f32({4, 8}), [](Value x) { return softmax_by_hand(x, 1); });
}
DispatchReport compiled(const CompileOptions& options, std::span<const KernelRecord> records = {}) {
  return compile_program(one_softmax(), registry(), Target{.device = "made_up"}, records, options).report;
}
const std::span<const KernelRecord> with_record(&softmax_record, 1);

TEST(Recognise, ARecordOfTheOperatorIsTaken) {
  const DispatchReport r = compiled({}, with_record);
  EXPECT_EQ(r.rows.back().path, Path::native);
  EXPECT_EQ(r.rows.back().lowering, "made_up.softmax");
  EXPECT_EQ(r.rows.back().steps, std::vector<std::string>{"made_up.softmax"});
  EXPECT_EQ(r.steps.size(), 1u);
  EXPECT_EQ(r.unresolved(), 0u);
}

TEST(Recognise, PoliciesHoldForWhatIsRecognised) {
  const DispatchReport common = compiled({.preference = Preference::force_common}, with_record);
  EXPECT_EQ(common.rows.back().op, "softmax");
  EXPECT_EQ(common.rows.back().path, Path::common);
  EXPECT_EQ(common.rows.back().lowering, "decomposition");
  EXPECT_EQ(compiled({.per_operator = {{"softmax", Preference::force_common}}}, with_record).rows.back().path,
            Path::common);
  EXPECT_EQ(compiled({.preference = Preference::force_native}, with_record).rows.back().lowering, "made_up.softmax");
  // Primitives are native as they stand; the operator would not be.
  const DispatchReport native = compiled({.preference = Preference::force_native});
  EXPECT_EQ(native.unresolved(), 0u);
  EXPECT_EQ(native.rows.back().op, "div");
}

TEST(Recognise, IsSwitchedOff) {
  for (const CompileOptions& off : {CompileOptions{.recognise = false}, CompileOptions{.check_numerics = true}}) {
    const DispatchReport r = compiled(off, with_record);
    for (const ReportRow& row : r.rows) {
      EXPECT_NE(row.path, Path::recognised);
      EXPECT_EQ(row.recognised.written, "");
    }
    EXPECT_EQ(r.rows.back().op, "div");
  }
}

// One node either way: only a record makes a difference.
TEST(Recognise, AMatrixProductForARecord) {
  const KernelRecord matmul{.name = "made_up.matmul",
                            .op = "linalg.matmul",
                            .provider = "handwritten",
                            .dtypes = {DTypeSet{DType::f64}},
                            .action = Launch{[](const LaunchCall&) {}}};
  const auto product = [](DType t, std::vector<int> of_right) {
    return graph_of(std::vector<Type>{tensor(t, {4, 4}), tensor(t, {4, 4})},
                    [&](ValuesIn v) { return Values{ops::dot_general(v[0], v[1], {{}, {}, {1}, of_right})}; });
  };
  EXPECT_EQ(nodes_of(look(product(DType::f64, {0}), {}, std::span(&matmul, 1)).graph), Nodes{"linalg.matmul"});
  EXPECT_TRUE(stays(product(DType::f64, {0})));
  for (const Graph& other : {product(DType::f32, {0}), product(DType::f64, {1})})
    EXPECT_EQ(nodes_of(look(other, {}, std::span(&matmul, 1)).graph), nodes_of(other));
}

// --- The report.

TEST(Recognise, RowsOfTheReport) {
  const Program p = compile_program(parsed(softmax_text()), registry(), Target{.device = "made_up"}, {});
  const DispatchReport& r = p.report;
  ASSERT_EQ(r.rows.size(), 9u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(r.rows[i].path, Path::recognised);
    EXPECT_EQ(r.rows[i].recognised.into, 8);
    EXPECT_TRUE(r.rows[i].steps.empty());
  }
  EXPECT_EQ(r.rows[8].path, Path::common);
  EXPECT_FALSE(r.rows[8].steps.empty());
  EXPECT_GT(r.rows[8].flops, 0);
  EXPECT_EQ(r.unresolved(), 0u);
  const std::string table = r.to_table();
  EXPECT_NE(table.find("softmax of %15"), std::string::npos) << table;
  EXPECT_NE(table.find("      note: recognised: softmax from 9 nodes: %1 constant, %2 constant, %3 reduce, %7 "
                       "broadcast, %8 sub, %9 exp, %10 reduce, %14 broadcast, %15 div\n"),
            std::string::npos)
      << table;
  const auto nodes = nlohmann::json::parse(r.to_json())["nodes"];
  EXPECT_EQ(nodes[2]["path"], "recognised");
  EXPECT_EQ(nodes[2]["op"], "reduce");
  EXPECT_EQ(nodes[2]["lowering"], "softmax");
  EXPECT_EQ(nodes[2]["recognised_in"], "%15");
  EXPECT_TRUE(nodes[2]["recognised"].is_null());
  EXPECT_EQ(nodes[8]["op"], "softmax");
  EXPECT_EQ(nodes[8]["recognised"]["written"], "div");
  EXPECT_EQ(nodes[8]["recognised"]["pattern"], "softmax");
  EXPECT_EQ(nodes[8]["recognised"]["from"], nlohmann::json({"%1", "%2", "%3", "%7", "%8", "%9", "%10", "%14"}));
  EXPECT_TRUE(nodes[8]["recognised_in"].is_null());
}

}  // namespace
}  // namespace rlx::written_out
