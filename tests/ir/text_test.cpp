// Text: what is printed, and that it is read as what it was printed from.
#include "toy_text.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/verify.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "places.hpp"

namespace rlx {
namespace {

TEST(Text, SmallestGraph) {
  const Graph g;
  EXPECT_EQ(print(g), "rlx 1\ngraph main() {\n  return\n}\n");
  expect_canonical(print(g));
}

TEST(Text, TypesThatTheHeaderShowsAreTypes) {
  std::ifstream in(places::source() / "src/ir/include/rlx/ir/text.hpp");
  const std::string header(std::istreambuf_iterator<char>(in), {});
  const std::regex type("(f32|csr<[^>]*>|resource<[^>]*>)\\[[^\\]]*\\](\\{[a-z]*\\})?");
  std::set<std::string> kinds;
  for (std::sregex_iterator i(header.begin(), header.end(), type), end; i != end; ++i) {
    const std::string shown = i->str();
    EXPECT_EQ(to_string(parse_type(shown)), shown);
    kinds.insert(shown.substr(0, 3));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"csr", "f32", "res"}));
}

TEST(Text, PrintsWhatBuilderBuilt) {
  Graph g("step");
  g.symbols["n"] = {1, 1024, 8};
  g.symbols["m"] = {};
  g.symbols["k"] = {2, INT64_MAX, 1};
  Builder b(g, text_registry());
  const Dim n = Dim::symbol("n");
  const Value x = b.input(f32({n, 4}), "x");
  const Value a =
      b.input(SparseType{SparseFormat::csr, DType::f64, DType::i32, {n, n}, Dim::symbol("nnz")}, "matrix A");
  b.set_location({"model.cpp", 12});
  const Value y = b.emit1("toy.neg", {x});
  b.set_location({});
  const Value z = b.emit1("toy.add", {x, y});
  g.node(0).record = "cpu.neg:v-1";
  b.output(z, "z");
  b.output(a, "a\"\n");
  b.output(z, "again");
  EXPECT_EQ(print(g), R"(rlx 1
graph step(%0 "x": f32[n,4], %1 "matrix A": csr<f64,i32>[n,n]{nnz}) symbols(k in [2, inf], m, n in [1, 1024] mod 8) {
  %2 = toy.neg(%0) @cpu.neg:v-1 : f32[n,4] loc("model.cpp":12)
  %3 = toy.add(%0, %2) : f32[n,4]
  return %3 "z", %1 "a\"\n", %3 "again"
}
)");
  expect_canonical(print(g));
  EXPECT_EQ(print(g, {.locations = false}).find("loc("), std::string::npos);
  const Graph back = parse(print(g), text_registry());
  EXPECT_EQ(back.name, "step");
  EXPECT_EQ(back.symbols, g.symbols);
  EXPECT_EQ(back.input_names, g.input_names);
  EXPECT_EQ(back.output_names, g.output_names);
  EXPECT_EQ(back.node(0).location.to_string(), "model.cpp:12");
  EXPECT_EQ(back.node(0).record, "cpu.neg:v-1");
  EXPECT_EQ(back.node(1).location.to_string(), "");
}

TEST(Text, NotesStandBeforeLocations) {
  const std::string text = R"(rlx 1
graph main(%0 "x": f32[2]) {
  %1 = toy.neg(%0) : f32[2] note("an \"if\"") loc("a.cpp":3)
  %2 = toy.neg(%1) : f32[2] note("alone")
  return %2 "y"
}
)";
  expect_canonical(text);
  const Graph g = parse(text, text_registry());
  EXPECT_EQ(g.node(0).note, "an \"if\"");
  EXPECT_EQ(g.node(1).note, "alone");
  EXPECT_EQ(print(g, {.locations = false}).find("note("), std::string::npos);
  Graph copy("main");
  Builder b(copy, text_registry());
  const Value x = b.input(f32({2}), "x");
  b.output(b.inline_region(g, Graph::top, {&x, 1})[0], "y");
  EXPECT_EQ(print(copy), text);
  EXPECT_EQ(copy.node(b.graph().value(b.clone(g, g.node(1), {&x, 1})[0].id).node).note, "alone");
}

constexpr const char* loop_text = R"(rlx 1
graph "a loop"(%0 "i": i32[], %1 "end": i32[], %2 "x": f32[4]) {
  %3, %4, %5 = toy.while(%0, %1, %2) {trip_bound = 10} (
    region(%6: i32[], %7: i32[], %8: f32[4]) {
      %9 = toy.less(%6, %7) : bool[]
      return %9
    },
    region(%10: i32[], %11: i32[], %12: f32[4]) {
      %13 = toy.constant() {value = i32[](1)} : i32[]
      %14 = toy.add(%10, %13) : i32[]
      %15, %16 = toy.while(%12, %12) (
        region(%17: f32[4], %18: f32[4]) {
          %19 = toy.constant() {value = bool[](false)} : bool[]
          return %19
        },
        region(%20: f32[4], %21: f32[4]) {
          return %21, %20
        }
      ) : f32[4], f32[4] loc("x.py":3)
      return %14, %11, %15
    }
  ) : i32[], i32[], f32[4]
  return %5 "x"
}
)";

TEST(Text, Regions) {
  expect_canonical(loop_text);
  const Graph g = parse(loop_text, text_registry());
  verify(g, Level::hir);
  EXPECT_EQ(g.outputs().size(), 1u);
  EXPECT_EQ(g.region_count(), 5u);
  EXPECT_EQ(g.value(g.outputs()[0]).index, 2);
}

/// Numbers of values and nodes agree with those of a graph that Builder made by the same steps.
TEST(Text, ParsesInTheOrderOfBuilder) {
  Graph g("a loop");
  Builder b(g, text_registry());
  const Value i = b.input(i32({}), "i"), end = b.input(i32({}), "end");
  const RegionBody bodies[] = {[&](ValuesIn v) { return b.emit("toy.less", {v[0], v[1]}); },
                               [&](ValuesIn v) { return Values{b.emit1("toy.neg", {v[0]}), v[1]}; }};
  const Value in[] = {i, end};
  const Values out = b.emit("toy.while", in, toy::WhileAttrs{}, bodies);
  b.output(out[1], "y");
  const Graph back = parse(print(g), text_registry());
  ASSERT_EQ(back.value_count(), g.value_count());
  ASSERT_EQ(back.node_count(), g.node_count());
  for (std::size_t n = 0; n < g.node_count(); ++n) {
    const auto id = static_cast<NodeId>(n);
    EXPECT_EQ(back.node(id).op, g.node(id).op);
    EXPECT_EQ(back.node(id).operands, g.node(id).operands);
    EXPECT_EQ(back.node(id).results, g.node(id).results);
    EXPECT_EQ(back.node(id).regions, g.node(id).regions);
    EXPECT_EQ(back.node(id).parent, g.node(id).parent);
  }
}

TEST(Text, HandWrittenNamesAndBlanks) {
  EXPECT_EQ(reprinted(R"(# a comment
rlx 1 graph main(%x:f32[2],%long.name_2 "y" : f32[2]){
%sum=toy.add(%x,%long.name_2):f32[2]  # the sum
  toy.store ( %sum , %x )
  return %sum,%x "copy" })"),
            R"(rlx 1
graph main(%0 "x": f32[2], %1 "y": f32[2]) {
  %2 = toy.add(%0, %1) : f32[2]
  toy.store(%2, %0)
  return %2 "sum", %0 "copy"
}
)");
}

TEST(Text, OddNames) {
  expect_canonical(
      "rlx 1\ngraph \"\"(%0 \"\": token, %1 \"\xc3\xa9 %0 { # \\\" \\x00\": u8[]) {\n  return %0 \"return\", %1 "
      "\"\\n\"\n}\n");
}

TEST(Text, RecordsOfAnyCharacters) {
  expect_canonical(
      "rlx 1\ngraph main(%0 \"x\": f32[]) {\n  %1 = toy.neg(%0) @\"a b/c\" : f32[]\n  return %1 \"y\"\n}\n");
}

TEST(Text, LirMayCapture) {
  const std::string text = R"(rlx 1
graph main(%0 "x": f32[8], %1 "out": f32[8]@device) {
  %2 = toy.while(%0) (
    region(%3: f32[8]) {
      %4 = toy.constant() {value = bool[](true)} : bool[]
      return %4
    },
    region(%5: f32[8]) {
      toy.store(%0, %1)
      return %5
    }
  ) : f32[8]
  return
}
)";
  expect_canonical(text);
  verify(parse(text, text_registry()), Level::lir);
}

TEST(Text, LinesOfTheTextAreLocationsOnlyOnRequest) {
  const std::string text = "rlx 1\ngraph main(%x: f32[]) {\n  %y = toy.neg(%x) : f32[]\n  return %y\n}\n";
  EXPECT_EQ(parse(text, text_registry(), "f.rlx").node(0).location.to_string(), "");
  EXPECT_EQ(parse(text, text_registry(), "f.rlx", TextLines::remember).node(0).location.to_string(), "f.rlx:3");
}

}  // namespace
}  // namespace rlx
