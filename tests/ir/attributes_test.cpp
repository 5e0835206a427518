#include "toy_ops.hpp"

#include <rlx/ir/attributes.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace rlx {
namespace {

using toy::ConstantAttrs;

AnyAttrs parsed(const std::string& text) {
  TextReader in(text, "a.txt");
  AnyAttrs a = AnyAttrs(ConstantAttrs{}).table().parse(in);
  EXPECT_TRUE(in.at_end()) << text;
  return a;
}
HostTensor tensor_of(const std::string& text) {
  TextReader in(text, "");
  HostTensor t = FieldCodec<HostTensor>::parse(in);
  EXPECT_TRUE(in.at_end()) << text;
  return t;
}
std::string text_of(const HostTensor& t) {
  std::string s;
  FieldCodec<HostTensor>::print(s, t);
  return s;
}

TEST(Attributes, DefaultsPrintNothing) {
  EXPECT_EQ(AnyAttrs(ConstantAttrs{}).to_string(), "");
  EXPECT_EQ(AnyAttrs().to_string(), "");
  EXPECT_EQ(parsed(""), AnyAttrs(ConstantAttrs{}));
  EXPECT_EQ(parsed("{}"), AnyAttrs(ConstantAttrs{}));
}

struct InnerAttrs {
  std::int64_t axis = 1;
  Dim size = 2;
  double scale = 0;
  bool operator==(const InnerAttrs&) const = default;
  static constexpr auto fields = std::tuple{Field{"axis", &InnerAttrs::axis, ""}, Field{"size", &InnerAttrs::size, ""},
                                            Field{"scale", &InnerAttrs::scale, ""}};
};
struct OuterAttrs {
  InnerAttrs inner{};
  bool flag = false;
  bool operator==(const OuterAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{Field{"inner", &OuterAttrs::inner, ""}, Field{"flag", &OuterAttrs::flag, ""}};
};

// Structs within structs are what they are by themselves: text, equality, symbols and their replacement.
TEST(Attributes, HoldOtherAttributes) {
  const AnyAttrs a = OuterAttrs{{.axis = -3, .size = Dim::symbol("n") + 1}, true};
  const std::string text = "{inner = {axis = -3, size = n+1}, flag = true}";
  EXPECT_EQ(a.to_string(), text);
  const auto read = [](const std::string& t) {
    TextReader in(t, "");
    return AnyAttrs(OuterAttrs{}).table().parse(in);
  };
  EXPECT_EQ(read(text), a);
  EXPECT_EQ(read("{inner = {}}"), AnyAttrs(OuterAttrs{}));
  EXPECT_THROW(read("{inner = 3}"), FormatError);
  EXPECT_THROW(read("{inner = {axes = 3}}"), FormatError);
  EXPECT_NE(AnyAttrs(OuterAttrs{{.scale = -0.0}}), AnyAttrs(OuterAttrs{}));
  std::set<std::string> symbols;
  a.collect_symbols(symbols);
  EXPECT_EQ(symbols, std::set<std::string>{"n"});
  EXPECT_EQ(a.substitute({{"n", 4}}).as<OuterAttrs>().inner.size, Dim(5));
  EXPECT_EQ(a.table().fields()[0].default_text, "{}");
}

TEST(Attributes, PrintEveryKind) {
  ConstantAttrs a;
  a.value = HostTensor::from(DType::f32, {2}, std::vector<double>{1, 0.5});
  a.flag = true;
  a.axis = -7;
  a.seed = std::numeric_limits<std::int64_t>::min();
  a.scale = 0.1;
  a.label = "a \"b\"\n";
  a.dtype = DType::c128;
  a.size = 2 * Dim::symbol("n") + 1;
  a.type = SparseType{SparseFormat::csr, DType::f64, DType::i32, {Dim::symbol("n"), 4}, Dim::symbol("nnz")};
  a.mode = toy::Mode::down;
  a.sizes = {1, -2, 3};
  a.weights = {1e30, -0.0};
  a.labels = {"", ","};
  a.flags = {true, false};
  a.groups = {{1, 2}, {}, {3}};
  const std::string text =
      R"({value = f32[2](1, 0.5), flag = true, axis = -7, seed = -9223372036854775808, scale = 0.1, )"
      R"(label = "a \"b\"\n", dtype = c128, size = 2*n+1, type = csr<f64,i32>[n,4]{nnz}, mode = down, )"
      R"(sizes = [1, -2, 3], weights = [1e+30, -0], labels = ["", ","], flags = [true, false], groups = [[1, 2], [], [3]]})";
  EXPECT_EQ(AnyAttrs(a).to_string(), text);
  EXPECT_EQ(parsed(text), AnyAttrs(a));
  EXPECT_EQ(parsed(text).as<ConstantAttrs>(), a);
}

TEST(Attributes, OrderAndBlanksAreFree) {
  EXPECT_EQ(parsed("{ seed=3 ,\n axis = 1 # one\n}").to_string(), "{axis = 1, seed = 3}");
}

TEST(Attributes, EqualityIsThatOfTheText) {
  ConstantAttrs zero, minus, nan;
  zero.scale = 0.0;
  minus.scale = -0.0;
  nan.scale = std::nan("");
  EXPECT_NE(AnyAttrs(zero), AnyAttrs(minus));
  EXPECT_EQ(AnyAttrs(nan), AnyAttrs(nan));
  EXPECT_EQ(parsed(AnyAttrs(nan).to_string()), AnyAttrs(nan));
  EXPECT_NE(AnyAttrs(zero), AnyAttrs());
  zero.weights = {0.0};
  minus = zero;
  minus.weights = {-0.0};
  EXPECT_NE(AnyAttrs(zero), AnyAttrs(minus));
}

TEST(Attributes, AsAnotherStructIsABug) {
  EXPECT_THROW(AnyAttrs().as<ConstantAttrs>(), InternalError);
  EXPECT_EQ(AnyAttrs().get_if<ConstantAttrs>(), nullptr);
}

TEST(Attributes, FieldsAreDocumented) {
  const auto docs = AnyAttrs(ConstantAttrs{}).table().fields();
  ASSERT_EQ(docs.size(), 15u);
  EXPECT_EQ(docs[0].name, "value");
  EXPECT_EQ(docs[0].doc, "what it gives");
  EXPECT_EQ(docs[0].default_text, "none");
  EXPECT_EQ(docs[9].default_text, "nearest");
}

TEST(Attributes, RefusesMalformedText) {
  const struct {
    const char *text, *what;
  } cases[] = {
      {"{axis}", "a.txt:1:6: expected \"=\", found \"}\" (byte 5)"},
      {"{axis = }", "expected an integer, found \"}\""},
      {"{axis = 1", "expected \"}\", found the end of the text"},
      {"{axis = 1,}", "expected the name of an attribute, found \"}\""},
      {"{axis = 1, axis = 2}", "attribute \"axis\" is given twice"},
      {"{axes = 1}",
       "expected one of value, flag, axis, seed, scale, label, dtype, size, type, mode, sizes, weights, labels, flags, "
       "groups, found \"axes\""},
      {"{axis = 2147483648}", "expected an integer of 32 bits, found \"2147483648\""},
      {"{flag = 1}", "expected true or false, found \"1\""},
      {"{mode = sideways}", "expected one of nearest, up, down, found \"sideways\""},
      {"{mode = 1}", "expected one of nearest, up, down, found \"1\""},
      {"{dtype = f31}", "expected an element type, found \"f31\""},
      {"{label = x}", "expected a quoted text, found \"x\""},
      {"{label = \"x}", "a.txt:1:10: expected a closing quote on the same line (byte 9)"},
      {R"({label = "\q"})", "expected one of \\\" \\\\ \\n \\t \\xHH, found \"\\\\\""},
      {"{sizes = [1, ]}", "expected an integer, found \"]\""},
      {"{sizes = [1}", "expected \"]\", found \"}\""},
      {"{size = }", "expected a dimension, found \"}\""},
      {"{size = 2*}", "a.txt:1:11: expected a dimension, found \"}\" (byte 10)"},
      {"{size = 2 3}", "expected nothing after a dimension, found \"3\""},
      {"{size = floordiv(n, 0)}", "expected a positive divisor, found \"0\""},
      {"{type = f31[2]}", "expected a type, found \"f31\""},
      {"{type = f32[2}", "expected a \"]\" that closes this \"[\""},
      {"{scale = 1e999}", "expected a number that f64 can hold, found \"1e999\""},
      {"{value = f32[2](1)}", "expected \",\", found \")\""},
      {"{value = f32[1](1, 2)}", "expected \")\", found \",\""},
      {"{value = f32[-1]()}", "expected a size that is not negative, found \"-1\""},
      {"{value = f32[n]()}", "expected an integer, found \"n\""},
      {"{value = f32[1](1e39)}", "expected a number that f32 can hold, found \"1e39\""},
      {"{value = f8e4m3fn[1](inf)}", "expected a number that f8e4m3fn can hold, found \"inf\""},
      {"{value = i8[1](128)}", "expected an integer that i8 can hold, found \"128\""},
      {"{value = i4[1](-9)}", "expected an integer that i4 can hold, found \"-9\""},
      {"{value = u8[1](256)}", "expected an integer that u8 can hold, found \"256\""},
      {"{value = u8[1](-1)}", "expected an integer that is not negative, found \"-1\""},
      {"{value = bool[1](1)}", "expected true or false, found \"1\""},
      {"{value = bool[1]0x02}", "byte 0 is no bool"},
      {"{value = i4[1]0x10}", "byte 0 is no i4"},
      {"{value = c64[1](1)}", "expected \"(\", found \"1\""},
      {"{value = f32[1]0x00}", "2 hexadecimal digits where 8 are needed"},
      {"{value = f32[1]0x0000000G}", "7 hexadecimal digits where 8 are needed"},
      {"{value = f32[1000000000000](1)}", "tensor has 1000000000000 elements, more than the text goes on to state"},
      {"{value = f32[9223372036854775807,9]0x}", "tensor has more than 2^63 elements"},
  };
  for (const auto& c : cases) {
    try {
      parsed(c.text);
      ADD_FAILURE() << "accepted: " << c.text;
    } catch (const FormatError& e) {
      EXPECT_NE(std::string(e.what()).find(c.what), std::string::npos) << c.text << "\n" << e.what();
      EXPECT_EQ(e.file(), "a.txt");
      EXPECT_EQ(e.line(), 1u);
      EXPECT_GE(e.offset(), 1u) << c.text;
      EXPECT_LE(e.offset(), std::strlen(c.text));
    }
  }
}

TEST(Attributes, ErrorsInsidePartsHaveTheirPlace) {
  try {
    parsed("{axis = 1,\n type = f32[2, *]}");
    FAIL();
  } catch (const FormatError& e) {
    EXPECT_EQ(e.line(), 2u);
    EXPECT_EQ(e.column(), 16u);
    EXPECT_EQ(e.offset(), 26u) << e.what();
    EXPECT_STREQ(e.what(), "a.txt:2:16: expected a dimension, found \"*\" (byte 26)");
  }
}

TEST(TensorLiteral, PrintsAndReadsBack) {
  const char* const texts[] = {"none",
                               "f32[](3)",
                               "f32[0]()",
                               "f32[3,0]()",
                               "f32[2,2](1, -0, inf, -inf)",
                               "f64[2](0.1, 1e+300)",
                               "f32[2](0.1, 16777216)",
                               "f16[3](0.1, 65500, 6e-08)",
                               "bf16[2](0.1, 3.39e+38)",
                               "f8e4m3fn[2](450, -0)",
                               "f8e5m2[2](60000, inf)",
                               "f8e4m3fnuz[1](240)",
                               "f8e5m2fnuz[1](0.09)",
                               "c64[1]((1, 2))",
                               "c128[2]((0.1, -0), (inf, 3))",
                               "i4[3](-8, 7, -1)",
                               "i8[2](-128, 127)",
                               "i16[1](-32768)",
                               "i32[1](2147483647)",
                               "i64[2](-9223372036854775808, 9223372036854775807)",
                               "u8[1](255)",
                               "u16[1](65535)",
                               "u32[1](4294967295)",
                               "u64[2](0, 18446744073709551615)",
                               "bool[2](true, false)",
                               "f32[1]0x0100c07f",
                               "f64[1]0x000000000000f8ff",
                               "c64[1]0x0000c07f0000803f"};
  for (const std::string text : texts) EXPECT_EQ(text_of(tensor_of(text)), text);
}

TEST(TensorLiteral, NanReadsAndKeepsItsPayload) {
  EXPECT_TRUE(std::isnan(tensor_of("f32[1](nan)").get_f64(0)));
  const HostTensor t = tensor_of("f32[1]0x0100c07f");
  std::uint32_t bits;
  std::memcpy(&bits, t.data(), 4);
  EXPECT_EQ(bits, 0x7fc00001u);
}

TEST(TensorLiteral, LongTensorsAreBytes) {
  HostTensor t(DType::u8, {65});
  t.set_u64(64, 255);
  const std::string text = text_of(t);
  EXPECT_EQ(text, "u8[65]0x" + std::string(128, '0') + "ff");
  EXPECT_TRUE(tensor_of(text).identical(t));
  HostTensor odd(DType::i4, {67});
  for (std::int64_t i = 0; i < 67; ++i) odd.set_i64(i, i % 16 - 8);
  EXPECT_TRUE(tensor_of(text_of(odd)).identical(odd));
}

/// Every value of a small type, in decimals: the shortest one must read back to the same bits.
TEST(TensorLiteral, EverySmallFloatIsExact) {
  for (DType t : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz}) {
    const std::uint32_t count = 1u << bit_width(t);
    for (std::uint32_t bits = 0; bits < count; bits += bit_width(t) == 8 ? 1 : 7) {
      HostTensor x(t, {1});
      std::memcpy(x.mutable_data(), &bits, static_cast<std::size_t>(bit_width(t) / 8));
      const std::string text = text_of(x);
      ASSERT_TRUE(tensor_of(text).identical(x)) << text << " bits " << bits;
    }
  }
}

TEST(TensorLiteral, FloatsAreExact) {
  std::uint32_t bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    HostTensor x(DType::f32, {1});
    std::memcpy(x.mutable_data(), &bits, 4);
    ASSERT_TRUE(tensor_of(text_of(x)).identical(x)) << text_of(x);
  }
}

}  // namespace
}  // namespace rlx
