// What operators claim by the element types of their operands: every pair has cases, made of samples of other types
// where there are none.
#include "api/conformance/retype.hpp"
#include "toy_ops.hpp"

#include <rlx/catalog.hpp>
#include <rlx/conformance.hpp>
#include <rlx/linalg/register.hpp>
#include <rlx/splat/register.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace rlx::testing {

using conformance::CaseResult;
using conformance::Outcome;
using conformance::Summary;

namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

// What operand definitions say, counted without the conformance program: of each operator the operand that takes most.
Pairs claimed_pairs(const Registry& registry) {
  Pairs pairs;
  for (const Op* op : registry.all()) {
    if (op->has_trait(Trait::lir)) continue;
    std::vector<std::string> most;
    bool communicates = false;
    for (const Operand& o : op->operands()) {
      std::vector<std::string> here;
      for (int i = 0; i < dtype_count; ++i)
        if (o.dtypes.contains(static_cast<DType>(i))) here.emplace_back(name(static_cast<DType>(i)));
      if (here.size() > most.size()) most = here;
      communicates = communicates || o.resource_kind == "communicator";
    }
    if (communicates) continue;  // No operator makes a communicator.
    for (const std::string& t : most) pairs.emplace(op->name(), t);
  }
  return pairs;
}

std::vector<CaseResult> failures(const Summary& s) {
  std::vector<CaseResult> failed;
  std::copy_if(s.cases.begin(), s.cases.end(), std::back_inserter(failed),
               [](const CaseResult& c) { return c.outcome == Outcome::failed; });
  return failed;
}

}  // namespace

TEST(Claims, EveryPairHasACase) {
  runtime::Catalog catalog = make_catalog();
  linalg::add_to(catalog);
  splat::add_to(catalog);
  Pairs seen;
  for (const CaseResult& c : conformance::run(catalog, {.device = "null"}).cases)
    if (c.kind == "plan") seen.emplace(c.op, c.dtype);  // Refused ones too: null has no libraries.
  const Pairs claimed = claimed_pairs(catalog.operators);
  EXPECT_GT(claimed.size(), 900u);
  for (const auto& [op, dtype] : claimed) EXPECT_TRUE(seen.contains({op, dtype})) << op << " " << dtype;
}

// The toy refuses what its operand claims: no instance can have it.
TEST(Claims, PairWithoutAPossibleCaseFails) {
  static constexpr Operand operands[] = {{"x", DTypeSet{DType::f64, DType::f32, DType::i16, DType::boolean}}};
  static constexpr Constraint<A> constraints[] = {
      toy_constraints[0], {"C2", "x is of 32 bits or more", [](const A&, const Signature& s) -> Answer {
                             return bit_width(s.dtype(0)) >= 32;
                           }}};
  static const OpDef<A> def = [] {
    auto d = toy("toy.boastful");
    d.operands = operands;
    d.constraints = constraints;
    d.samples = [] {
      auto all = toy_samples();
      all.push_back(sample<A>({boolean({2})}).breaking("C2"));
      return all;
    };
    return d;
  }();
  for (const std::string device : {"reference", "cpu"}) {
    runtime::Catalog catalog = make_catalog();
    catalog.operators.add(def);
    const std::vector<CaseResult> failed =
        failures(conformance::run(catalog, {.device = device, .filter = "toy.boastful"}));
    ASSERT_EQ(failed.size(), 2u) << device;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::string dtype = k == 0 ? "i16" : "bool";
      EXPECT_EQ(failed[k].kind, "claim");
      EXPECT_EQ(failed[k].dtype, dtype);
      EXPECT_EQ(failed[k].name, "ops.toy.boastful.claim." + device + "." + dtype + ".x");
      EXPECT_NE(failed[k].reason.find("operand \"x\" of toy.boastful claims " + dtype), std::string::npos);
    }
  }
}

// A kernel that is wrong in one type, of which no sample is.
TEST(Claims, KernelThatIsWrongInOneTypeIsFound) {
  static constexpr Operand operands[] = {{"x", DTypeSet{DType::f64, DType::f32, DType::i8}}};
  static const OpDef<A> def = [] {
    auto d = toy("toy.square");
    d.operands = operands;
    return d;
  }();
  static const KernelRecord record{.name = "made_up.square",
                                   .op = "toy.square",
                                   .provider = "handwritten",
                                   .action = Launch([](const LaunchCall& c) {
                                     const std::int64_t n = c.in[0].type.numel().constant();
                                     const auto square = [&]<class T>(T) {
                                       const auto* x = static_cast<const T*>(c.in[0].data);
                                       for (std::int64_t i = 0; i < n; ++i)
                                         static_cast<T*>(c.out[0].data)[i] = static_cast<T>(x[i] * x[i]);
                                     };
                                     switch (c.in[0].type.dtype) {
                                       case DType::f64:
                                         return square(0.0);
                                       case DType::f32:
                                         return square(0.0f);
                                       default:
                                         std::memset(c.out[0].data, 0, static_cast<std::size_t>(n));
                                     }
                                   })};
  runtime::Catalog catalog = make_catalog();
  catalog.operators.add(def);
  catalog.add_records("cpu", {&record, 1});
  std::set<std::string> wrong;
  for (const CaseResult& c : failures(conformance::run(catalog, {.device = "cpu", .filter = "toy.square"})))
    wrong.insert(c.kind + " " + c.dtype);
  EXPECT_EQ(wrong, (std::set<std::string>{"value i8", "decomposition i8"}));
}

// Each combination of a region and each word of an attribute is tried in each type that it can have.
TEST(Claims, EveryFormHasItsTypes) {
  std::map<std::string, std::set<std::string>> of;
  const runtime::Catalog catalog = make_catalog();
  for (const std::string op : {"scatter", "segment_reduce", "compare"}) {
    const Summary s = conformance::run(catalog, {.device = "null", .filter = op});
    for (const CaseResult& c : s.cases)
      if (c.kind == "plan") of[op].insert(c.dtype + c.name.substr(c.name.rfind('.')));
  }
  const auto forms = [&](const std::string& op, const std::string& dtype) {
    return std::count_if(of[op].begin(), of[op].end(),
                         [&](const std::string& c) { return c.starts_with(dtype + "."); });
  };
  EXPECT_GE(forms("compare", "bf16"), 6);         // eq, ne, lt, le, gt, ge
  EXPECT_GE(forms("scatter", "i16"), 5);          // set, add, min, max, mul
  EXPECT_GE(forms("scatter", "c64"), 3);          // Complex numbers have no order.
  EXPECT_GE(forms("segment_reduce", "bool"), 2);  // min, max
}

// What takes a factorization has one made in its graph: its values, gradients and batches are checked.
TEST(Claims, FactorizationsAreMadeInTheSameGraph) {
  runtime::Catalog catalog = make_catalog();
  linalg::add_to(catalog);
  for (const std::string op : {"linalg.sparse_lu_solve", "linalg.sparse_cholesky_solve", "linalg.sparse_lu_update",
                               "linalg.sparse_cholesky_update", "linalg.sparse_lu", "linalg.sparse_cholesky"}) {
    const Summary s = conformance::run(catalog, {.device = "reference", .filter = op});
    EXPECT_EQ(s.counts.failed, 0u) << s.to_table();
    std::map<std::string, int> passed;
    for (const CaseResult& c : s.cases)
      if (c.outcome == Outcome::passed) ++passed[c.kind + " " + c.dtype];
    for (const char* kind : {"value f64", "value c128", "gradient f64", "gradient c128", "adjoint f64", "adjoint c128"})
      EXPECT_GT(passed[kind], 0) << op << " " << kind;
    if (op.ends_with("_solve")) {
      EXPECT_GT(passed["batch f64"], 0) << op;
      EXPECT_GT(passed["literal f64"], 0) << op;
    }
  }
}

// On one rank every collective has a value, which the host's reference gives; what several make of theirs is tested
// elsewhere (tests/ops/comm_test.cpp).
TEST(Claims, CollectivesOfOneRankHaveCases) {
  const runtime::Catalog catalog = make_catalog();
  std::size_t collectives = 0;
  for (const Op* op : catalog.operators.all()) {
    if (!op->name().starts_with("comm.")) continue;
    ++collectives;
    const Summary s = conformance::run(catalog, {.device = "reference", .filter = std::string(op->name())});
    EXPECT_EQ(s.counts.failed + s.counts.refused, 0u) << s.to_table();
    std::set<std::string> passed;
    for (const CaseResult& c : s.cases)
      if (c.outcome == Outcome::passed) passed.insert(c.kind + " " + c.dtype);
    std::vector<std::string> kinds{"value f64", "literal f64"};
    if (op->name() != "comm.rank")  // Which takes no tensor.
      kinds.insert(kinds.end(),
                   {"gradient f64", "adjoint c128", "batch f64", "value i8", "value f16", "value bool", "batch u32"});
    for (const std::string& kind : kinds) EXPECT_TRUE(passed.contains(kind)) << op->name() << " " << kind;
  }
  EXPECT_EQ(collectives, 7u);
}

TEST(Retyping, LiteralsAreRoundedToTheType) {
  const runtime::Catalog catalog = make_catalog();
  const Op& neg = catalog.operators.get("neg");
  AnySample s;
  s.in = {SampleOperand(f64({5}), {0.5, -3, 300, NAN, INFINITY})};
  const auto literal_in = [&](DType t) { return conformance::retyped(neg, s, 0, t, catalog.operators).at(0).in[0]; };
  EXPECT_EQ(literal_in(DType::u8).literal, (std::vector<double>{0, 0, 255, 0, 255}));
  EXPECT_EQ(literal_in(DType::i8).literal, (std::vector<double>{0, -3, 127, 0, 127}));
  EXPECT_EQ(literal_in(DType::boolean).literal, (std::vector<double>{1, 0, 1, 0, 1}));
  EXPECT_EQ(literal_in(DType::f8e4m3fn).literal.back(), 448);  // Which has no infinity (OCP OFP8, table 1).
  const SampleOperand pairs = literal_in(DType::c64);
  EXPECT_EQ(pairs.literal.size(), 10u);
  EXPECT_EQ(pairs.literal[2], -3);
  EXPECT_EQ(std::get<TensorType>(pairs.type).dtype, DType::c64);
}

TEST(Retyping, RangesFitTheTypeAndSaySomethingOfIntegers) {
  const runtime::Catalog catalog = make_catalog();
  const Op& neg = catalog.operators.get("neg");
  AnySample s;
  s.in = {SampleOperand(f32({40}))};
  const auto range_in = [&](DType t) {
    const SampleOperand o = conformance::retyped(neg, s, 0, t, catalog.operators).at(0).in[0];
    return std::pair(o.low, o.high);
  };
  EXPECT_EQ(range_in(DType::i32), std::pair(-100.0, 100.0));
  EXPECT_EQ(range_in(DType::i4), std::pair(-8.0, 7.0));
  EXPECT_EQ(range_in(DType::u16), std::pair(0.0, 100.0));
  EXPECT_EQ(range_in(DType::f16), std::pair(-1.0, 1.0));
}

// 8 units in the last place of f32 are 8 of bf16; what a sample states in units of another type's never says nothing.
TEST(Retyping, ToleranceIsOfTheNewType) {
  const runtime::Catalog catalog = make_catalog();
  const Op& exp = catalog.operators.get("exp");
  AnySample s;
  s.in = {SampleOperand(f32({3}))};
  const auto tolerance_in = [&](DType t) { return conformance::retyped(exp, s, 0, t, catalog.operators).at(0).rtol; };
  s.rtol = 16 * 0x1p-23;
  EXPECT_EQ(tolerance_in(DType::bf16), 16 * 0x1p-7);
  EXPECT_EQ(tolerance_in(DType::f64), 16 * 0x1p-52);
  s.rtol = 1e-2;
  EXPECT_EQ(tolerance_in(DType::f16), 64 * 0x1p-10);
  s.rtol = 0;
  s.expect = {{1, 2, 3}};
  EXPECT_LT(tolerance_in(DType::f16), 0);  // The default: exact results of a literal say nothing of others.
}

}  // namespace rlx::testing
