// Dimensions: literal cases of the canonical form, of bounds and proofs, and the parser's refusals.
#include <rlx/ir/error.hpp>
#include <rlx/ir/shape.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rlx {
namespace {

const Dim n = Dim::symbol("n"), m = Dim::symbol("m");

TEST(Dim, PrintsCanonically) {
  const std::pair<Dim, const char*> table[] = {{Dim(4), "4"},
                                               {Dim(-4), "-4"},
                                               {Dim(0), "0"},
                                               {n, "n"},
                                               {n * 2 + 1, "2*n+1"},
                                               {1 - n, "-n+1"},
                                               {n * m - 3, "m*n-3"},
                                               {m * n * n + n, "m*n*n+n"},
                                               {n - n, "0"},
                                               {n + m, "m+n"},
                                               {(n + 1) * (n - 1), "n*n-1"},
                                               {floordiv(n, 2), "floordiv(n, 2)"},
                                               {floordiv(n * 4 + 6, 2), "2*n+3"},
                                               {floordiv(n + 5, 4), "floordiv(n+1, 4)+1"},
                                               {floordiv(n * 2 + 1, 4), "floordiv(n, 2)"},
                                               {floordiv(floordiv(n, 2), 3), "floordiv(n, 6)"},
                                               {floordiv(floordiv(n * 2, 3), 2), "floordiv(n, 3)"},
                                               {floordiv(n * 5, 2), "2*n+floordiv(n, 2)"},
                                               {floordiv(Dim(-3), 2), "-2"},
                                               {floordiv(n, 1), "n"},
                                               {mod(n, 1), "0"},
                                               {mod(Dim(-3), 4), "1"},
                                               {mod(n * 4 + m, 4), "mod(m, 4)"},
                                               {mod(n - 1, 4), "mod(n+3, 4)"},
                                               {mod(n * 2 + 1, 4), "2*mod(n, 2)+1"},
                                               {mod(mod(n, 8), 4), "mod(n, 4)"},
                                               {mod(mod(n, 4), 8), "mod(mod(n, 4), 8)"},
                                               {mod(n * n, 2) * m, "m*mod(n*n, 2)"}};
  for (const auto& [dim, text] : table) EXPECT_EQ(dim.to_string(), text);
}

TEST(Dim, ParsesWhatPeopleWrite) {
  const std::pair<const char*, Dim> table[] = {{" 4 ", 4},
                                               {"n*m-3", n * m - 3},
                                               {"2 * n + 1", n * 2 + 1},
                                               {"-(n + 1)*2", (n + 1) * -2},
                                               {"n*2", n * 2},
                                               {"-n+m-2", m - n - 2},
                                               {"-n+m+n", m},
                                               {"floordiv( n+1 ,2)", floordiv(n + 1, 2)},
                                               {"mod(n, 4)*mod(n, 4)", mod(n, 4) * mod(n, 4)},
                                               {"-9223372036854775808", INT64_MIN},
                                               {"n-9223372036854775808", n + INT64_MIN},
                                               {"-9223372036854775808*n", n * INT64_MIN},
                                               {"mod", Dim::symbol("mod")},
                                               {"floordiv(floordiv, 2)", floordiv(Dim::symbol("floordiv"), 2)},
                                               {"((((n))))", n}};
  for (const auto& [text, dim] : table) EXPECT_EQ(Dim::parse(text), dim) << text;
}

TEST(Dim, RefusesMalformedText) {
  const std::pair<std::string, std::uint64_t> table[] = {{"", 0},
                                                         {" ", 1},
                                                         {"2*", 2},
                                                         {"n+", 2},
                                                         {"n n", 2},
                                                         {"2n", 1},
                                                         {"*n", 0},
                                                         {"n**2", 2},
                                                         {"--n", 1},
                                                         {"(n", 2},
                                                         {"n)", 1},
                                                         {"floordiv(n, 0)", 12},
                                                         {"floordiv(n, -2)", 12},
                                                         {"floordiv(n)", 10},
                                                         {"mod(n, m)", 7},
                                                         {"mod(n, 2", 8},
                                                         {"mod(, 2)", 4},
                                                         {"9223372036854775808", 0},
                                                         {"-9223372036854775809", 1},
                                                         {"n*99999999999999999999999", 2},
                                                         {"9223372036854775807+1", 0},
                                                         {"n*4611686018427387904*2", 0},
                                                         {"n\xff", 1},
                                                         {std::string("n\0m", 3), 1},
                                                         {"1.5", 1},
                                                         {"0x10", 1}};
  for (const auto& [text, offset] : table) {
    try {
      Dim::parse(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const FormatError& e) {
      EXPECT_EQ(e.offset(), offset) << text << ": " << e.what();
      EXPECT_EQ(e.file(), "");
    }
  }
}

std::string repeated(const std::string& s, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += s;
  return all;
}

TEST(Dim, RefusesBombs) {
  std::string many_symbols = "0";
  for (int i = 0; i < 20000; ++i) many_symbols += "+s" + std::to_string(i);
  for (const std::string& text :
       {repeated("(", 100000), repeated("floordiv(", 100000), repeated("(n+m+1)*", 1000) + "n",
        repeated("n*", 100000) + "n", many_symbols, repeated("-(", 100000)})
    EXPECT_THROW(Dim::parse(text), FormatError) << text.substr(0, 20);
  EXPECT_EQ(Dim::parse(repeated("n+", 100000) + "n"), n * 100001);
  // By the API: each step doubles the text, if it were let.
  Dim d = n;
  EXPECT_THROW(for (int i = 0; i < 100; ++i) d = mod(d * m + d, 7), ArgumentError);
  Dim deep = n;
  EXPECT_THROW(for (int i = 0; i < 100; ++i) deep = mod(deep + 1, 1000 + i), ArgumentError);
}

TEST(Dim, Arguments) {
  EXPECT_THROW(Dim::symbol(""), ArgumentError);
  EXPECT_THROW(Dim::symbol("2n"), ArgumentError);
  EXPECT_THROW(Dim::symbol("a-b"), ArgumentError);
  EXPECT_THROW(floordiv(n, 0), ArgumentError);
  EXPECT_THROW(mod(n, -1), ArgumentError);
  EXPECT_THROW(Dim(INT64_MAX) + 1, ArgumentError);
  EXPECT_THROW(n * INT64_MAX * 2, ArgumentError);
  EXPECT_THROW(Dim(0) - INT64_MIN, ArgumentError);
  EXPECT_EQ(floordiv(Dim(INT64_MIN), 1).constant(), INT64_MIN);
  EXPECT_EQ(floordiv(Dim(INT64_MIN), INT64_MAX).constant(), -2);
  EXPECT_EQ(mod(Dim(INT64_MIN), INT64_MAX).constant(), INT64_MAX - 1);
  EXPECT_EQ(mod(mod(n, INT64_MAX) * (INT64_MAX - 1), INT64_MAX), mod(n * (INT64_MAX - 1), INT64_MAX));
}

TEST(Dim, EvaluatesAndSubstitutes) {
  const Dim d = floordiv(n * m + 1, 4) + mod(n, 3);
  EXPECT_EQ(d.evaluate({{"n", 5}, {"m", 3}}), 6);
  EXPECT_EQ(d.substitute({{"n", 5}, {"m", 3}}), Dim(6));
  EXPECT_EQ(d.substitute({{"n", 5}}), floordiv(m * 5 + 1, 4) + 2);
  EXPECT_EQ(d.symbols(), (std::vector<std::string>{"m", "n"}));
  EXPECT_TRUE(Dim(3).symbols().empty());
  try {
    d.evaluate({{"n", 0}});
    FAIL();
  } catch (const ArgumentError& e) { EXPECT_NE(std::string(e.what()).find("m"), std::string::npos); }
  try {
    (n + 1).constant();
    FAIL();
  } catch (const ArgumentError& e) { EXPECT_NE(std::string(e.what()).find("n+1"), std::string::npos); }
  EXPECT_THROW((n * n).evaluate({{"n", INT64_MAX}}), ArgumentError);
  EXPECT_EQ((n * n * m).evaluate({{"n", INT64_MAX}, {"m", 0}}), 0);
  EXPECT_EQ((n + m - 5).evaluate({{"n", INT64_MAX}, {"m", 5}}), INT64_MAX);
}

void expect_bounds(const Dim& d, const SymbolTable& symbols, std::int64_t lower, std::int64_t upper) {
  const DimBounds b = bounds(d, symbols);
  EXPECT_EQ(b.lower, lower) << d.to_string();
  EXPECT_EQ(b.upper, upper) << d.to_string();
}

TEST(DimBounds, Literal) {
  const SymbolTable s{{"n", {1, 10, 1}}, {"m", {0, 100, 8}}, {"z", {-3, 2, 1}}};
  const Dim z = Dim::symbol("z"), u = Dim::symbol("unknown");
  expect_bounds(7, s, 7, 7);
  expect_bounds(n * 2 + 1, s, 3, 21);
  expect_bounds(m, s, 0, 96);
  expect_bounds(m + 3, s, 3, 99);
  expect_bounds(1 - n, s, -9, 0);
  expect_bounds(z * z, s, 0, 9);
  expect_bounds(z * n, s, -30, 20);
  expect_bounds(u, s, 0, INT64_MAX);
  expect_bounds(u - 5, s, -5, INT64_MAX);
  expect_bounds(1 - u, s, INT64_MIN, 1);
  expect_bounds(floordiv(n, 4), s, 0, 2);
  expect_bounds(mod(u, 4), s, 0, 3);
  expect_bounds(mod(n, 16), s, 1, 10);
  expect_bounds(mod(m, 4), s, 0, 0);
  expect_bounds(mod(m, 12), s, 0, 8);
  expect_bounds(n * INT64_MAX, s, INT64_MAX, INT64_MAX);
  expect_bounds(u - floordiv(u, 2), s, 0, INT64_MAX);
  expect_bounds(u - mod(u, 4), s, 0, INT64_MAX);
  expect_bounds(floordiv(u + 3, 4) * 4 - u, s, 0, 3);
}

TEST(DimDivisor, Literal) {
  const SymbolTable s{{"n", {0, INT64_MAX, 8}}, {"c", {6, 6, 1}}};
  const Dim c = Dim::symbol("c");
  EXPECT_EQ(divisor(0, s), 0);
  EXPECT_EQ(divisor(-12, s), 12);
  EXPECT_EQ(divisor(n, s), 8);
  EXPECT_EQ(divisor(n * 3 + 4, s), 4);
  EXPECT_EQ(divisor(n * n, s), 64);
  EXPECT_EQ(divisor(m * 6, s), 6);
  EXPECT_EQ(divisor(floordiv(n, 4), s), 2);
  EXPECT_EQ(divisor(floordiv(n, 16), s), 1);
  EXPECT_EQ(divisor(mod(n, 12), s), 4);
  EXPECT_EQ(divisor(mod(n, 4), s), 0);
  EXPECT_EQ(divisor(c, s), 6);
  EXPECT_EQ(divisor(INT64_MIN, s), std::int64_t{1} << 62);
}

using Kind = Answer::Kind;

TEST(DimProof, Literal) {
  const SymbolTable s{{"n", {1, INT64_MAX, 128}}, {"k", {2, 10, 1}}, {"c", {5, 5, 1}}};
  const Dim k = Dim::symbol("k"), c = Dim::symbol("c");
  const auto equal = [&](const Dim& a, const Dim& b) { return prove_equal(a, b, s).kind; };
  const auto less = [&](const Dim& a, const Dim& b) { return prove_less_equal(a, b, s).kind; };
  EXPECT_EQ(equal(n + m, m + n), Kind::yes);
  EXPECT_EQ(equal(n, n + 1), Kind::no);
  EXPECT_EQ(equal(n, m), Kind::needs);
  EXPECT_EQ(equal(n * 2, m * 4 + 1), Kind::no);  // even against odd
  EXPECT_EQ(equal(n, 0), Kind::no);
  EXPECT_EQ(equal(c, 5), Kind::yes);
  EXPECT_EQ(equal(floordiv(n, 128) * 128, n), Kind::yes);
  EXPECT_EQ(equal(floordiv(m, 4) * 4 + mod(m, 4), m), Kind::yes);
  EXPECT_EQ(equal(floordiv(0 - m, 2), 0 - floordiv(m + 1, 2)), Kind::yes);
  EXPECT_EQ(less(k, 10), Kind::yes);
  EXPECT_EQ(less(k, 9), Kind::needs);
  EXPECT_EQ(less(11, k), Kind::no);
  EXPECT_EQ(less(128, n), Kind::yes);  // at least 1 and a multiple of 128
  EXPECT_EQ(less(floordiv(m, 2), m), Kind::yes);
  EXPECT_EQ(less(m, m + k), Kind::yes);
  EXPECT_EQ(less(mod(m, 8), 7), Kind::yes);

  const Answer refused = prove_equal(n, n + 1, s);
  EXPECT_NE(refused.why.find("n == n+1"), std::string::npos) << refused.why;
  EXPECT_EQ(prove_equal(3, 2, s).why, "3 == 2 never holds");
  const Answer open = prove_less_equal(k, 9, s);
  ASSERT_EQ(open.predicates.size(), 1u);
  EXPECT_EQ(open.predicates[0].to_string(), "k <= 9");
  EXPECT_TRUE(open.predicates[0].holds({{"k", 9}}));
  EXPECT_FALSE(open.predicates[0].holds({{"k", 10}}));
}

TEST(Answer, Conjunction) {
  const Answer needs = Answer::needs({n, 4, Relation::equal});
  EXPECT_EQ((Answer(true) && Answer(true)).kind, Kind::yes);
  EXPECT_EQ((Answer(true) && needs).predicates.size(), 1u);
  EXPECT_EQ((needs && Answer(true)).kind, Kind::needs);
  EXPECT_EQ((needs && needs).predicates.size(), 2u);
  EXPECT_EQ((needs && Answer::no("first") && Answer::no("second")).why, "first");
  EXPECT_TRUE((Answer::no("x") && needs).predicates.empty());
}

TEST(Shape, Functions) {
  const Shape shape{2, n, m + 1};
  EXPECT_EQ(to_string(shape), "[2,n,m+1]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(element_count(shape), n * (m + 1) * 2);
  EXPECT_EQ(element_count(Shape{}), Dim(1));
  EXPECT_EQ(element_count(Shape{INT64_MAX, INT64_MAX, 0}), Dim(0));
  EXPECT_FALSE(is_constant(shape));
  const Shape fixed = substitute(shape, {{"n", 3}, {"m", 4}});
  EXPECT_EQ(constant_shape(fixed), (std::vector<std::int64_t>{2, 3, 5}));
  EXPECT_THROW(constant_shape(shape), ArgumentError);
}

}  // namespace
}  // namespace rlx
