// Dimensions: properties of random polynomials, each built together with a plain function of its symbols' values.
#include <rlx/ir/error.hpp>
#include <rlx/ir/shape.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace rlx {
namespace {

struct Random {
  Dim dim;
  std::function<std::int64_t(const Bindings&)> value;
};

const char* const names[] = {"a", "b", "c"};

class DimProperty : public testing::TestWithParam<unsigned> {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Random expression(int depth) {
    if (depth == 0 || pick(0, 7) == 0) {
      if (pick(0, 2) == 0) {
        const std::int64_t v = pick(-9, 9);
        return {v, [v](const Bindings&) { return v; }};
      }
      const std::string symbol = names[pick(0, 2)];
      return {Dim::symbol(symbol), [symbol](const Bindings& b) { return b.find(symbol)->second; }};
    }
    const Random x = expression(depth - 1);
    const std::int64_t choice = pick(0, 9), c = pick(1, 12);
    if (choice < 2)
      return {floordiv(x.dim, c), [x, c](const Bindings& b) {
                const auto v = x.value(b);
                return (v - ((v % c) + c) % c) / c;
              }};
    if (choice < 4) return {mod(x.dim, c), [x, c](const Bindings& b) { return ((x.value(b) % c) + c) % c; }};
    const Random y = expression(depth - 1);
    if (choice < 6) return {x.dim + y.dim, [x, y](const Bindings& b) { return x.value(b) + y.value(b); }};
    if (choice < 8) return {x.dim - y.dim, [x, y](const Bindings& b) { return x.value(b) - y.value(b); }};
    return {x.dim * y.dim, [x, y](const Bindings& b) { return x.value(b) * y.value(b); }};
  }

  SymbolTable table() {
    SymbolTable t;
    for (const char* name : names) {
      const std::int64_t lower = pick(-6, 6), divisor = pick(0, 2) ? 1 : pick(1, 4);
      t[name] = {lower, lower + 4 + pick(0, 20), divisor};
    }
    return t;
  }
  Bindings binding(const SymbolTable& t) {
    Bindings b;
    for (const auto& [name, info] : t) do
        b[name] = pick(info.lower, info.upper);
      while (b[name] % info.divisor != 0);
    return b;
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(DimProperty, OperationsAgreeWithEvaluation) {
  for (int i = 0; i < 50; ++i) {
    const Random x = expression(4);
    const SymbolTable t = table();
    for (int k = 0; k < 10; ++k) {
      const Bindings b = binding(t);
      ASSERT_EQ(x.dim.evaluate(b), x.value(b)) << x.dim.to_string();
      ASSERT_EQ(x.dim.substitute(b), Dim(x.value(b)));
      Bindings rest = b;
      const Bindings part{*rest.begin()};
      rest.erase(rest.begin());
      ASSERT_EQ(x.dim.substitute(part).evaluate(rest), x.value(b)) << x.dim.to_string();
    }
  }
}

TEST_P(DimProperty, CanonicalFormsAreEqualAndRoundTrip) {
  for (int i = 0; i < 50; ++i) {
    const Dim x = expression(3).dim, y = expression(3).dim, z = expression(2).dim;
    ASSERT_EQ(x + y, y + x);
    ASSERT_EQ(x * y, y * x);
    ASSERT_EQ((x + y) + z, x + (y + z));
    ASSERT_EQ((x * y) * z, x * (y * z));
    ASSERT_EQ((x + y) * z, x * z + y * z);
    ASSERT_EQ(x - x, Dim(0));
    ASSERT_EQ((x + y) - y, x);
    const std::int64_t c = pick(1, 12);
    ASSERT_EQ(mod(x + y * c, c), mod(x, c));
    ASSERT_EQ(mod(mod(x, c * 3), c), mod(x, c));
    for (const Dim& d : {x, x * y, floordiv(x, c), mod(x + z, c), floordiv(x * y, c) - z}) {
      const std::string text = d.to_string();
      ASSERT_EQ(Dim::parse(text), d) << text;
      ASSERT_EQ(Dim::parse(text).to_string(), text);
    }
  }
}

TEST_P(DimProperty, ProofsNeverContradictEvaluation) {
  for (int i = 0; i < 100; ++i) {
    const Random x = expression(3), y = expression(static_cast<int>(pick(0, 3)));
    const SymbolTable t = table();
    const DimBounds range = bounds(x.dim, t);
    const std::int64_t g = divisor(x.dim, t);
    const Answer equal = prove_equal(x.dim, y.dim, t), less = prove_less_equal(x.dim, y.dim, t);
    for (int k = 0; k < 20; ++k) {
      const Bindings b = binding(t);
      const std::int64_t v = x.value(b), w = y.value(b);
      ASSERT_LE(range.lower, v) << x.dim.to_string();
      ASSERT_GE(range.upper, v) << x.dim.to_string();
      ASSERT_TRUE(g ? v % g == 0 : v == 0) << x.dim.to_string() << " by " << g;
      const bool equal_says =
          equal.kind == Answer::Kind::needs ? equal.predicates[0].holds(b) : equal.kind == Answer::Kind::yes;
      const bool less_says =
          less.kind == Answer::Kind::needs ? less.predicates[0].holds(b) : less.kind == Answer::Kind::yes;
      ASSERT_EQ(equal_says, v == w) << x.dim.to_string() << " == " << y.dim.to_string();
      ASSERT_EQ(less_says, v <= w) << x.dim.to_string() << " <= " << y.dim.to_string();
    }
    ASSERT_TRUE(prove_less_equal(range.lower, x.dim, t).kind == Answer::Kind::yes);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DimProperty, testing::Range(1u, 9u));

}  // namespace
}  // namespace rlx
