// Every operator of the library and of its families, on every device of this machine.
#include <rlx/catalog.hpp>
#include <rlx/conformance.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/splat/register.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>

namespace rlx::testing {

static const runtime::Catalog& catalog() {
  static const runtime::Catalog c = [] {
    runtime::Catalog all = make_catalog();
    linalg::add_to(all);
    splat::add_to(all);
    return all;
  }();
  return c;
}

static runtime::Availability availability(std::string_view device) {
  for (const runtime::BackendEntry* b : runtime::backends())
    if (b->name == device) return b->availability();
  return {false, "this build has no backend \"" + std::string(device) + "\""};
}

struct On {
  std::string device;
  bool checked = false;  // In checked mode.
  std::string name() const { return device + (checked ? "_checked" : ""); }
  friend std::ostream& operator<<(std::ostream& out, const On& on) { return out << on.name(); }
};

class Conformance : public ::testing::TestWithParam<On> {};

TEST_P(Conformance, NothingFails) {
  const auto& [device, checked] = GetParam();
  if (const runtime::Availability a = availability(device); !a.available)
    GTEST_SKIP() << device << ": " << a.looked_for;
  const conformance::Summary s = conformance::run(catalog(), {.device = device, .compile = {.checked = checked}});
  std::cout << s.to_table();
  EXPECT_EQ(s.counts.failed, 0u);
  EXPECT_GT(s.counts.passed, 0u);
  // Every operator in every type that it claims, by every path; what turns a case from passed to refused is seen here.
  if (device == "cpu" || device == "reference") {
    EXPECT_EQ(s.counts.refused, 0u);
    EXPECT_EQ(s.refused.size(), 0u);
    EXPECT_EQ(s.extern_refused.size(), 0u);
    for (const conformance::Pair& p : s.refused) ADD_FAILURE() << p.op << " of " << p.dtype << ": " << p.reason;
  }
  // The compiler's own kernels cover what there is; a device without libraries is the one to show it.
  if (device == "oneapi") { EXPECT_LE(s.refused_share(), 0.03); }
  // Operators of which some sample cannot be cut, because an attribute would have to change with the piece. No other
  // may join them unseen: its rule would not be proved.
  if (device == "reference") {
    std::set<std::string> uncut;
    for (const auto& [reason, count] : s.skipped)
      if (reason.starts_with("shard: an attribute of ")) uncut.insert(reason.substr(23, reason.find(' ', 23) - 23));
    EXPECT_EQ(uncut, (std::set<std::string>{"broadcast", "gather", "iota", "slice"}));
  }
}

// One program an operator: the OpenCL compiler, the slowest, takes about a minute of processor time for all of them.
INSTANTIATE_TEST_SUITE_P(Devices, Conformance,
                         ::testing::Values(On{"reference"}, On{"null"}, On{"cpu"}, On{"cpu", true}, On{"oneapi"}),
                         [](const auto& on) { return on.param.name(); });

TEST(ConformanceRun, EveryRefusalHasItsReason) {
  // A composite that no record takes and that may not be decomposed.
  const conformance::Summary s = conformance::run(
      catalog(), {.device = "null", .filter = "softmax", .compile = {.preference = Preference::force_native}});
  EXPECT_GT(s.counts.refused, 0u);
  for (const conformance::CaseResult& c : s.cases)
    EXPECT_TRUE(c.outcome == conformance::Outcome::passed || !c.reason.empty()) << c.name;
}

// The same operands in every run: cases can be compared between runs, devices and machines.
TEST(ConformanceRun, RunsAreEqual) {
  const auto once = [] { return conformance::run(catalog(), {.device = "reference", .filter = "softmax"}).to_json(); };
  EXPECT_EQ(once(), once());
}

}  // namespace rlx::testing
