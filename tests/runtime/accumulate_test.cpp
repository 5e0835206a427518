// The type of partial results: reductions and prefixes of narrow types on every device. The elements are small
// multiples of a power of two, so that sums of them are exact in f32 in whatever order, and any other outcome than the
// exact sum, rounded once, is a partial result that was rounded.
#include "catalog.hpp"

#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/text.hpp>
#include <rlx/ops/build.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace rlx {
namespace {

using Doubles = std::vector<double>;
using Body = std::function<Values(ValuesIn)>;

const RegionBody plus = [](ValuesIn v) { return Values{ops::add(v[0], v[1])}; };
const RegionBody greater = [](ValuesIn v) { return Values{ops::max(v[0], v[1])}; };

Value zero(Value x) { return ops::scalar(*x.builder, x.dtype(), 0); }
Value sum_of(Value x, ops::ReduceAttrs a) {
  const Value none = zero(x);
  return ops::reduce({&x, 1}, {&none, 1}, std::move(a), plus)[0];
}
Value prefixes_of(Value x, ops::AssociativeScanAttrs a) {
  const Value none = zero(x);
  return ops::associative_scan({&x, 1}, {&none, 1}, std::move(a), plus)[0];
}

Graph graph_of(const std::vector<HostTensor>& in, const Body& body) {
  Graph g;
  Builder b(g, registry());
  Values x;
  for (const HostTensor& t : in) x.push_back(b.input(std::get<TensorType>(type_of(t)), "x" + std::to_string(x.size())));
  for (const Value& v : body(x)) b.output(v, "y" + std::to_string(g.outputs().size()));
  return g;
}

Doubles elements(const HostTensor& x) {
  Doubles out;
  for (std::int64_t i = 0; i < x.numel(); ++i) out.push_back(x.get_f64(i));
  return out;
}

class Accumulate : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "references") return;
    try {
      device = runtime::open_device(GetParam());
    } catch (const DeviceError& e) { GTEST_SKIP() << e.what(); }
  }
  /// Elements of every result.
  std::vector<Doubles> run(const std::vector<HostTensor>& in, const Body& body) const {
    const Graph g = graph_of(in, body);
    const HostValues values(in.begin(), in.end());
    std::vector<Doubles> out;
    for (const HostValue& y :
         device ? runtime::Executable(device, g, catalog()).run(values) : evaluate(g, registry(), values))
      out.push_back(elements(std::get<HostTensor>(y)));
    return out;
  }
  std::shared_ptr<runtime::Device> device;
};
INSTANTIATE_TEST_SUITE_P(On, Accumulate, ::testing::Values("references", "cpu", "oneapi"),
                         [](const auto& info) { return info.param; });

/// 0, 1/4, 1/2 or 3/4, which every floating-point type here can hold.
double quarter(std::int64_t i) { return static_cast<double>(i * 7919 % 4001 % 4) / 4; }

HostTensor filled(DType t, const std::vector<std::int64_t>& shape, double (*element)(std::int64_t)) {
  HostTensor x(t, shape);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set_f64(i, element(i));
  return x;
}

struct Rows {
  std::int64_t rows, terms;
};
/// Sums of the rows of a matrix of `quarter`s.
Doubles row_sums(const Rows& r) {
  Doubles sums(static_cast<std::size_t>(r.rows), 0);
  for (std::int64_t i = 0; i < r.rows * r.terms; ++i) sums[static_cast<std::size_t>(i / r.terms)] += quarter(i);
  return sums;
}
Doubles rounded(Doubles v, DType t) {
  for (double& x : v) x = round_to(t, x);
  return v;
}

// Rows that one thread sums, and few long ones that are cut into chunks: 15000 is where an f16 sum of quarters would
// have stopped at 2048, a bf16 one at 256 and an f8 one at 16 or 8.
TEST_P(Accumulate, SumsOfSmallFloatsAreRoundedOnce) {
  for (const DType t : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2})
    for (const Rows& r : {Rows{100, 300}, Rows{2, 300}, Rows{2, 40000}}) {
      if (r.terms > 300 && bit_width(t) == 8 && t == DType::f8e4m3fn) continue;  // 15000 is beyond it.
      if (!device && r.terms > 300) continue;                                    // The references are slow.
      const auto y = run({filled(t, {r.rows, r.terms}, quarter)}, [](ValuesIn x) {
        return Values{sum_of(x[0], {.axes = {1}}), sum_of(x[0], {.axes = {1}, .result = {DType::f32}}),
                      ops::reduce_sum(x[0], {1}), floating.contains(x[0].dtype()) ? ops::mean(x[0], {1}) : x[0]};
      });
      const Doubles sums = row_sums(r);
      Doubles means = sums;
      for (double& m : means) m = round_to(t, static_cast<float>(m) / static_cast<float>(r.terms));
      EXPECT_EQ(y[0], rounded(sums, t)) << name(t) << " " << r.terms;
      EXPECT_EQ(y[1], sums) << name(t) << " " << r.terms;
      EXPECT_EQ(y[2], rounded(sums, t)) << name(t) << " " << r.terms;
      if (floating.contains(t)) { EXPECT_EQ(y[3], means) << name(t) << " " << r.terms; }
    }
}

TEST_P(Accumulate, PrefixesOfSmallFloatsAreRoundedOnce) {
  constexpr std::int64_t n = 5000;
  for (const DType t : {DType::f16, DType::bf16, DType::f8e5m2}) {
    Doubles prefix, before, behind(n, 0);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      before.push_back(sum);
      prefix.push_back(sum += quarter(i));
    }
    for (std::size_t i = 0; i < n; ++i) behind[i] = sum - before[i];
    const auto y = run({filled(t, {n}, quarter)}, [](ValuesIn x) {
      return Values{prefixes_of(x[0], {}), prefixes_of(x[0], {.exclusive = true, .result = {DType::f32}}),
                    prefixes_of(x[0], {.reverse = true}), ops::cumsum(x[0], 0)};
    });
    EXPECT_EQ(y[0], rounded(prefix, t)) << name(t);
    EXPECT_EQ(y[1], before) << name(t);
    EXPECT_EQ(y[2], rounded(behind, t)) << name(t);
    EXPECT_EQ(y[3], rounded(prefix, t)) << name(t);
  }
}

// -8 .. 7 in turn, hence of a sum that leaves i4 and i8 soon; in their own types they wrap.
TEST_P(Accumulate, SumsOfSmallIntegersWrapOrWiden) {
  constexpr std::int64_t rows = 3, terms = 1000;
  const auto element = [](std::int64_t i) { return static_cast<double>(i * 7 % 16 - 8); };
  Doubles sums(rows, 0), wrapped, prefix;
  double all = 0;
  for (std::int64_t i = 0; i < rows * terms; ++i) {
    sums[static_cast<std::size_t>(i / terms)] += element(i);
    prefix.push_back(all += element(i));
  }
  for (const DType t : {DType::i4, DType::i8}) {
    const HostTensor x = filled(t, {rows, terms}, element), line = x.reshaped({rows * terms});
    const auto y = run({x, line}, [](ValuesIn v) {
      return Values{sum_of(v[0], {.axes = {1}}), sum_of(v[0], {.axes = {1}, .result = {DType::i32}}),
                    prefixes_of(v[1], {.result = {DType::i32}})};
    });
    const auto in_type = [&](double v) {
      const int unused = 64 - bit_width(t);
      return static_cast<double>(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(v)) << unused) >> unused);
    };
    wrapped.clear();
    for (double s : sums) wrapped.push_back(in_type(s));
    EXPECT_NE(wrapped, sums) << "nothing wraps";
    EXPECT_EQ(y[0], wrapped) << name(t);
    EXPECT_EQ(y[1], sums) << name(t);
    EXPECT_EQ(y[2], prefix) << name(t);
  }
}

// 2^24 and a thousand ones: in f32 every one of them is lost or not, depending on the order.
TEST_P(Accumulate, AWiderTypeMayBeAskedFor) {
  constexpr std::int64_t n = 1001;
  const HostTensor x = filled(DType::f32, {n}, [](std::int64_t i) { return i == 0 ? 0x1p24 : 1.0; });
  const auto y = run({x}, [](ValuesIn v) {
    return Values{sum_of(v[0], {.axes = {0}, .accumulate = {DType::f64}}),
                  prefixes_of(v[0], {.accumulate = {DType::f64}})};
  });
  EXPECT_EQ(y[0], Doubles{0x1p24 + 1000});
  Doubles prefix;
  for (std::int64_t i = 0; i < n; ++i) prefix.push_back(static_cast<float>(0x1p24 + static_cast<double>(i)));
  EXPECT_EQ(y[1], prefix);
}

// Several operands, a region that is none of the named combinations: the index of the greatest f16, and beside it a sum
// of f16 and one of i8, each in a type of its own.
TEST_P(Accumulate, EachOperandHasItsType) {
  constexpr std::int64_t n = 5000;
  const HostTensor x = filled(DType::f16, {n}, [](std::int64_t i) { return i == 1234 ? 2.0 : quarter(i); });
  const HostTensor k = filled(DType::i8, {n}, [](std::int64_t) { return 1.0; });
  const auto y = run({x, k}, [](ValuesIn v) {
    Builder& b = *v[0].builder;
    const Values xs{v[0], ops::iota(b, DType::i32, {n}, 0), v[0], v[1]};
    const Values none{ops::scalar(b, DType::f16, -INFINITY), ops::scalar(b, DType::i32, -1), zero(v[0]), zero(v[1])};
    const ops::ReduceAttrs a{.axes = {0}, .result = {DType::boolean, DType::boolean, DType::f32, DType::i32}};
    return ops::reduce(xs, none, a, [](ValuesIn p) {
      EXPECT_EQ(p[0].dtype(), DType::f32);
      EXPECT_EQ(p[1].dtype(), DType::i32);
      EXPECT_EQ(p[3].dtype(), DType::i32);
      const Value second = ops::compare(p[4], p[0], ops::Direction::gt);
      return Values{ops::select(second, p[4], p[0]), ops::select(second, p[5], p[1]), ops::add(p[2], p[6]),
                    ops::add(p[3], p[7])};
    });
  });
  EXPECT_EQ(y[0], Doubles{2});
  EXPECT_EQ(y[1], Doubles{1234});
  EXPECT_EQ(y[2], Doubles{row_sums({1, n})[0] - quarter(1234) + 2});
  EXPECT_EQ(y[3], Doubles{static_cast<double>(n)});
}

// They have no attribute: sums and products of small floats are formed in f32.
TEST_P(Accumulate, WindowsAndSegments) {
  constexpr std::int64_t n = 5000;
  const HostTensor x = filled(DType::f16, {n}, quarter), ends = HostTensor::from(DType::i32, {2}, Doubles{0, n});
  const auto y = run({x, ends}, [](ValuesIn v) {
    return Values{ops::reduce_window(v[0], {.kind = ops::Combine::add, .window = {n}}),
                  ops::segment_reduce(v[0], v[1], ops::Combine::add)};
  });
  EXPECT_EQ(y[0], rounded(row_sums({1, n}), DType::f16));
  EXPECT_EQ(y[1], rounded(row_sums({1, n}), DType::f16));
}

// f8e4m3fn has no infinity to start a minimum with.
TEST_P(Accumulate, ExtremaOfEveryFloat) {
  for (const DType t : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2}) {
    const HostTensor x = filled(t, {2, 300}, [](std::int64_t i) { return i % 300 == 77 ? 3.0 : quarter(i) + 1; });
    const auto y = run({x}, [](ValuesIn v) { return Values{ops::reduce_max(v[0], {1}), ops::reduce_min(v[0], {1})}; });
    EXPECT_EQ(y[0], (Doubles{3, 3})) << name(t);
    EXPECT_EQ(y[1], (Doubles{1, 1})) << name(t);
  }
}

class AccumulateKernels : public Accumulate {};
INSTANTIATE_TEST_SUITE_P(On, AccumulateKernels, ::testing::Values("cpu", "oneapi"),
                         [](const auto& info) { return info.param; });

// What a wider type could not change is combined in the operand's: no conversion in the kernel, which a sum of f16 has.
TEST_P(AccumulateKernels, ExtremaAndIntegerSumsAreNotConverted) {
  const auto converts = [&](DType t, const RegionBody& combine) {
    const Graph g = graph_of({HostTensor(t, {40, 50})}, [&](ValuesIn x) {
      const Value none = zero(x[0]);
      return Values{ops::reduce(x, {&none, 1}, {1}, combine)[0],
                    ops::associative_scan(x, {&none, 1}, {.axis = 1}, combine)[0]};
    });
    return print(runtime::Executable(device, g, catalog()).lir()).find("convert") != std::string::npos;
  };
  EXPECT_FALSE(converts(DType::i8, greater));
  EXPECT_FALSE(converts(DType::i8, plus));
  EXPECT_FALSE(converts(DType::f16, greater));
  EXPECT_TRUE(converts(DType::f16, plus));
}

}  // namespace
}  // namespace rlx
