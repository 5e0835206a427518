// The reason that travels with opaque data.
#include "linalg/explained.hpp"

#include <gtest/gtest.h>

namespace rlx::linalg::testing {
namespace {

TEST(Explained, GivesTheReasonAndTheSameData) {
  const auto number = std::make_shared<const int>(7);
  const std::shared_ptr<const void> data = explained(number, "because");
  EXPECT_EQ(data.get(), number.get());
  EXPECT_EQ(reason_of(data), "because");
}

TEST(Explained, DataOfOthersHaveNoReason) {
  EXPECT_EQ(reason_of(std::make_shared<const int>(7)), "");
  EXPECT_EQ(reason_of(nullptr), "");
}

TEST(Explained, DataAreReadAsWhatTheyWereGivenAs) {
  const std::shared_ptr<const void> data = explained(std::make_shared<const int>(7), "because");
  ASSERT_NE(data_as<int>(data), nullptr);
  EXPECT_EQ(*data_as<int>(data), 7);
  EXPECT_EQ(data_as<float>(data), nullptr);
  EXPECT_EQ(data_as<int>(std::make_shared<const int>(7)), nullptr);
  EXPECT_EQ(data_as<int>(nullptr), nullptr);
}

TEST(Explained, DataLiveAsLongAsTheyAreHeld) {
  auto number = std::make_shared<const int>(7);
  const std::weak_ptr<const int> watched = number;
  std::shared_ptr<const void> data = explained(std::move(number), "because");
  std::shared_ptr<const void> second = data;
  data.reset();
  EXPECT_FALSE(watched.expired());
  second.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace rlx::linalg::testing
