// Values made once each, by several threads at once.
#include "runtime/kept.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace rlx::runtime {
namespace {

using namespace std::chrono_literals;
using KeptNumbers = Kept<std::string, const int>;

TEST(Kept, WhoWantsAnotherOneDoesNotWait) {
  KeptNumbers kept(4);
  std::promise<void> begun, other_is_there;
  std::future<void> other = other_is_there.get_future();
  std::thread slow([&] {
    kept.get("slow", [&] {
      begun.set_value();
      EXPECT_EQ(other.wait_for(60s), std::future_status::ready) << "\"fast\" waited for \"slow\"";
      return std::make_shared<const int>(1);
    });
  });
  begun.get_future().wait();
  EXPECT_EQ(kept.size(), 0u) << "what is being made is not there";
  EXPECT_EQ(*kept.get("fast", [] { return std::make_shared<const int>(2); }), 2);
  other_is_there.set_value();
  slow.join();
  EXPECT_EQ(kept.size(), 2u);
}

TEST(Kept, WhoWantsTheSameOneGetsIt) {
  KeptNumbers kept(1);
  std::atomic<int> made = 0;
  std::vector<const int*> got(4);
  std::vector<std::thread> threads;
  for (const int*& g : got)
    threads.emplace_back([&] {
      g = kept.get("x",
                   [&] {
                     std::this_thread::sleep_for(20ms);
                     return std::make_shared<const int>(++made);
                   })
              .get();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(got, std::vector<const int*>(4, got[0]));
}

TEST(Kept, WhatThrowsLeavesNothingAndWhoWaitsTriesAgain) {
  KeptNumbers kept(2);
  const auto fail = []() -> std::shared_ptr<const int> { throw std::runtime_error("no"); };
  EXPECT_THROW(kept.get("x", fail), std::runtime_error);
  EXPECT_EQ(kept.size(), 0u);
  std::promise<void> begun;
  std::thread first([&] {
    EXPECT_THROW(kept.get("x",
                          [&]() -> std::shared_ptr<const int> {
                            begun.set_value();
                            std::this_thread::sleep_for(20ms);
                            throw std::runtime_error("no");
                          }),
                 std::runtime_error);
  });
  begun.get_future().wait();
  const auto second = kept.get("x", [] { return std::make_shared<const int>(2); });
  first.join();
  EXPECT_EQ(*second, 2);
  EXPECT_EQ(kept.get("x", fail), second);
}

TEST(Kept, OldestFirstAndTheOneNotUsedForLongestGoes) {
  std::vector<int> dropped;
  KeptNumbers kept(2, [&](const int& x) { dropped.push_back(x); });
  const auto get = [&](int x) { return kept.get(std::to_string(x), [&] { return std::make_shared<const int>(x); }); };
  const auto all = [&] {
    std::vector<int> out;
    kept.view([&](const auto& values) {
      for (const auto& v : values) out.push_back(*v);
    });
    return out;
  };
  get(9), get(1), get(9);
  EXPECT_EQ(all(), (std::vector<int>{9, 1}));
  get(5);
  EXPECT_EQ(dropped, std::vector<int>{1});
  EXPECT_EQ(all(), (std::vector<int>{9, 5}));
}

}  // namespace
}  // namespace rlx::runtime
