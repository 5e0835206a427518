#include "toy_ops.hpp"

#include <rlx/ir/text.hpp>
#include <rlx/ir/verify.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace rlx {
namespace {

const Registry& verify_registry() {
  static const Registry r = toy::registry();
  return r;
}

constexpr const char* good = R"(rlx 1
graph main(%0 "x": f32[2], %1 "y": f32[2]) symbols(n) {
  %2 = toy.add(%0, %1) : f32[2] loc("m.cpp":7)
  %3 = toy.while(%2) (
    region(%4: f32[2]) {
      %5 = toy.constant() {value = bool[](false)} : bool[]
      return %5
    },
    region(%6: f32[2]) {
      %7 = toy.neg(%6) : f32[2]
      %8 = toy.neg(%7) : f32[2]
      return %8
    }
  ) : f32[2]
  return %3 "z", %2 "sum"
}
)";
// Ids in that graph: values x 0, y 1, sum 2, arguments 3 and 5, constant 4, negs 6 and 7, loop 8; nodes add 0, while 1,
// constant 2, negs 3 and 4; regions 1 and 2.

TEST(Verify, AcceptsAtEveryLevel) {
  const Graph g = parse(good, verify_registry());
  for (Level l : {Level::hir, Level::mir, Level::lir}) verify(g, l);
  verify(Graph(), Level::hir);
}

struct Broken {
  const char* rule;
  const char* what;
  std::function<void(Graph&)> breaks;
};

void expect_refusal(const Broken& c, Graph g, Level level) {
  c.breaks(g);
  try {
    verify(g, level);
    ADD_FAILURE() << "accepted: " << c.rule << " " << c.what;
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.constraint(), c.rule) << e.what();
    EXPECT_NE(std::string(e.what()).find(c.what), std::string::npos) << e.what();
  } catch (const std::exception& e) { ADD_FAILURE() << c.rule << " " << c.what << ": " << e.what(); }
}

TEST(Verify, RefusesWhatBreaksARule) {
  const Broken cases[] = {
      {"names", "2 inputs with 1 name", [](Graph& g) { g.input_names.pop_back(); }},
      {"names", "input \"x\" is there twice", [](Graph& g) { g.input_names[1] = "x"; }},
      {"names", "output \"z\" is there twice", [](Graph& g) { g.output_names[1] = "z"; }},
      {"names", "3 outputs with 2 names", [](Graph& g) { g.region(Graph::top).results.push_back(0); }},
      {"symbols", "symbol n can take no value", [](Graph& g) { g.symbols["n"].divisor = 0; }},
      {"symbols", "symbol n can take no value", [](Graph& g) { g.symbols["n"] = {3, 2, 1}; }},
      {"entries", "input %1 is csr<f64,i32>[2,2]{5}, which has 4 places for 5 entries",
       [](Graph& g) { g.set_type(1, SparseType{SparseFormat::csr, DType::f64, DType::i32, {2, 2}, 5}); }},
      {"entries", "which has 0 places for 1 entry",
       [](Graph& g) { g.set_type(1, SparseType{SparseFormat::csr, DType::f64, DType::i32, {0, 0}, 1}); }},
      {"type", "%2 = toy.add: type: %2 has type f64[2], but is f32[2]  m.cpp:7",
       [](Graph& g) { g.set_type(2, f64({2})); }},
      {"type", "%7 has type f32[3]", [](Graph& g) { g.set_type(6, f32({3})); }},
      {"C1", "%2 = toy.add: C1: requires shape(x) = shape(y)", [](Graph& g) { g.set_type(1, f32({3})); }},
      {"regions", "argument 0 of region 0 is f64[2], expected f32[2]", [](Graph& g) { g.set_type(3, f64({2})); }},
      {"regions", "1 region given", [](Graph& g) { g.node(1).regions.pop_back(); }},
      {"C2", "the body gives", [](Graph& g) { g.region(2).results.clear(); }},
      {"arity", "given, expected 2", [](Graph& g) { g.node(0).operands.pop_back(); }},
      {"arity", "gives 1 result, but has 0",
       [](Graph& g) {
         g.node(4).results.clear();
         g.region(2).results = {6};
       }},
      {"scope", "%8 is used before its definition", [](Graph& g) { g.node(3).operands = {7}; }},
      {"scope", "%7 = toy.neg: scope: %8 is used before",
       [](Graph& g) { std::swap(g.region(2).nodes[0], g.region(2).nodes[1]); }},
      {"scope", "%3 is used before its definition", [](Graph& g) { g.region(2).results = {8}; }},
      {"scope", "%4 belongs to another region", [](Graph& g) { g.region(2).results = {3}; }},
      {"scope", "%7 belongs to another region", [](Graph& g) { g.region(Graph::top).results[0] = 6; }},
      {"structure", "there is no value 99", [](Graph& g) { g.node(0).operands[0] = 99; }},
      {"structure", "there is no value -1", [](Graph& g) { g.node(0).results[0] = -1; }},
      {"structure", "there is no node 99", [](Graph& g) { g.region(1).nodes.push_back(99); }},
      {"structure", "there is no region 99", [](Graph& g) { g.node(1).regions[0] = 99; }},
      {"structure", "region 1 has two owners", [](Graph& g) { g.node(1).regions[1] = 1; }},
      {"structure", "region 0 has two owners", [](Graph& g) { g.node(1).regions[0] = 0; }},
      {"structure", "region 1 does not know its owner", [](Graph& g) { g.region(1).owner = 0; }},
      {"structure", "the node is there twice", [](Graph& g) { g.region(Graph::top).nodes.push_back(0); }},
      {"structure", "the node has no operator", [](Graph& g) { g.node(0).op = nullptr; }},
      {"structure", "the node does not know its region", [](Graph& g) { g.node(3).parent = 1; }},
      {"structure", "%2 does not say where it is defined", [](Graph& g) { g.node(4).results[0] = 2; }},
      {"structure", "%0 does not say where it is defined",
       [](Graph& g) { std::swap(g.region(Graph::top).arguments[0], g.region(Graph::top).arguments[1]); }},
      {"structure", "the attributes are of another operator", [](Graph& g) { g.node(2).attrs = AnyAttrs(); }},
  };
  for (const Broken& c : cases)
    for (Level l : {Level::hir, Level::mir, Level::lir}) expect_refusal(c, parse(good, verify_registry()), l);
}

TEST(Verify, SparseInputsMayBeFull) {
  const auto graph = [](const std::string& type) {
    return parse("rlx 1\ngraph main(%0 \"a\": " + type + ") symbols(n) {\n  return\n}\n", verify_registry());
  };
  // As many entries as places, sizes that are not known yet, and more places than 63 bits count.
  for (const char* type : {"csr<f64,i32>[2,3]{6}", "csr<f64,i32>[0,3]{0}", "csr<f64,i32>[2,n]{9}",
                           "csr<f64,i64>[4000000000,4000000000]{9000000000000000000}"})
    EXPECT_NO_THROW(verify(graph(type), Level::hir)) << type;
}

TEST(Verify, BuffersBelongToLir) {
  const Broken input{"level", "input %1 is a buffer, f32[2]@device",
                     [](Graph& g) { g.set_type(1, TensorType{DType::f32, {2}, Space::device}); }};
  for (Level l : {Level::hir, Level::mir}) expect_refusal(input, parse(good, verify_registry()), l);
}

TEST(Verify, RegionsAreClosedBelowLir) {
  const Broken capture{"closed", "%2 is of an outer region", [](Graph& g) { g.node(3).operands = {2}; }};
  expect_refusal(capture, parse(good, verify_registry()), Level::hir);
  expect_refusal(capture, parse(good, verify_registry()), Level::mir);
  Graph g = parse(good, verify_registry());
  capture.breaks(g);
  verify(g, Level::lir);
}

Graph of_body(const std::string& body) {
  return parse("rlx 1\ngraph main(%x: f32[2]) {\n" + body + "\nreturn }", verify_registry());
}

TEST(Verify, RecordsBelongToMir) {
  const Graph call = of_body("%y = toy.twice(%x) @cpu.twice : f32[2]");
  expect_refusal({"record", "the record \"cpu.twice\" is set", [](Graph&) {}}, call, Level::hir);
  verify(call, Level::mir);
}

TEST(Verify, MirHasPrimitivesAndCalls) {
  for (const char* body : {"%y = toy.twice(%x) : f32[2]", "%y = toy.join(%x) : f32[2]"}) {
    verify(of_body(body), Level::hir);
    expect_refusal({"record", "is no primitive and has no record", [](Graph&) {}}, of_body(body), Level::mir);
  }
}

TEST(Verify, LirOperatorsStayInLir) {
  const Graph g = of_body("toy.store(%x, %x)");
  expect_refusal({"level", "toy.store: level: the operator belongs to LIR", [](Graph&) {}}, g, Level::hir);
  expect_refusal({"level", "belongs to LIR", [](Graph&) {}}, g, Level::mir);
  verify(g, Level::lir);
}

// Sharding makes what follows it the program of one rank; there is no such pass here, so nothing computes with it.
TEST(Verify, ValuesOverAMeshBelongToHir) {
  const auto text = [](const char* type, const char* body) {
    return std::string("rlx 1\ngraph main(%0 \"x\": ") + type + ") {\n" + body + "}\n";
  };
  for (const char* type : {"f32[2]{split=((data))}", "csr<f64,i32>[4,4]{6,split=((),()),partial=(data)}"}) {
    const Graph g = parse(text(type, "  return %0 \"y\"\n"), verify_registry());
    EXPECT_EQ(print(g), text(type, "  return %0 \"y\"\n"));
    verify(g, Level::hir);
    for (const Level l : {Level::mir, Level::lir}) expect_refusal({"sharding", type, [](Graph&) {}}, g, l);
  }
  try {
    parse(text("f32[2]{split=((data))}", "  %1 = toy.neg(%0) : f32[2]\n  return %1 \"y\"\n"), verify_registry());
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.constraint(), "kind");
    EXPECT_NE(std::string(e.what()).find("f32[2]{split=((data))}"), std::string::npos) << e.what();
  }
}

TEST(Verify, MirHoldsWhatTheTargetStores) {
  const Graph g = of_body("%y = toy.neg(%x) : f32[2]");
  const DTypeSet without = storable - DTypeSet{DType::f32};
  verify(g, Level::mir, DTypeSet{DType::f32});
  verify(g, Level::hir, without);
  try {
    verify(g, Level::mir, without);
    FAIL();
  } catch (const VerifyError& e) {
    EXPECT_EQ(e.constraint(), "dtype");
    EXPECT_NE(std::string(e.what()).find("input %0 is f32[2], and the target stores {"), std::string::npos) << e.what();
  }
  const Graph sparse =
      parse("rlx 1\ngraph main(%0 \"a\": csr<f64,i64>[4,4]{6}) {\n  return %0 \"b\"\n}\n", verify_registry());
  verify(sparse, Level::mir, DTypeSet{DType::f64, DType::i64});
  for (const DType lacking : {DType::f64, DType::i64})
    EXPECT_THROW(verify(sparse, Level::mir, storable - DTypeSet{lacking}), VerifyError);
}

TEST(Verify, NodesOutsideAllRegionsAreIgnored) {
  Graph g = parse(good, verify_registry());
  g.reserve_node();
  g.add_region(0);
  verify(g, Level::hir);
}

TEST(Verify, NestingIsLimited) {
  Graph g;
  RegionId r = Graph::top;
  for (int i = 0; i <= max_nesting; ++i) {
    const NodeId n = g.add_node(r, {.op = verify_registry().find("toy.neg")}, {});
    g.node(n).regions = {g.add_region(n)};
    r = g.node(n).regions[0];
  }
  try {
    verify(g, Level::lir);
    FAIL();
  } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), "nesting"); }
}

}  // namespace
}  // namespace rlx
