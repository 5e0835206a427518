// rlx conformance, on few operators: the suite of the areas runs them all.
#include "program.hpp"

namespace rlx::cli::testing {
namespace {

TEST(Conformance, CountsCasesOfOneOperator) {
  for (const std::string device : {"reference", "cpu"}) {
    const Outcome done = rlx({"conformance", "--device", device, "exp", "--json"});
    const auto j = done.json();
    EXPECT_EQ(done.status, 0) << done.out;
    EXPECT_GT(j.value("passed", 0), 0) << device;
    EXPECT_EQ(j.value("failed", -1), 0) << device;
    EXPECT_TRUE(j.contains("refused"));
    const Outcome text = rlx({"conformance", "--device", device, "exp"});
    EXPECT_NE(text.out.find("passed"), std::string::npos) << text.out;
  }
}

TEST(Conformance, RefusesWhatIsNotThere) {
  expect_refusal({"conformance", "--device", "nonesuch"}, 1, "ArgumentError", "nonesuch");
  expect_refusal({"conformance", "--device", "reference", "no_such_operator"}, 1, "ArgumentError", "no_such_operator");
}

}  // namespace
}  // namespace rlx::cli::testing
