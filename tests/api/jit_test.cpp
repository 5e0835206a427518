// Compiled functions: signatures, structures, threads, and what tracing refuses.
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <thread>

namespace rlx {
namespace {

TEST(Jit, TracesOncePerSignature) {
  int traces = 0;
  const auto f = jit([&](const Tensor& x, const Tensor& y) {
    ++traces;
    return sum(x * y + 1);
  });
  const Tensor a = Tensor::from({1.0, 2.0, 3.0}), b = Tensor::from({4.0, 5.0, 6.0}), c = Tensor::from({1.0, 2.0});
  EXPECT_THROW(f.report(), ArgumentError);
  EXPECT_EQ(f(a, b).item(), 35);
  EXPECT_EQ(f(b, b).item(), 80);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f(c, c).item(), 7);
  EXPECT_EQ(f(a, 2.0).item(), 15);
  EXPECT_EQ(traces, 3);
  EXPECT_EQ(f.signatures(), 3u);
  EXPECT_EQ(f.reports().size(), 3u);
}

TEST(Jit, KeepsTheSignaturesCalledLast) {
  int traces = 0;
  const auto f = jit(
      [&](const Tensor& x) {
        ++traces;
        return sum(x);
      },
      {.kept_signatures = 2});
  const auto call = [&](std::int64_t n) { EXPECT_EQ(f(ones({n})).item(), static_cast<double>(n)); };
  call(1), call(2), call(1), call(3);  // The signature of 2 goes.
  EXPECT_EQ(traces, 3);
  EXPECT_EQ(f.signatures(), 2u);
  EXPECT_EQ(f.reports().size(), 2u);
  call(1), call(3);
  EXPECT_EQ(traces, 3);
  call(2);
  EXPECT_EQ(traces, 4);
  EXPECT_EQ(f.signatures(), 2u);
  EXPECT_THROW(jit([](const Tensor& x) { return x; }, {.kept_signatures = 0}), ArgumentError);
}

TEST(Jit, ResultsAndArgumentsAreTrees) {
  const auto f = jit([](const std::vector<Tensor>& xs, const std::pair<Tensor, Tensor>& p) {
    std::vector<Tensor> out;
    for (const Tensor& x : xs) out.push_back(x * p.first);
    return std::tuple(out, p.second, std::array<Tensor, 2>{p.first, p.first + p.second});
  });
  const auto [xs, second, both] = f(std::vector<Tensor>{1.0, 2.0}, std::pair<Tensor, Tensor>(3.0, 4.0));
  ASSERT_EQ(xs.size(), 2u);
  EXPECT_EQ(xs[1].item(), 6);
  EXPECT_EQ(second.item(), 4);
  EXPECT_EQ(both[1].item(), 7);
  EXPECT_EQ(std::get<0>(f(std::vector<Tensor>{5.0}, std::pair<Tensor, Tensor>(3.0, 4.0))).size(), 1u);
  EXPECT_EQ(f.signatures(), 2u);
}

TEST(Jit, StructureIsPartOfTheSignature) {
  const auto f = jit([](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return Tensor(static_cast<double>(a.size())) + 0 * b[0];
  });
  EXPECT_EQ(f(Tensors{1.0}, Tensors{1.0, 2.0}).item(), 1);
  EXPECT_EQ(f(Tensors{1.0, 2.0}, Tensors{1.0}).item(), 2);
}

TEST(Jit, TakesWhatIsAroundItOnce) {
  Tensor scale = full({100}, 2.0);
  const auto f = jit([&](const Tensor& x) { return sum(x * scale); });
  EXPECT_EQ(f(ones({100})).item(), 200);
  scale = full({100}, 5.0);
  EXPECT_EQ(f(ones({100})).item(), 200);
}

TEST(Jit, NestsInItself) {
  const auto inner = jit([](const Tensor& x) { return tanh(x); });
  const auto outer = jit([&](const Tensor& x) { return inner(inner(x)); });
  EXPECT_NEAR(outer(0.7).item(), std::tanh(std::tanh(0.7)), 1e-15);
  EXPECT_EQ(inner.signatures(), 0u);
}

TEST(Jit, ReportsWhatRan) {
  const auto f = jit([](const Tensor& x) { return softmax(x); }, {.device = "reference", .checked = true});
  f(Tensor::from({1.0, 2.0}));
  EXPECT_EQ(f.report().device, "reference");
  std::ostringstream text;
  text << f.report();
  EXPECT_NE(text.str().find("softmax"), std::string::npos);
  EXPECT_EQ(f.graph().inputs().size(), 1u);
}

TEST(Jit, UnknownDeviceIsRefusedAndCanBeTriedAgain) {
  const auto f = jit([](const Tensor& x) { return x + 1; }, {.device = "no such device"});
  EXPECT_THROW(f(1.0), ArgumentError);
  EXPECT_THROW(f(1.0), ArgumentError);
  EXPECT_EQ(f.signatures(), 0u);
}

template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const TraceError& e) { return e.what(); }
  return "";
}

TEST(Jit, RefusesControlFlowOnTracedValues) {
  const auto f = jit([](const Tensor& x) { return x > 0 ? x : -x; });
  EXPECT_NE(message_of([&] { f(1.0); }).find("rlx::where"), std::string::npos);
  const auto g = jit([](const Tensor& x) { return x * x.item(); });
  EXPECT_NE(message_of([&] { g(1.0); }).find("rlx::while_loop"), std::string::npos);
  EXPECT_FALSE(is_tracing());
}

TEST(Jit, RefusesTracedValuesElsewhere) {
  Tensor kept;
  const auto f = jit([&](const Tensor& x) { return kept = x * 2; });
  EXPECT_EQ(f(3.0).item(), 6);
  EXPECT_THROW(kept + 1, TraceError);
  EXPECT_THROW(kept.item(), TraceError);
  EXPECT_THROW(f(kept), TraceError);
  const auto g = jit([&](const Tensor& x) { return x + kept; });
  EXPECT_NE(message_of([&] { g(1.0); }).find("after the function that made it returned"), std::string::npos);
  const auto h = jit([&](const Tensor& x) {
    std::string why;
    std::thread([&] { why = message_of([&] { jit([&](const Tensor& y) { return x + y; })(1.0); }); }).join();
    EXPECT_NE(why.find("another trace"), std::string::npos);
    return x;
  });
  EXPECT_EQ(h(1.0).item(), 1);
}

TEST(Jit, TwoThreadsCallOne) {
  std::atomic<int> traces = 0;
  const auto f = jit([&](const Tensor& x) {
    ++traces;
    return sum(exp(x));
  });
  std::vector<double> got(2);
  const auto work = [&](std::size_t t) {
    for (int i = 0; i < 20; ++i) got[t] = f(full({50 + i % 2}, static_cast<double>(t))).item();
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_NEAR(got[0], 51, 1e-10);
  EXPECT_NEAR(got[1], 51 * std::exp(1.0), 1e-10);
  EXPECT_EQ(traces, 2);
}

}  // namespace
}  // namespace rlx
