// A second language on the source printer: C99, from its dialect alone, runs what operators' definitions make.
#include "api/conformance/checks.hpp"
#include "c_device.hpp"

#include <rlx/catalog.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/splat/register.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace rlx {
namespace {

class CDialect : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no C compiler named cc";
  }
  std::shared_ptr<runtime::Device> device = std::make_shared<test::CDevice>();
};

// Every sample of every operator, against the host references in the operators' own tolerances. Extern operators, which
// are libraries' code, have none here; nothing else may be refused.
TEST_F(CDialect, EveryOperator) {
  runtime::Catalog all = make_catalog();
  linalg::add_to(all);
  splat::add_to(all);
  conformance::Summary summary{"c"};
  const conformance::Options options{.device = "c"};
  conformance::Collector out(summary, options, all.operators);
  for (const Op* op : all.operators.all()) {
    if (op->has_trait(Trait::lir)) continue;
    const auto instances = conformance::instances_of(*op, out);
    conformance::check_values(conformance::expected_of(instances, "c", out), device, all, out);
  }
  std::size_t passed = 0;
  for (const conformance::CaseResult& c : summary.cases) {
    passed += c.outcome == conformance::Outcome::passed;
    if (all.operators.get(c.op).meaning() != Meaning::extern_)
      EXPECT_EQ(c.outcome, conformance::Outcome::passed) << c.name << ": " << c.reason;
  }
  std::cout << passed << " of " << summary.cases.size() << " cases passed\n";
  EXPECT_GT(passed, 1000u);
}

}  // namespace
}  // namespace rlx
