// What is recognised gives the bits of what was written, and of the operator, on every device: nothing here has a
// record of these operators, so that all three run the same primitives.
#include "written_out.hpp"

#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace rlx::written_out {
namespace {

std::vector<std::string> devices() {
  std::vector<std::string> out;
  for (const char* name : {"reference", "cpu", "oneapi"})
    for (const runtime::BackendEntry* b : runtime::backends())
      if (b->name == name && b->availability().available) out.push_back(name);
  return out;
}

HostValues arguments(const Graph& g, double low = -3, double high = 3) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> in(low, high);
  HostValues out;
  for (ValueId v : g.inputs()) {
    const TensorType& t = g.tensor_type(v);
    HostTensor x(t.dtype, constant_shape(t.shape));
    for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, in(random));
    out.emplace_back(std::move(x));
  }
  return out;
}

HostTensor result(const std::string& device, const Graph& g, const HostValues& in, const CompileOptions& options) {
  const runtime::Executable e(runtime::open_device(device), g, catalog(), options);
  return std::get<HostTensor>(e.run(in).at(0));
}

using Fill = std::function<Value(ValuesIn)>;
// `written` is recognised as the one operator `op` emits.
void expect_same_bits(const std::vector<Type>& types, const Fill& written, const Fill& op, double low = -3,
                      double high = 3) {
  const auto graph = [&](const Fill& f) { return graph_of(types, [&](ValuesIn in) { return Values{f(in)}; }); };
  const Graph by_hand = graph(written), by_operator = graph(op);
  SCOPED_TRACE(nodes_of(by_operator)[0] + " of " + to_string(types[0]));
  ASSERT_EQ(recognised(by_hand), nodes_of(by_operator));
  const HostValues in = arguments(by_hand, low, high);
  for (const std::string& device : devices())
    for (const bool fuse : {true, false}) {
      SCOPED_TRACE(device + (fuse ? "" : ", not fused"));
      const HostTensor found = result(device, by_hand, in, {.fuse = fuse});
      EXPECT_TRUE(found.identical(result(device, by_hand, in, {.fuse = fuse, .recognise = false})));
      EXPECT_TRUE(found.identical(result(device, by_operator, in, {.fuse = fuse})));
    }
}

TEST(RecogniseBits, Softmax) {
  const Fill written = [](ValuesIn v) { return softmax_by_hand(v[0], 1); };
  const Fill op = [](ValuesIn v) { return ops::softmax(v[0], 1); };
  for (const Type& t : {Type(f32({3, 7})), Type(f32({2, 300})), Type(f64({2, 5, 3}))})
    expect_same_bits({t}, written, op, -90, 90);
  expect_same_bits(
      {bf16({3, 70})},
      [](ValuesIn v) { return ops::convert(softmax_by_hand(ops::convert(v[0], DType::f32), 1), DType::bf16); }, op);
}

TEST(RecogniseBits, LogSoftmaxAndLogsumexp) {
  expect_same_bits(
      {f32({5, 33})}, [](ValuesIn v) { return log_softmax_by_hand(v[0], 0); },
      [](ValuesIn v) { return ops::log_softmax(v[0], 0); });
  for (const Type& t : {Type(f32({4, 100})), Type(f64({3, 9}))})
    expect_same_bits(
        {t}, [](ValuesIn v) { return logsumexp_by_hand(v[0], {1}); },
        [](ValuesIn v) { return ops::logsumexp(v[0], {1}, true); });
}

TEST(RecogniseBits, Moments) {
  for (const int n : {7, 64, 1000}) {
    const double count = n;
    const Type t = f32({3, n});
    expect_same_bits(
        {t}, [&](ValuesIn v) { return mean_by_hand(v[0], {1}, false, count); },
        [](ValuesIn v) { return ops::mean(v[0], {1}, false); });
    expect_same_bits(
        {t}, [&](ValuesIn v) { return var_by_hand(v[0], {1}, count, count - 1); },
        [](ValuesIn v) { return ops::var(v[0], {1}, false, 1); });
  }
  expect_same_bits(
      {f32({5, 64})},
      [](ValuesIn v) { return ops::mul(ops::scalar(*v[0].builder, DType::f32, 1.0 / 64), ops::reduce_sum(v[0], {1})); },
      [](ValuesIn v) { return ops::mean(v[0], {1}, false); });
}

// Few and short rows, of which what a row costs decides whether sums or rows take the lanes.
TEST(RecogniseBits, MeansOfFewRowsByAReciprocal) {
  const auto check = [](const TensorType& t, int axis, bool keep) {
    const double reciprocal = 1.0 / static_cast<double>(t.shape[static_cast<std::size_t>(axis)].constant());
    expect_same_bits(
        {t},
        [&](ValuesIn v) {
          const Value sum = ops::reduce_sum(v[0], {axis}, keep);
          return ops::mul(sum, ops::full(*v[0].builder, t.dtype, sum.shape(), reciprocal));
        },
        [&](ValuesIn v) { return ops::mean(v[0], {axis}, keep); });
  };
  for (const bool keep : {false, true})
    for (const int rows : {1, 2, 3, 5, 8})
      for (const int n : {2, 4, 8, 16}) {
        check(f32({rows, n}), 1, keep);
        check(f64({rows, n}), 1, keep);
        check(f64({n, rows}), 0, keep);
      }
}

TEST(RecogniseBits, LayerNorm) {
  for (const int n : {8, 37, 512})
    expect_same_bits(
        {f32({3, n}), f32({n}), f32({n})}, [&](ValuesIn v) { return layer_norm_by_hand(v[0], v[1], v[2], 1e-5, n); },
        [](ValuesIn v) { return ops::layer_norm(v[0], v[1], v[2], 1e-5); });
}

// e^0 and e^ln 3 are 1 and 3. The tolerance is four units of f32 at 1.
TEST(RecogniseBits, SoftmaxInTextIsSoftmax) {
  const double x[] = {0, 1.0986122886681098, -INFINITY, 5, 5, -INFINITY}, y[] = {0.25, 0.75, 0, 0.5, 0.5, 0};
  const HostValues in{HostTensor::from(DType::f32, {2, 3}, x)};
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const runtime::Executable e(runtime::open_device(device), parsed(softmax_text()), catalog());
    EXPECT_EQ(e.report().rows.back().op, "softmax");
    const auto out = std::get<HostTensor>(e.run(in)[0]);
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_NEAR(out.get_f64(i), y[i], 4 * 1.2e-7) << i;
  }
}

// Between other nodes, and with constants that others use.
TEST(RecogniseBits, AmongOtherNodes) {
  const Graph g = graph_of(std::vector<Type>{f32({4, 6}), f32({6, 6})}, [](ValuesIn v) {
    const Value shared = ops::scalar(*v[0].builder, DType::f32, 6);
    const Value x = ops::matmul(v[0], v[1]), top = ops::reduce_max(x, {1}, true), y = ops::mul(x, shared);
    const Value e = ops::exp(ops::sub(x, top)), m = ops::div(ops::reduce_sum(y, {1}, true), shared);
    return Values{ops::add(ops::mul(ops::div(e, ops::reduce_sum(e, {1}, true)), y), m)};
  });
  const Nodes nodes = recognised(g);
  EXPECT_TRUE(std::count(nodes.begin(), nodes.end(), "softmax{axis = 1}"));
  EXPECT_TRUE(std::count(nodes.begin(), nodes.end(), "mean{axes = [1], keep = true}"));
  const HostValues in = arguments(g);
  for (const std::string& device : devices())
    EXPECT_TRUE(result(device, g, in, {}).identical(result(device, g, in, {.recognise = false}))) << device;
}

TEST(RecogniseBits, InALoopWhoseStateIsDonated) {
  Graph g("loop");
  Builder b(g, registry());
  const Value x = b.input(f32({4, 8}), "x");
  const auto i64 = [&](double v) { return ops::scalar(b, DType::i64, v); };
  b.output(
      ops::while_(
          std::array{i64(0), x}, {}, [&](ValuesIn v) { return Values{ops::compare(v[0], i64(3), ops::Direction::lt)}; },
          [&](ValuesIn v) { return Values{ops::add(v[0], i64(1)), softmax_by_hand(v[1], 1)}; })[1],
      "y");
  const HostValues in = arguments(g);
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    const HostTensor plain = result(device, g, in, {.recognise = false});
    const runtime::Executable e(runtime::open_device(device), g, catalog(), {.donated = {0}});
    HostValues given = arguments(g);
    EXPECT_TRUE(std::get<HostTensor>(e.run_donating(given).at(0)).identical(plain));
    ASSERT_EQ(e.report().donations.size(), 1u);
    if (device != "reference") { EXPECT_EQ(e.report().donations[0].result, "y") << e.report().donations[0].why; }
  }
}

TEST(RecogniseBits, DonatedToTheOperator) {
  const Graph g = graph_of(f32({4, 8}), [](Value x) { return softmax_by_hand(x, 1); });
  const HostValues in = arguments(g);
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device);
    DispatchReport reports[2];
    for (const bool recognise : {false, true}) {
      const runtime::Executable e(runtime::open_device(device), g, catalog(), {.recognise = recognise, .donated = {0}});
      HostValues given = arguments(g);
      EXPECT_TRUE(std::get<HostTensor>(e.run_donating(given).at(0)).identical(result(device, g, in, {})));
      reports[recognise] = e.report();
    }
    EXPECT_EQ(reports[0].donations.at(0).result, reports[1].donations.at(0).result);
  }
}

// The mean of the places of true elements: 0, 3 and 4 of 6. Bounded by 6, and split where the count is known.
TEST(RecogniseBits, OfASizeThatAResultIntroduces) {
  const Graph g = parsed(mean_of_places_text());
  const double flags[] = {1, 0, 0, 1, 1, 0};
  for (const std::string& device : devices())
    for (const bool exact : {false, true}) {
      SCOPED_TRACE(device + (exact ? ", exact" : ""));
      const runtime::Executable e(runtime::open_device(device), g, catalog(), {.exact_sizes = exact});
      const HostValues in{HostTensor::from(DType::boolean, {6}, flags)};
      EXPECT_EQ(std::get<HostTensor>(e.run(in)[0]).get_f64(0), 7.0 / 3);
      const ReportRow& row = e.report().rows.back();
      EXPECT_EQ(row.op, "mean");
      EXPECT_EQ(row.value, "%9");
      EXPECT_TRUE(std::count(row.recognised.from.begin(), row.recognised.from.end(), 3)) << e.report().to_table();
      EXPECT_EQ(e.report().rows[3].path, Path::recognised);
      EXPECT_EQ(e.report().rows[3].recognised.into, 5);
      EXPECT_NE(e.report().to_table().find("%4 reduce"), std::string::npos) << e.report().to_table();
    }
}

}  // namespace
}  // namespace rlx::written_out
