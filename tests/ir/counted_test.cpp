#include <rlx/ir/counted.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace rlx {
namespace {

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(1, "operand"), "1 operand");
  EXPECT_EQ(counted(std::size_t{0}, "operand"), "0 operands");
  EXPECT_EQ(counted(std::int64_t{-1}, "step"), "-1 steps");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(2u, "entry", "entries"), "2 entries");
}

}  // namespace
}  // namespace rlx
