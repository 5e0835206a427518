// Texts that are no graphs: what is refused, in which words and at which place.
#include "toy_text.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/verify.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace rlx {
namespace {

/// Graph with `body` between the braces; the place of an error is then in line 3 or later.
std::string with_body(const std::string& body) {
  return "rlx 1\ngraph main(%x: f32[2], %s: f32[], %b: bool[]) {\n" + body + "\n}\n";
}

struct Refusal {
  std::string text, what;
};

TEST(Text, RefusesMalformedText) {
  const std::string region =
      "(region(%p: f32[2]) {%c = toy.constant() {value = bool[](true)} : bool[] return %c}, region(%q: f32[2]) {";
  const Refusal cases[] = {
      {"", "<memory>:1:1: expected \"rlx\", found the end of the text (byte 0)"},
      {"rlx", "<memory>:1:4: expected an integer, found the end of the text (byte 3)"},
      {"rlx 2\ngraph main() {}", "text form of version 2; this library reads version 1"},
      {"rlx 1\ngraph main()", "<memory>:2:13: expected \"{\", found the end of the text (byte 18)"},
      {"rlx 1\ngraph () { return }", "<memory>:2:7: expected the name of the graph, found \"(\" (byte 12)"},
      {"rlx 1\ngraph main() { return } x", "expected the end of the text, found \"x\""},
      {"rlx 1\ngraph main() { return", "expected \"}\", found the end of the text"},
      {"rlx 1\ngraph main() {", "expected a node or \"return\", found the end of the text"},
      {"rlx 1\ngraph main(%x f32[]) { return }", "<memory>:2:15: expected \":\", found \"f32\" (byte 20)"},
      {"rlx 1\ngraph main(%x: f33[]) { return }", "<memory>:2:16: expected a type, found \"f33\" (byte 21)"},
      {"rlx 1\ngraph main(%x: f32[2 { return }", "<memory>:2:19: expected a \"]\" that closes this \"[\" (byte 24)"},
      {"rlx 1\ngraph main(%x: f32[2, -]) { return }", "<memory>:2:24: expected a dimension, found \"]\" (byte 29)"},
      {"rlx 1\ngraph main(%x: f32[-2]) { return }", "<memory>:2:20: dimension -2 is negative (byte 25)"},
      {"rlx 1\ngraph main(%x: f32[2]@moon) { return }",
       "expected one of value, host, pinned, device, local, flash, found \"moon\""},
      {"\x93NUMPY", "expected \"rlx\", found \""},
      {"{\"a\": 1}", "<memory>:1:1: expected \"rlx\", found \"{\" (byte 0)"},
      {"rlx 1\ngraph main(%x: f32[], %x: f32[]) { return }", "value %x is defined twice"},
      {"rlx 1\ngraph main(%x: f32[], %y \"x\": f32[]) { return }", "input \"x\" is given twice"},
      {"rlx 1\ngraph main(%x \"a\": f32[], %x \"b\": f32[]) { return }", "value %x is defined twice"},
      {"rlx 1\ngraph main(%x \"a\": f32[], %y \"a\": f32[]) { return }", "input \"a\" is given twice"},
      {"rlx 1\ngraph main() symbols(n in [2, 1]) { return }",
       "symbol n can take no value: from 2 to 1 in multiples of 1"},
      {"rlx 1\ngraph main() symbols(n mod 0) { return }", "symbol n can take no value"},
      {"rlx 1\ngraph main() symbols(n, n) { return }", "symbol n is declared twice"},
      {with_body("return %x, %x"), "output \"x\" is given twice"},
      {with_body("return %z"), "there is no value %z"},
      {with_body("%y = toy.nge(%x) : f32[2] return %y"), "unknown operator \"toy.nge\"; did you mean \"toy.neg\"?"},
      {with_body("%y = toy.neg(%z) : f32[2] return %y"), "there is no value %z"},
      {with_body("%y = toy.neg(%y) : f32[2] return %y"), "value %y is used in its own definition"},
      {with_body("%y = toy.neg(%z) : f32[2]\n%z = toy.neg(%y) : f32[2] return %y"),
       "value %z is used before its definition"},
      {with_body("%y = toy.neg(%z2) : f32[2]\n%z = toy.neg(%x) : f32[2] return %y"), "there is no value %z2"},
      {with_body("%x = toy.neg(%s) : f32[] return"), "value %x is defined twice"},
      {with_body("%y, %y = toy.while() : f32[], f32[] return"), "value %y is defined twice"},
      {with_body("%y = toy.neg(%x) return %y"), "<memory>:3:18: expected \":\", found \"return\""},
      {with_body("%y = toy.neg(%x) : f32[2], f32[2] return %y"), "expected a node or \"return\", found \",\""},
      {with_body("%y = 7(%x) : f32[2] return %y"), "expected an operator, found \"7\""},
      {with_body("%y, %z = toy.neg(%x) : f32[2] return %y"), "expected \",\", found \"return\""},
      {with_body("%y = toy.neg(%x) @ : f32[2] return"), "expected the id of a record, found \" \""},
      {with_body("%y = toy.neg(%x) @\"\" : f32[2] return"), "expected the id of a record, found \"\\\"\\\"\""},
      {with_body("%y = toy.neg(%x) {a = 1} : f32[2] return"), "expected no attribute, found \"a\""},
      {with_body("%y = toy.neg(%x) : f32[2] loc(\"\":1) return"), "expected the name of a file, found \"\\\"\\\"\""},
      {with_body("%y = toy.neg(%x) : f32[2] loc(\"f\":4294967296) return"),
       "expected the number of a line, below 2^32, found \"4294967296\""},
      {with_body("%y = toy.neg(%x) : f32[2] loc(\"f\") return"), "expected \":\", found \")\""},
      {with_body("%y = toy.neg(%x) : f32[2] note(\"\") return"), "expected the text of a note, found \"\\\"\\\"\""},
      {with_body("%y = toy.neg(%x) : f32[2] note(\"a\":1) return"), "expected \")\", found \":\""},
      {with_body("%y = toy.neg(%x) : f32[2] loc(\"f\":1) note(\"a\") return"), "unknown operator \"note\""},
      {with_body("toy.store(%x, %x) : f32[2] return"), "expected a node or \"return\", found \":\""},
      {with_body("%w = toy.while(%x) " + region + "return %q}) : f32[2] return %p"),
       "value %p belongs to another region"},
      {with_body("%w = toy.while(%x) " + region + "return %w}) : f32[2] return"),
       "value %w is used in its own definition"},
      {with_body("%w = toy.while(%x) (region {return}) : f32[2] return"), "expected \"(\", found \"{\""},
      {with_body("%w = toy.while(%x) (%x) : f32[2] return"), "expected \"region\", found \"%x\""},
      {with_body("%w = toy.constant() {value = f32[1000000000]0x00} : f32[2] return"),
       "more than the text goes on to state"},
  };
  for (const Refusal& c : cases) {
    try {
      parse(c.text, text_registry());
      ADD_FAILURE() << "accepted: " << c.text;
    } catch (const FormatError& e) {
      EXPECT_NE(std::string(e.what()).find(c.what), std::string::npos) << c.text << "\n" << e.what();
      EXPECT_GE(e.line(), 1u) << c.text;
      EXPECT_GE(e.column(), 1u) << c.text;
      EXPECT_LE(e.offset(), c.text.size()) << c.text;
    } catch (const std::exception& e) { ADD_FAILURE() << c.text << "\n" << e.what(); }
  }
}

TEST(Text, RefusesIllegalNodes) {
  const std::string cond = "region(%p: f32[2]) {%c = toy.constant() {value = bool[](true)} : bool[] return %c}";
  const struct {
    std::string body, op, constraint, what;
  } cases[] = {
      {"%y = toy.neg(%x) : f32[3] return", "toy.neg", "type",
       "toy.neg: type: %y is stated as f32[3], but is f32[2]  f.rlx:3 (byte 54)"},
      {"%y = toy.neg(%x, %x) : f32[2] return", "toy.neg", "arity", "2 operands given, expected 1"},
      {"toy.neg(%x) return", "toy.neg", "arity", "gives 1 result, but 0 stated"},
      {"%y, %z = toy.neg(%x) : f32[2], f32[2] return", "toy.neg", "arity", "gives 1 result, but 2 stated"},
      {"%y = toy.neg(%b) : bool[] return", "toy.neg", "dtype", "operand \"x\" is bool[]"},
      {"%y = toy.add(%x, %s) : f32[2] return", "toy.add", "C1", "requires shape(x) = shape(y)"},
      {"\n%y = toy.join(%x, %s) : f32[2] return", "toy.join", "C1", "f.rlx:4"},
      {"%w = toy.while(%x) : f32[2] return", "toy.while", "regions", "0 regions given, expected 2"},
      {"%w = toy.while(%x) (" + cond + ") : f32[2] return", "toy.while", "regions", "1 region given, expected 2"},
      {"%w = toy.while(%x) (" + cond + ", region() {return}) : f32[2] return", "toy.while", "regions",
       "region 1 has 0 arguments, expected 1"},
      {"%w = toy.while(%x) (" + cond + ", region(%q: f64[2]) {return %q}) : f32[2] return", "toy.while", "regions",
       "argument 0 of region 1 is f64[2], expected f32[2]"},
      {"%w = toy.while(%x) (" + cond + ", region(%q: f32[2]) {return}) : f32[2] return", "toy.while", "C2", ""},
      {"%y = toy.neg(%x) (region() {return}) : f32[2] return", "toy.neg", "regions", "1 region given, expected 0"},
      {"%y = toy.constant() {value = f32[2](1, 2)} : f32[2]{layout=(0)} return", "toy.constant", "type",
       "is stated as f32[2]{layout=(0)}"},
  };
  for (const auto& c : cases) {
    try {
      parse(with_body(c.body), text_registry(), "f.rlx");
      ADD_FAILURE() << "accepted: " << c.body;
    } catch (const VerifyError& e) {
      EXPECT_EQ(e.op(), c.op) << c.body;
      EXPECT_EQ(e.constraint(), c.constraint) << c.body;
      EXPECT_NE(std::string(e.what()).find(c.what), std::string::npos) << c.body << "\n" << e.what();
      EXPECT_NE(std::string(e.what()).find("f.rlx:"), std::string::npos) << e.what();
    } catch (const std::exception& e) { ADD_FAILURE() << c.body << "\n" << e.what(); }
  }
}

// Types have their place for them; most operators do not compute with them, and taken as plain they would be other
// numbers.
TEST(Text, RefusesOtherOrdersAndQuantizedElements) {
  const std::pair<std::string, std::string> types[] = {{"f32[2,3]{layout=(0,1)}", "row-major order"},
                                                       {"f32[2]{scales=(0.5),zero_points=(1)}", "plain elements"}};
  for (const auto& [type, expected] : types) {
    const std::string head = "rlx 1\ngraph main(%x: " + type + ") {\n";
    EXPECT_NO_THROW(parse(head + "return %x }", text_registry()));
    try {
      parse(head + "%y = toy.neg(%x) : " + type + " return %y }", text_registry());
      ADD_FAILURE() << "accepted: " << type;
    } catch (const VerifyError& e) {
      EXPECT_EQ(e.constraint(), "kind");
      EXPECT_NE(std::string(e.what()).find(type + ", expected " + expected), std::string::npos) << e.what();
    }
  }
}

TEST(Text, OverflowOfADimensionIsRefused) {
  const std::string text =
      "rlx 1\ngraph main(%x: f32[9223372036854775807]) {\n  %y = toy.join(%x, %x) : f32[1]\n  return\n}\n";
  try {
    parse(text, text_registry());
    FAIL();
  } catch (const VerifyError& e) { EXPECT_EQ(e.constraint(), "infer"); }
}

std::string nested(int depth) {
  std::string text = "rlx 1\ngraph main() {\n", close;
  for (int i = 0; i < depth; ++i) {
    const std::string c = "%c" + std::to_string(i);
    text += "toy.while() (region() {" + c + " = toy.constant() {value = bool[](true)} : bool[] return " + c +
            "}, region() {\n";
    close += "return })\n";
  }
  return text + close + "return }";
}

TEST(Text, NestingIsLimited) {
  const Graph g = parse(nested(max_nesting), text_registry());
  verify(g, Level::hir);
  expect_canonical(print(g));
  EXPECT_THROW(parse(nested(max_nesting + 1), text_registry()), FormatError);
  EXPECT_THROW(parse(nested(10000), text_registry()), FormatError);
}

}  // namespace
}  // namespace rlx
