#include <rlx/ir/text_reader.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace rlx {
namespace {

FormatError failure(const std::string& text, const std::function<void(TextReader&)>& read) {
  TextReader in(text, "t.rlx");
  try {
    read(in);
  } catch (const FormatError& e) { return e; }
  ADD_FAILURE() << "accepted: " << text;
  return {"", 0, "accepted"};
}

TEST(TextReader, SkipsBlanksAndComments) {
  TextReader in("  # all\n\tgraph # of it\r\n(", "");
  in.expect("graph");
  EXPECT_EQ(in.peek(), '(');
  EXPECT_EQ(in.line(), 3u);
  EXPECT_FALSE(in.at_end());
  in.expect("(");
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.peek(), '\0');
}

TEST(TextReader, MatchesWordsWhole) {
  TextReader in("locals loc(", "");
  EXPECT_FALSE(in.accept("loc"));
  EXPECT_EQ(in.identifier(), "locals");
  EXPECT_TRUE(in.accept("loc"));
  EXPECT_TRUE(in.accept("("));
}

TEST(TextReader, ReadsNames) {
  TextReader in("linalg.lu $d_1 %7.a @cpu:x-1.b \"two words\"", "");
  EXPECT_EQ(in.identifier(), "linalg.lu");
  EXPECT_EQ(in.name(), "$d_1");
  in.expect("%");
  EXPECT_EQ(in.value_name(), "7.a");
  in.expect("@");
  EXPECT_EQ(in.record_id(), "cpu:x-1.b");
  EXPECT_EQ(in.name(), "two words");
}

TEST(TextReader, ReadsIntegers) {
  TextReader in("-9223372036854775808 9223372036854775807 18446744073709551615, 0", "");
  EXPECT_EQ(in.integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(in.integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(in.unsigned_integer(), std::numeric_limits<std::uint64_t>::max());
  in.expect(",");
  EXPECT_EQ(in.integer(), 0);
}

TEST(TextReader, RefusesIntegers) {
  for (const char* text : {"", "x", "1.5", "1x", "9223372036854775808", "+1", "- 1"})
    failure(text, [](TextReader& in) { in.integer(); });
  for (const char* text : {"-1", "18446744073709551616"}) failure(text, [](TextReader& in) { in.unsigned_integer(); });
}

TEST(TextReader, NumbersReadBackExactly) {
  for (double v : {0.0, -0.0, 1.0, 0.1, -1.0 / 3, 1e300, 5e-324, 1.7976931348623157e308, 123456789012345678.0,
                   std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    std::string text;
    print_number(text, v);
    TextReader in(text, "");
    const double back = in.number();
    EXPECT_EQ(back, v) << text;
    EXPECT_EQ(std::signbit(back), std::signbit(v)) << text;
    EXPECT_TRUE(in.at_end());
  }
  std::string text;
  print_number(text, -std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(text, "nan");
  EXPECT_TRUE(std::isnan(TextReader(text, "").number()));
  text.clear();
  print_number(text, 0.1);
  EXPECT_EQ(text, "0.1");
}

TEST(TextReader, RefusesNumbers) {
  for (const char* text : {"", "x", "1e999", "1.5f", "--1", "1e", "nan.1", "0x10", "\"1\""})
    failure(text, [](TextReader& in) { in.number(); });
}

TEST(TextReader, QuotedTextReadsBackExactly) {
  std::string all = "\" \\ \n \t caf\xc3\xa9 # \x7f";
  all += '\0';
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  std::string text;
  print_quoted(text, all);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  TextReader in(text, "");
  EXPECT_EQ(in.quoted(), all);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(TextReader(R"("a\x41\"\\\n")", "").quoted(), "aA\"\\\n");
}

TEST(TextReader, RefusesQuotedText) {
  for (const char* text : {"x", "\"", "\"a\nb\"", "\"\\q\"", "\"\\x4\"", "\"\\xg0\"", "\"\\"})
    failure(text, [](TextReader& in) { in.quoted(); });
}

TEST(TextReader, QuotesNamesOnlyWhereNeeded) {
  const auto printed = [](std::string_view s) {
    std::string out;
    print_name(out, s);
    return out;
  };
  EXPECT_EQ(printed("main"), "main");
  EXPECT_EQ(printed("a.b_2"), "a.b_2");
  EXPECT_EQ(printed(""), "\"\"");
  EXPECT_EQ(printed("2d"), "\"2d\"");
  EXPECT_EQ(printed("a b"), "\"a b\"");
}

TEST(TextReader, FindsTheEndOfTypes) {
  TextReader in("csr<f64,i32>[n, 2]{floordiv(n, 2)} f32[8]@device{block=\"}\"} {", "");
  EXPECT_EQ(in.type_text(), "csr<f64,i32>[n, 2]{floordiv(n, 2)}");
  EXPECT_EQ(in.type_text(), "f32[8]@device{block=\"}\"}");
  EXPECT_EQ(in.peek(), '{');
}

TEST(TextReader, FindsTheEndOfDimensionsAndBrackets) {
  TextReader in(" 2*(n+1), mod(n, 3)] (a(b\")\")c) d", "");
  EXPECT_EQ(in.dim_text(), "2*(n+1)");
  in.expect(",");
  EXPECT_EQ(in.dim_text(), "mod(n, 3)");
  in.expect("]");
  in.expect("(");
  EXPECT_EQ(in.until_closing('(', ')'), "a(b\")\")c");
  EXPECT_EQ(in.identifier(), "d");
  failure("(a(b)", [](TextReader& r) {
    r.expect("(");
    r.until_closing('(', ')');
  });
  failure(", 2", [](TextReader& r) { r.dim_text(); });
  failure("[2]", [](TextReader& r) { r.type_text(); });
  failure("f32[2", [](TextReader& r) { r.type_text(); });
}

TEST(TextReader, FailuresNameThePlace) {
  const FormatError e = failure("a\n# b\n  c d", [](TextReader& in) {
    in.expect("a");
    in.expect("c");
    in.expect("e");
  });
  EXPECT_EQ(e.file(), "t.rlx");
  EXPECT_EQ(e.line(), 3u);
  EXPECT_EQ(e.column(), 5u);
  EXPECT_EQ(e.offset(), 10u);
  EXPECT_STREQ(e.what(), "t.rlx:3:5: expected \"e\", found \"d\" (byte 10)");
}

TEST(TextReader, FailuresQuoteWhatWasFound) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "the end of the text"},
      {"# all", "the end of the text"},
      {"matmul(%x)", R"("matmul")"},
      {"%x7 = y", R"("%x7")"},
      {"@cpu.x", R"("@cpu.x")"},
      {"-1.5e", R"("-1.5e")"},
      {"- 1", R"("-")"},
      {"->", R"("-")"},
      {R"("two words" x)", R"("\"two words\"")"},
      {"\"open\nx", R"("\"open")"},
      {"\\", R"("\\")"},
      {"\x01y", R"("\x01")"},
      {std::string("\0", 1), R"("\x00")"},
      {"\xc3\xa9t\xc3\xa9", "\"\xc3\xa9\""},
      {std::string(100, 'a'), '"' + std::string(60, 'a') + "...\""},
  };
  for (const auto& [text, found] : rows)
    EXPECT_EQ(std::string(failure(text, [](TextReader& in) { in.expect("("); }).what())
                  .substr(std::string("t.rlx:1:1: ").size()),
              "expected \"(\", found " + found + " (byte " + (text == "# all" ? "5" : "0") + ")")
        << text;
  const auto adjacent = [](TextReader& in) {
    in.expect("%");
    in.value_name();
  };
  EXPECT_STREQ(failure("%\nx", adjacent).what(),
               "t.rlx:1:2: expected the name of a value, found the end of the line (byte 1)");
  EXPECT_STREQ(failure("% x", adjacent).what(), "t.rlx:1:2: expected the name of a value, found \" \" (byte 1)");
}

TEST(TextReader, CountsLinesInAnyOrder) {
  TextReader in("a\nb\nc\n", "");
  EXPECT_EQ(in.line_of(4), 3u);
  EXPECT_EQ(in.line_of(0), 1u);
  EXPECT_EQ(in.line_of(2), 2u);
}

TEST(TextReader, LimitsNesting) {
  TextReader in("x", "");
  std::function<void(int)> nest = [&](int n) {
    const TextReader::Depth depth(in);
    if (n > 1) nest(n - 1);
  };
  nest(max_nesting);
  EXPECT_THROW(nest(max_nesting + 1), FormatError);
  nest(max_nesting);  // the guard counts down when it throws
}

}  // namespace
}  // namespace rlx
