// Kernels with reductions: which of softmax, layer norm, their derivatives and their like are one kernel, and that each
// still gives its values on every instruction level, whatever the rows' length and the number of threads.
#include "backends/cpu/cpu_device.hpp"
#include "catalog.hpp"

#include <rlx/compile/lir.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>
#include <rlx/transform/vjp.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace rlx {
namespace {

using Program = std::function<Values(ValuesIn)>;

Graph graph_of(const std::vector<Type>& inputs, const Program& f) {
  Graph g;
  Builder b(g, catalog().operators);
  Values in;
  for (std::size_t i = 0; i < inputs.size(); ++i) in.push_back(b.input(inputs[i], "x" + std::to_string(i)));
  const Values out = f(in);
  for (std::size_t i = 0; i < out.size(); ++i) b.output(out[i], "y" + std::to_string(i));
  return g;
}

HostValues arguments(const Graph& g) {
  HostValues in;
  std::uint32_t state = 1;
  for (ValueId v : g.inputs()) {
    HostTensor t(g.tensor_type(v).dtype, constant_shape(g.tensor_type(v).shape));
    for (std::int64_t i = 0; i < t.numel(); ++i) {
      state = state * 1664525u + 1013904223u;
      t.set_f64(i, static_cast<double>(state >> 8) * 0x1p-23 - 1);
    }
    in.push_back(t);
  }
  return in;
}

std::shared_ptr<runtime::Device> cpu(emit_llvm::Isa isa, int threads) {
  cpu::Options o;
  o.isa = isa;
  o.threads = threads;
  return cpu::open_device(o);
}

// The number of kernels, once every instruction level has given what the references give, to `tolerance` of the
// greatest element (sums of up to 10^5 terms of size 1, in another order), and one bit pattern for any number of
// threads.
std::size_t kernels(const Graph& g, double tolerance = 1e-12) {
  const HostValues in = arguments(g);
  const HostValues expected = evaluate(g, catalog().operators, in);
  std::size_t count = 0;
  for (const emit_llvm::Isa isa : {emit_llvm::Isa::generic, emit_llvm::Isa::avx2, emit_llvm::Isa::avx512}) {
    if (isa > emit_llvm::best_host_isa()) continue;
    HostValues first;
    for (const int threads : {1, 2, 4}) {
      const runtime::Executable e(cpu(isa, threads), g, catalog(), {.checked = threads == 2});
      count = lir::kernels(e.lir()).size();
      const HostValues got = e.run(in);
      for (std::size_t k = 0; k < got.size(); ++k) {
        const auto &x = std::get<HostTensor>(got[k]), &y = std::get<HostTensor>(expected[k]);
        double scale = 1;
        for (std::int64_t i = 0; i < y.numel(); ++i) scale = std::max(scale, std::abs(y.get_f64(i)));
        for (std::int64_t i = 0; i < x.numel(); ++i)
          if (!(std::abs(x.get_f64(i) - y.get_f64(i)) <= tolerance * scale)) {
            ADD_FAILURE() << "output " << k << " element " << i << ": " << x.get_f64(i) << ", expected " << y.get_f64(i)
                          << " (" << name(isa) << ", " << threads << " threads)";
            break;
          }
        if (threads == 1) continue;
        EXPECT_EQ(std::memcmp(x.data(), std::get<HostTensor>(first[k]).data(), x.bytes()), 0) << "bits of " << k;
      }
      if (threads == 1) first = got;
    }
  }
  return count;
}

Values softmax(ValuesIn x) { return {ops::softmax(x[0], x[0].rank() - 1)}; }
Values layer_norm(ValuesIn x) { return {x[0].builder->emit1("layer_norm", x, ops::LayerNormAttrs{1e-5})}; }
Graph pulled_back(const Graph& g) { return transform::vjp(g, catalog().operators); }

TEST(Rows, SoftmaxIsOneKernel) {
  for (const Shape& s : {Shape{70, 33}, Shape{3, 1000}, Shape{1, 5}, Shape{17}, Shape{2, 3, 64}})
    EXPECT_EQ(kernels(graph_of({f64(s)}, softmax)), 1u) << to_string(s);
  EXPECT_EQ(kernels(graph_of({f32({130, 1024})}, softmax), 1e-6), 1u);
  EXPECT_EQ(kernels(graph_of({f16({5, 100})}, softmax), 1e-3), 1u);
}

TEST(Rows, LogSoftmaxIsOneKernel) {
  EXPECT_EQ(
      kernels(graph_of({f64({70, 33})},
                       [](ValuesIn x) { return Values{x[0].builder->emit1("log_softmax", x, ops::AxisAttrs{1})}; })),
      1u);
}

TEST(Rows, LayerNormIsOneKernel) {
  EXPECT_EQ(kernels(graph_of({f64({70, 33}), f64({33}), f64({33})}, layer_norm)), 1u);
  EXPECT_EQ(kernels(graph_of({f64({4, 5, 48}), f64({48}), f64({48})}, layer_norm)), 1u);
}

TEST(Rows, SoftmaxBackwardsIsOneKernel) { EXPECT_EQ(kernels(pulled_back(graph_of({f64({70, 33})}, softmax))), 1u); }

// One for the rows, and one for what is summed over them: the cotangents of scale and bias.
TEST(Rows, LayerNormBackwardsIsTwoKernels) {
  EXPECT_EQ(kernels(pulled_back(graph_of({f64({70, 33}), f64({33}), f64({33})}, layer_norm))), 2u);
}

// Along a dimension that is not the last, siblings share a kernel and later passes do not.
TEST(Rows, ReductionsOverLeadingDimensions) {
  EXPECT_EQ(kernels(graph_of(
                {f64({50, 37})},
                [](ValuesIn x) { return Values{ops::reduce_sum(x[0], {0}), ops::reduce_max(ops::exp(x[0]), {0})}; })),
            1u);
  EXPECT_GT(kernels(graph_of({f64({50, 37})}, [](ValuesIn x) { return Values{ops::softmax(x[0], 0)}; })), 1u);
}

// Rows that are cut into chunks: one pass and a stage that combines, whatever reads the same or is read in place.
TEST(Rows, LongRowsHaveOnePass) {
  EXPECT_EQ(kernels(graph_of({f64({100001}), f64({100001})},
                             [](ValuesIn x) {
                               const Value y = ops::exp(ops::add(x[0], x[1]));
                               return Values{y, ops::sum_all(ops::mul(y, x[0])), ops::sum_all(ops::mul(y, y)),
                                             ops::reduce_max(y, {0})};
                             })),
            2u);
  // The maximum must be known before its exponentials are summed.
  EXPECT_EQ(kernels(graph_of({f64({2, 50000})}, softmax)), 5u);
}

// A sum over both dimensions reads the tensor as one run.
// Columns in chunks: a kernel for the pieces, with the columns side by side, and one that combines them.
TEST(Rows, LongColumnsAreCutToo) {
  for (const Shape& s : {Shape{40000, 5}, Shape{33000, 16}, Shape{2, 20000, 3}}) {
    const int axis = static_cast<int>(s.size()) - 2;
    EXPECT_EQ(kernels(graph_of({f64(s)},
                               [&](ValuesIn x) {
                                 return Values{ops::reduce_sum(x[0], {axis}), ops::reduce_max(x[0] * x[0], {axis})};
                               })),
              2u)
        << to_string(s);
  }
  // The last dimension is summed, the one before it is not.
  EXPECT_EQ(kernels(graph_of({f64({200, 3, 150})}, [](ValuesIn x) { return Values{ops::reduce_sum(x[0], {0, 2})}; })),
            2u);
}

TEST(Rows, AllDimensionsAtOnce) {
  EXPECT_EQ(
      kernels(graph_of({f64({300, 200})}, [](ValuesIn x) { return Values{ops::sum_all(x[0]), ops::mul(x[0], x[0])}; })),
      2u);
}

// The value of a row is read at another row: it has to be complete.
TEST(Rows, AnotherRowsValueIsAnotherKernel) {
  EXPECT_EQ(kernels(graph_of({f64({70, 70})},
                             [](ValuesIn x) {
                               const Value m = ops::reduce_max(x[0], {1});
                               return Values{ops::sub(x[0], ops::broadcast(m, {70, 70}, {0})),
                                             ops::sub(x[0], ops::broadcast(m, {70, 70}, {1}))};
                             })),
            2u);
  EXPECT_EQ(kernels(graph_of({f64({70, 33})},
                             [](ValuesIn x) {
                               const Value m = ops::reverse(ops::reduce_max(x[0], {1}, true), {0});
                               return Values{ops::sub(x[0], ops::broadcast_to(m, {70, 33}))};
                             })),
            2u);
}

// What a row is reduced to is wanted itself, after more arithmetic, and with a dimension of size 1.
TEST(Rows, KeptValuesAreStoredOnceARow) {
  EXPECT_EQ(kernels(graph_of({f64({70, 33}), f64({70})},
                             [](ValuesIn x) {
                               const Value mean = ops::reduce_sum(x[0], {1}, true) / 33.0, e = ops::exp(x[1]);
                               const Value scale = ops::reshape(e, {70, 1});
                               const Value y = ops::mul(ops::sub(x[0], mean), scale);
                               return Values{y, mean, ops::reduce_sum(ops::mul(y, y), {1}), e};
                             })),
            1u);
}

// A dear value of two passes stays in the row of the result until that is stored.
TEST(Rows, ExponentialsAreWorkedOutOnce) {
  const auto exponentials = [](const Graph& g) {
    const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
    int count = 0;
    for (NodeId n = 0; static_cast<std::size_t>(n) < e.lir().node_count(); ++n)
      count += e.lir().node(n).op && e.lir().node(n).op->name() == "exp";
    return count;
  };
  const Graph plain = graph_of({f64({70, 33})}, softmax);
  EXPECT_EQ(exponentials(plain), 1);
  const Graph reversed = graph_of({f64({70, 33})}, [](ValuesIn x) {
    const Value e = ops::reverse(ops::exp(x[0]), {1});
    return Values{ops::mul(e, ops::reduce_sum(ops::mul(e, x[0]), {1}, true))};
  });
  EXPECT_EQ(kernels(reversed), 1u);
  EXPECT_EQ(exponentials(reversed), 1);
}

// A division that a row has one of makes nothing dear: what is centred is worked out again, not kept in between.
TEST(Rows, CentredElementsAreNotStored) {
  const Graph g = graph_of({f64({70, 33})}, [](ValuesIn x) {
    const Value centred = ops::sub(x[0], ops::reduce_sum(x[0], {1}, true) / 33.0);
    return Values{centred * ops::reduce_sum(ops::mul(centred, centred), {1}, true)};
  });
  EXPECT_EQ(kernels(g), 1u);
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  int stores = 0;
  for (NodeId n = 0; static_cast<std::size_t>(n) < e.lir().node_count(); ++n)
    stores += e.lir().node(n).op && e.lir().node(n).op->name() == "lir.store";
  EXPECT_EQ(stores, 1);
}

TEST(Rows, ReductionOfSeveralOperandsBesideAnother) {
  EXPECT_EQ(kernels(graph_of({f64({70, 33})},
                             [](ValuesIn x) {
                               Builder& b = *x[0].builder;
                               const Values xs{x[0], ops::iota(b, DType::f64, {70, 33}, 1)};
                               const Values identities{ops::scalar(b, DType::f64, -INFINITY),
                                                       ops::scalar(b, DType::f64, 1e9)};
                               const Values greatest = ops::reduce(xs, identities, {1}, [](ValuesIn v) {
                                 const Value second = ops::compare(v[2], v[0], ops::Direction::gt);
                                 return Values{ops::select(second, v[2], v[0]), ops::select(second, v[3], v[1])};
                               });
                               return Values{greatest[1], ops::reduce_sum(x[0], {1})};
                             })),
            1u);
}

TEST(Rows, EveryNodesReportRowNamesTheSharedKernel) {
  const Graph g = graph_of({f64({70, 33})}, [](ValuesIn x) {
    return Values{ops::reduce_sum(x[0], {1}), ops::reduce_max(x[0], {1}), ops::exp(x[0])};
  });
  const runtime::Executable e(runtime::open_device("cpu"), g, catalog());
  int rows = 0;
  for (const ReportRow& r : e.report().rows)
    if (r.op == "reduce" || r.op == "exp") {
      ++rows;
      ASSERT_EQ(r.steps.size(), 1u);
      EXPECT_EQ(r.steps[0], e.report().steps[0].name);
    }
  EXPECT_EQ(rows, 3);
}

}  // namespace
}  // namespace rlx
