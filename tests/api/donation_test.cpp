// Arguments of compiled functions that the caller gives away.
#include <rlx/rlx.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace rlx {
namespace {

using State = std::pair<std::vector<Tensor>, Tensor>;  // Weights, and a count of steps.

const auto descend = [](const State& s, const Tensor& x) {
  State next;
  for (const Tensor& w : s.first) next.first.push_back(w - 0.5 * (w - x));
  next.second = s.second + 1;
  return next;
};
State start() { return {{full({1000}, 8.0), full({1000}, 4.0)}, full({}, 0.0)}; }

template <class F>
void expect_error(const std::string& text, const F& f, bool arguments_survive = true) {
  try {
    f();
    ADD_FAILURE() << "accepted: " << text;
  } catch (const ArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    EXPECT_EQ(e.object_survives(), arguments_survive) << e.what();
  }
}

TEST(Donate, AStepUpdatesItsState) {
  const auto step = jit(descend, {.device = "cpu"});
  State s = start();
  const std::byte* const at = s.first[0].host_tensor().data();
  for (int i = 0; i < 3; ++i) s = step(donate(s), zeros({1000}));
  EXPECT_EQ(s.first[0].to_vector<double>(), std::vector<double>(1000, 1.0));
  EXPECT_EQ(s.first[1].to_vector<double>(), std::vector<double>(1000, 0.5));
  EXPECT_EQ(s.second.item(), 3);
  EXPECT_EQ(s.first[0].host_tensor().data(), at);
  EXPECT_EQ(step.statistics().in_place_bytes, 3 * (2 * 8000 + 8));
  EXPECT_EQ(step.statistics().copied_bytes, 0);
  EXPECT_EQ(step.report().donations.size(), 3u);
  EXPECT_EQ(step.signatures(), 1u);
  // Not donated it is another program, which leaves its arguments alone.
  const State next = step(s, zeros({1000}));
  EXPECT_EQ(s.first[0].to_vector<double>()[0], 1);
  EXPECT_EQ(next.first[0].to_vector<double>()[0], 0.5);
  EXPECT_EQ(step.signatures(), 2u);
}

TEST(Donate, WhatWasDonatedIsGone) {
  const auto f = jit([](const Tensor& x, const Tensor& y) { return x + y; });
  Tensor x = full({100}, 1.0);
  const Tensor kept = x;
  f(donate(x), 2.0);
  EXPECT_FALSE(x.defined());
  expect_error("a tensor that was donated as argument \"x0\" of jit (", [&] { x.to_vector<double>(); });
  expect_error("donation_test.cpp:", [&] { x + 1; });
  expect_error("argument \"x0\"", [&] { f(x, 2.0); });
  expect_error("argument \"x0\"", [&] { f(donate(x), 2.0); });
  expect_error("argument \"x0\"", [&] { jit([&](const Tensor& y) { return x + y; })(1.0); });
  EXPECT_EQ(kept.to_vector<double>(), std::vector<double>(100, 1.0)) << "a copy is another value";
  x = f(kept, 1.0);
  EXPECT_EQ(x.to_vector<double>()[0], 2);
}

TEST(Donate, RefusedArgumentsAreLeft) {
  const auto f = jit([](const Tensor& x, const Tensor& y) { return std::pair(x + y, x - y); });
  Tensor x = full({100}, 1.0), wrong = full({7}, 1.0);
  expect_error("donated twice", [&] { f(donate(x), donate(x)); });
  Tensor same = x;
  expect_error("donated twice", [&] { f(donate(x), donate(same)); });
  EXPECT_ANY_THROW(f(donate(x), donate(wrong)));
  EXPECT_EQ(x.to_vector<double>(), std::vector<double>(100, 1.0));
  EXPECT_EQ(wrong.to_vector<double>(), std::vector<double>(7, 1.0));
  const auto looked_up =
      jit([](const Tensor& t, const Tensor& i) { return take(t, i, 0) + 1; }, {.device = "cpu", .checked = true});
  Tensor table = full({100}, 1.0);
  expect_error("out of range", [&] { looked_up(table, Tensor::from({100})); });
  EXPECT_TRUE(table.defined());
  expect_error("out of range", [&] { looked_up(donate(table), Tensor::from({100})); }, false);
  EXPECT_FALSE(table.defined()) << "its step has run";
}

TEST(Donate, MeansNothingInsideAnotherTrace) {
  const auto inner = jit([](const Tensor& x) { return x * 2; });
  const auto outer = jit([&](const Tensor& x) {
    Tensor y = x + 1;
    const Tensor z = inner(donate(y));
    return y + z;
  });
  EXPECT_EQ(outer(3.0).item(), 12);
}

TEST(Donate, ByTwoThreads) {
  const auto step = jit(descend, {.device = "cpu"});
  std::vector<double> last(2);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < last.size(); ++t)
    threads.emplace_back([&, t] {
      State s = start();
      for (int i = 0; i < 20; ++i) s = step(donate(s), full({1000}, static_cast<double>(t)));
      last[t] = s.first[0].to_vector<double>().back();
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t t = 0; t < last.size(); ++t) {
    double w = 8;
    for (int i = 0; i < 20; ++i) w -= 0.5 * (w - static_cast<double>(t));
    EXPECT_EQ(last[t], w);
  }
  EXPECT_EQ(step.signatures(), 1u);
}

}  // namespace
}  // namespace rlx
