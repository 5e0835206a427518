// A second language on the source printer: C99, from its dialect alone, runs what operators' definitions make.
#include "api/conformance/checks.hpp"
#include "c_device.hpp"
#include "scalar_ops.hpp"

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
  /// The value cases of these operators. Extern operators, which are libraries' code, have none here; nothing else may
  /// be refused, and nothing may fail. Returns how many passed.
  std::size_t run(const runtime::Catalog& catalog, const std::vector<const Op*>& operators, bool checked) {
    conformance::Summary summary{"c"};
    const conformance::Options options{.device = "c", .compile = {.checked = checked}};
    conformance::Collector out(summary, options, catalog.operators);
    for (const Op* op : operators) {
      const auto instances = conformance::instances_of(*op, device->target(), conformance::Forms::one, out);
      conformance::check_values(conformance::expected_of(instances, "c", out), device, catalog, out);
    }
    std::size_t passed = 0;
    for (const conformance::CaseResult& c : summary.cases) {
      passed += c.outcome == conformance::Outcome::passed;
      const bool may_be_refused = catalog.operators.get(c.op).meaning() == Meaning::extern_;
      EXPECT_TRUE(c.outcome == conformance::Outcome::passed ||
                  (c.outcome == conformance::Outcome::refused && may_be_refused))
          << c.name << ": " << c.reason;
    }
    std::cout << passed << " of " << summary.cases.size() << " cases passed\n";
    return passed;
  }
  std::shared_ptr<runtime::Device> device = std::make_shared<test::CDevice>();
};

// Every sample of every operator, against the host references in the operators' own tolerances.
TEST_F(CDialect, EveryOperator) {
  runtime::Catalog all = make_catalog();
  linalg::add_to(all);
  splat::add_to(all);
  std::vector<const Op*> operators;
  for (const Op* op : all.operators.all())
    if (!op->has_trait(Trait::lir)) operators.push_back(op);
  EXPECT_GT(run(all, operators, false), 1000u);
}

// Indices out of range are reported by the kernels that meet them.
TEST_F(CDialect, CheckedMode) {
  const runtime::Catalog all = make_catalog();
  std::vector<const Op*> operators;
  for (const char* name : {"gather", "scatter", "dynamic_slice", "dynamic_update_slice"})
    operators.push_back(&all.operators.get(name));
  EXPECT_GT(run(all, operators, true), 10u);
}

// The compiler converts halves in memory; common text makes their bits, and halves of bits.
TEST_F(CDialect, BitsOfEveryHalf) {
  constexpr std::int64_t n = 1 << 16;
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f16, n), "x"),
              y = b.input(test::device_buffer(DType::u16, n), "y"),
              z = b.input(test::device_buffer(DType::f16, n), "z");
  test::kernel(b, {.name = "halves", .extents = {n}}, {x, y, z}, [&](const test::Body& w, ValuesIn i, ValuesIn p) {
    const Value bits = b.emit1("bitcast", {w.load(p[0], i[0])}, ops::DTypeAttrs{DType::u16});
    w.store(p[1], i[0], bits);
    w.store(p[2], i[0], b.emit1("bitcast", {bits}, ops::DTypeAttrs{DType::f16}));
  });
  std::vector<std::uint16_t> halves(n), bits(n), back(n);
  for (std::size_t k = 0; k < halves.size(); ++k) halves[k] = static_cast<std::uint16_t>(k);
  const runtime::Allocation memory[] = {{halves.data(), 2 * n}, {bits.data(), 2 * n}, {back.data(), 2 * n}};
  const runtime::KernelBuffer buffers[] = {{&memory[0], 0}, {&memory[1], 0}, {&memory[2], 0}};
  device->compile(g)->launch(0, buffers, nullptr);
  for (std::uint32_t k = 0; k < n; ++k) {
    // A signalling NaN becomes a quiet one where it is converted.
    const std::uint32_t want = (k & 0x7fff) > 0x7c00 ? k | 0x200 : k;
    ASSERT_EQ(bits[k], want);
    ASSERT_EQ(back[k], want);
  }
}

}  // namespace
}  // namespace rlx
