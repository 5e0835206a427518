// The conformance program finds what it is there to find.
#include "toy_ops.hpp"

#include <rlx/catalog.hpp>
#include <rlx/conformance.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace rlx::testing {

using conformance::CaseResult;
using conformance::Outcome;
using conformance::Summary;

// Definitions must outlive the catalog.
static Summary checked(const OpDef<A>& def) {
  runtime::Catalog catalog = make_catalog();
  catalog.operators.add(def);
  return conformance::run(
      catalog, {.device = "reference", .filter = std::string(def.name.value), .compile = {.checked = false}});
}

static std::vector<std::string> failed_kinds(const Summary& s) {
  std::vector<std::string> kinds;
  for (const CaseResult& c : s.cases)
    if (c.outcome == Outcome::failed) kinds.push_back(c.kind);
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}
using Kinds = std::vector<std::string>;

TEST(ConformanceToys, RightOnePasses) {
  static const OpDef<A> def = toy("toy.right");
  const Summary s = checked(def);
  EXPECT_EQ(failed_kinds(s), Kinds{}) << s.to_table();
  EXPECT_EQ(s.counts.refused, 0u);
  for (const char* kind :
       {"rules", "refusal", "round_trip", "decomposition", "gradient", "adjoint", "batch", "shard", "value"})
    EXPECT_TRUE(std::any_of(s.cases.begin(), s.cases.end(), [&](const CaseResult& c) { return c.kind == kind; }))
        << kind;
}

TEST(ConformanceToys, WrongVjp) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.vjp");
    d.vjp = Vjp<A>{toy_half_vjp};
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), (Kinds{"adjoint", "gradient"}));
}

TEST(ConformanceToys, VjpThatLooksOutOfRange) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.distant");
    d.vjp = Vjp<A>{toy_distant_vjp};
    return d;
  }();
  const Summary s = checked(def);
  EXPECT_EQ(failed_kinds(s), Kinds{"gradient"});
  EXPECT_TRUE(std::any_of(s.cases.begin(), s.cases.end(), [](const CaseResult& c) {
    return c.reason.find("gather index 7 is out of range") != std::string::npos;
  })) << s.to_table();
}

TEST(ConformanceToys, WrongVjpOfOneOperandAlone) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.greedy");
    d.operands = toy_pair;
    d.meaning = Composite<A>{toy_product};
    d.vjp = Vjp<A>{toy_greedy_vjp};
    d.jvp = Derived{};
    d.batch = Derived{};
    d.shard = Derived{};
    d.samples = toy_pairs;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), (Kinds{"gradient", "gradient"}));
}

TEST(ConformanceToys, WrongJvp) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.jvp");
    d.jvp = toy_half_jvp;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), Kinds{"adjoint"});
}

TEST(ConformanceToys, WrongBatch) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.batch");
    d.meaning = Composite<A>{toy_reverse};
    d.vjp = Derived{};
    d.jvp = Derived{};
    d.batch = toy_forgetful_batch;
    d.shard = Derived{};
    d.samples = toy_ones;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), Kinds{"batch"});
}

TEST(ConformanceToys, WrongShard) {
  static const OpDef<A> cut = [] {  // Reversed: each part is, but not their order.
    auto d = toy("toy.shard");
    d.samples = toy_ones;
    d.meaning = Composite<A>{toy_reverse};
    d.vjp = Derived{};
    d.jvp = Derived{};
    d.batch = Derived{};
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(cut)), Kinds{"shard"});
  static const OpDef<A> lists = [] {
    auto d = toy("toy.shard_lists");
    d.shard = [](const A&, const Signature&) { return ShardRule{{{}}, {{0}}, {{0}}}; };
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(lists)), Kinds{"shard"});
}

TEST(ConformanceToys, WrongCost) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.cost");
    d.cost = [](const A&, const Signature&) { return Cost{Dim(1000000), Dim(1)}; };
    return d;
  }();
  const Kinds failed = failed_kinds(checked(def));
  EXPECT_FALSE(failed.empty());
  for (const std::string& kind : failed) EXPECT_EQ(kind, "cost");
}

TEST(ConformanceToys, WrongLiteral) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.literal");
    d.samples = toy_wrong_literal;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), Kinds{"literal"});
}

TEST(ConformanceToys, NoResultStated) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.silent");
    d.samples = toy_stating_nothing;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), Kinds{"literal"});
}

TEST(ConformanceToys, ConstraintWithoutBreakingSample) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.unbroken");
    d.samples = toy_unbroken;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), Kinds{"refusal"});
}

TEST(ConformanceToys, BreakingSampleThatIsAccepted) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.accepted");
    d.samples = toy_accepted;
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), (Kinds{"refusal", "refusal"}));
}

TEST(ConformanceToys, RuleThatIsNotAnswered) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.todo");
    d.shard = Never{"todo"};
    return d;
  }();
  EXPECT_EQ(failed_kinds(checked(def)), Kinds{"rules"});
}

TEST(ConformanceToys, WrongType) {
  static const OpDef<A> def = [] {
    auto d = toy("toy.type");
    d.infer = [](const A&, const Signature& s) -> Types { return {tensor(DType::f32, s.shape(0))}; };
    return d;
  }();
  const Kinds kinds = failed_kinds(checked(def));
  EXPECT_TRUE(std::count(kinds.begin(), kinds.end(), "decomposition"));
}

TEST(ConformanceOptions, UnknownOperatorOrDevice) {
  const runtime::Catalog catalog = make_catalog();
  EXPECT_THROW(conformance::run(catalog, {.filter = "no such operator"}), ArgumentError);
  EXPECT_THROW(conformance::run(catalog, {.device = "no such device", .filter = "exp"}), ArgumentError);
}

}  // namespace rlx::testing
