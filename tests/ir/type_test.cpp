#include <rlx/ir/error.hpp>
#include <rlx/ir/type.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace rlx {
namespace {

const Dim dim_n = Dim::symbol("n");

TensorType with_layout(TensorType t, Layout l) {
  t.layout = std::make_shared<const Layout>(std::move(l));
  return t;
}
TensorType quantized(TensorType t, Quantization q) {
  t.quantization = std::make_shared<const Quantization>(std::move(q));
  return t;
}
template <class T>
T spread(T t, Sharding s) {
  t.sharding = std::make_shared<const Sharding>(std::move(s));
  return t;
}
TensorType in_space(TensorType t, Space s) {
  t.space = s;
  return t;
}

const std::pair<Type, std::string> printed[] = {
    {f32({2, dim_n}), "f32[2,n]"},
    {f32({}), "f32[]"},
    {tensor(DType::f8e4m3fnuz, {dim_n * 2 + 1, floordiv(dim_n, 2)}), "f8e4m3fnuz[2*n+1,floordiv(n, 2)]"},
    {boolean({0}), "bool[0]"},
    {in_space(f32({8}), Space::device), "f32[8]@device"},
    {with_layout(f32({2, 3}), {{0, 1}}), "f32[2,3]{layout=(0,1)}"},
    {with_layout(in_space(f32({2, 3}), Space::local), {{1, 0}, {8, 128}, {0, 4}}),
     "f32[2,3]@local{layout=(1,0),tiles=(8,128),padding=(0,4)}"},
    {with_layout(f32({}), {{}}), "f32[]{layout=()}"},
    {quantized(tensor(DType::i8, {4}), {{0.1}, {-3}}), "i8[4]{scales=(0.1),zero_points=(-3)}"},
    {quantized(tensor(DType::i4, {2, 3}), {{0.5, 1e-300}, {}, 0}), "i4[2,3]{scales=(0.5,1e-300),axis=0}"},
    {quantized(tensor(DType::u8, {dim_n}), {{}, {}, -1, "q4_k"}), "u8[n]{block=q4_k}"},
    {quantized(tensor(DType::u8, {dim_n}), {{}, {}, -1, "odd \"name\"\n"}), "u8[n]{block=\"odd \\\"name\\\"\\x0a\"}"},
    {quantized(tensor(DType::u8, {dim_n}), {}), "u8[n]{scales=()}"},
    {with_layout(quantized(tensor(DType::i8, {4, 4}), {{2}, {1}}), {{0, 1}}),
     "i8[4,4]{layout=(0,1),scales=(2),zero_points=(1)}"},
    {spread(f32({8, dim_n}), {{{"data", "model"}, {}}, {"pipe"}}), "f32[8,n]{split=((data,model),()),partial=(pipe)}"},
    {spread(f32({}), {{}, {"data"}}), "f32[]{split=(),partial=(data)}"},
    {spread(with_layout(f32({2, 3}), {{0, 1}}), {{{}, {"odd axis"}}, {}}),
     "f32[2,3]{layout=(0,1),split=((),(\"odd axis\"))}"},
    {spread(SparseType{SparseFormat::csr, DType::f64, DType::i32, {dim_n, dim_n}, Dim::symbol("nnz")},
            {{{"rows"}, {}}, {}}),
     "csr<f64,i32>[n,n]{nnz,split=((rows),())}"},
    {SparseType{SparseFormat::csr, DType::f64, DType::i32, {dim_n, dim_n}, Dim::symbol("nnz")},
     "csr<f64,i32>[n,n]{nnz}"},
    {SparseType{SparseFormat::bsr, DType::c128, DType::i64, {4, dim_n * 2}, dim_n * 3}, "bsr<c128,i64>[4,2*n]{3*n}"},
    {ResourceType{"sparse_lu", "umfpack", DType::f64, {dim_n, dim_n}}, "resource<sparse_lu,umfpack,f64>[n,n]"},
    {ResourceType{"communicator", "", DType::f32, {}}, "resource<communicator,f32>[]"},
    {ResourceType{"f64", "f32", DType::f16, {1}}, "resource<f64,f32,f16>[1]"},
    {ResourceType{"", "a b,c>", DType::f64, {}}, "resource<\"\",\"a b,c>\",f64>[]"},
    {TokenType{}, "token"},
};

TEST(Type, RoundTrips) {
  for (const auto& [type, text] : printed) {
    EXPECT_EQ(to_string(type), text);
    try {
      EXPECT_TRUE(parse_type(text) == type) << text;
      EXPECT_EQ(to_string(parse_type(text)), text);
    } catch (const FormatError& e) { ADD_FAILURE() << text << ": " << e.what(); }
  }
}

TEST(Type, EveryElementTypeAndSpaceRoundTrips) {
  for (int d = 0; d < dtype_count; ++d)
    for (int s = 0; s <= static_cast<int>(Space::flash); ++s) {
      const Type t = in_space(tensor(static_cast<DType>(d), {dim_n, 3}), static_cast<Space>(s));
      EXPECT_TRUE(parse_type(to_string(t)) == t) << to_string(t);
    }
  for (int f = 0; f <= static_cast<int>(SparseFormat::ell); ++f)
    EXPECT_EQ(parse_sparse_format(name(static_cast<SparseFormat>(f))), static_cast<SparseFormat>(f));
  EXPECT_FALSE(parse_space("nowhere"));
  EXPECT_FALSE(parse_sparse_format(""));
}

TEST(Type, DoublesRoundTripExactly) {
  for (double v :
       {1.0 / 3, 0x1p-1074, std::numeric_limits<double>::max(), -0.0, 1e22, std::numeric_limits<double>::infinity()}) {
    const Type t = quantized(tensor(DType::i8, {1}), {{v}});
    const Type back = parse_type(to_string(t));
    EXPECT_TRUE(back == t) << to_string(t);
  }
}

TEST(Type, ParsesWithSpaces) {
  EXPECT_TRUE(parse_type(" f32[ 2 , n ]@device{ layout = ( 1 , 0 ) } ") ==
              Type(with_layout(in_space(f32({2, dim_n}), Space::device), {{1, 0}})));
  EXPECT_TRUE(parse_type("resource < lu , f64 > [ ]") == Type(ResourceType{"lu"}));
}

TEST(Type, RefusesMalformedText) {
  const std::pair<std::string, std::uint64_t> table[] = {{"", 0},
                                                         {"f31[2]", 0},
                                                         {"f32", 3},
                                                         {"f32[", 4},
                                                         {"f32[2", 5},
                                                         {"f32[2,]", 6},
                                                         {"f32[,2]", 4},
                                                         {"f32[2]]", 6},
                                                         {"f32[-1]", 4},
                                                         {"f32[n-n-1]", 4},
                                                         {"f32[99999999999999999999]", 4},
                                                         {"f32[2]@", 7},
                                                         {"f32[2]@moon", 7},
                                                         {"f32[2] @device", 7},
                                                         {"f32[2]{}", 7},
                                                         {"f32[2]{layout=(0)", 17},
                                                         {"f32[2]{layout=(1)}", 15},
                                                         {"f32[2]{layout=()}", 7},
                                                         {"f32[2,2]{layout=(0,0)}", 9},
                                                         {"f32[2]{tiles=(8)}", 7},
                                                         {"f32[2]{layout=(0),layout=(0)}", 18},
                                                         {"f32[2]{layout=(0),tiles=(0)}", 7},
                                                         {"f32[2]{layout=(0),padding=(1,2)}", 7},
                                                         {"f32[2]{layout=(0),padding=(-1)}", 7},
                                                         {"f32[2]{color=(1)}", 7},
                                                         {"f32[2]{layout(0)}", 13},
                                                         {"i8[2]{scales=(0.1,0.2)}", 6},
                                                         {"i8[2]{scales=(0.1),zero_points=(1,2),axis=0}", 6},
                                                         {"i8[2]{scales=(x)}", 14},
                                                         {"i8[2]{scales=(1e999)}", 14},
                                                         {"i8[2]{scales=(1),axis=1}", 22},
                                                         {"i8[2]{scales=(1),axis=99999999999}", 22},
                                                         {"i8[2]{zero_points=(99999999999999999999)}", 19},
                                                         {"u8[2]{block=}", 12},
                                                         {"u8[2]{block=\"q}", 15},
                                                         {"u8[2]{block=\"\\q\"}", 13},
                                                         {"u8[2]{block=\"\\x4\"}", 16},
                                                         {"f32[2]{split=(x)}", 14},
                                                         {"f32[2]{split=()}", 7},
                                                         {"f32[2]{split=(())}", 7},
                                                         {"f32[2]{partial=(x)}", 7},
                                                         {"f32[2,2]{split=((x),(x))}", 9},
                                                         {"f32[2]{split=((x)),partial=(x)}", 7},
                                                         {"f32[2]{split=((\"\"))}", 7},
                                                         {"csr<f64,i32>[2,2]{1,split=((x))}", 20},
                                                         {"csr<f64,i32>[2,2]{1,layout=(0,1)}", 20},
                                                         {"csr[2,2]{1}", 3},
                                                         {"csr<f64,f32>[2,2]{1}", 8},
                                                         {"csr<f64,i32>[2]{1}", 12},
                                                         {"csr<f64,i32>[2,2]", 17},
                                                         {"csr<f64,i32>[2,2]{-1}", 18},
                                                         {"csr<f64>[2,2]{1}", 7},
                                                         {"resource<lu>[2]", 11},
                                                         {"resource<lu,f99>[2]", 12},
                                                         {"resource<lu,a,b>[2]", 14},
                                                         {"resource<,f64>[2]", 9},
                                                         {"resource[2]", 8},
                                                         {"tokens", 0},
                                                         {"token[2]", 5},
                                                         {"token x", 6},
                                                         {"f32[2]\xff", 6},
                                                         {std::string("f32[2\0]", 7), 5}};
  for (const auto& [text, offset] : table) {
    try {
      const Type t = parse_type(text);
      ADD_FAILURE() << "accepted: " << text << " as " << to_string(t);
    } catch (const FormatError& e) { EXPECT_EQ(e.offset(), offset) << text << ": " << e.what(); }
  }
}

TEST(Type, RefusalsSayWhatWasExpectedAndFound) {
  const std::pair<const char*, const char*> table[] = {
      {"f31[2]", "1:1: expected a type, found \"f31\" (byte 0)"},
      {"f32", "1:4: expected \"[\", found the end of the text (byte 3)"},
      {"f32[n-n-1]", "1:5: dimension -1 is negative (byte 4)"},
      {"f32[2]@moon", "1:8: expected one of value, host, pinned, device, local, flash, found \"moon\" (byte 7)"},
      {"f32[2]]", "1:7: expected nothing after a type, found \"]\" (byte 6)"},
      {"f32[2]{layout=(1)}", "1:16: there is no dimension 1: the rank is 1 (byte 15)"},
      {"f32[2,2]{layout=(0,0)}", "1:10: layout does not name each of 2 dimensions once (byte 9)"},
      {"f32[2]{layout=(0),layout=(0)}", "1:19: option layout is given twice (byte 18)"},
      {"f32[2]{layout=(0),padding=(1,2)}", "1:8: padding has 2 entries for 1 dimension (byte 7)"},
      {"f32[2]{color=(1)}",
       "1:8: expected one of layout, tiles, padding, scales, zero_points, axis, block, split, partial, found \"color\" "
       "(byte 7)"},
      {"i8[2]{scales=(0.1),zero_points=(1,2),axis=0}", "1:7: 2 zero points for 1 scale (byte 6)"},
      {"i8[2]{scales=(1e999)}", "1:15: expected a number that f64 can hold, found \"1e999\" (byte 14)"},
      {"u8[2]{block=\"\\q\"}", "1:14: expected one of \\\" \\\\ \\xHH, found \"\\\\\" (byte 13)"},
      {"csr<f64,f32>[2,2]{1}", "1:9: expected i32 or i64, the type of indices, found \"f32\" (byte 8)"},
      {"csr<f64,i32>[2]{1}", "1:13: a sparse type has two sizes, rows and columns, not 1 (byte 12)"},
      {"resource<lu,f99>[2]", "1:13: expected an element type, found \"f99\" (byte 12)"}};
  for (const auto& [text, what] : table) {
    try {
      parse_type(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const FormatError& e) { EXPECT_EQ(std::string(e.what()), std::string("<memory>:") + what); }
  }
}

TEST(Type, EveryPrefixIsRefusedOrATypeAndNothingElseIsThrown) {
  for (const auto& [type, text] : printed)
    for (std::size_t length = 0; length < text.size(); ++length) {
      try {
        parse_type(text.substr(0, length));
      } catch (const FormatError& e) { EXPECT_LE(e.offset(), length) << text.substr(0, length); }
    }
}

TEST(Type, RefusesBombs) {
  EXPECT_THROW(parse_type("f32[" + std::string(1000000, '(')), FormatError);
  EXPECT_THROW(parse_type(std::string(1000000, 'f')), FormatError);
  std::string wide = "f32[1";
  for (int i = 0; i < 10000; ++i) wide += ",1";
  EXPECT_EQ(std::get<TensorType>(parse_type(wide + "]")).rank(), 10001);
}

TEST(Type, ADimensionMovesTheAxisOfScales) {
  const TensorType t = quantized(tensor(DType::i8, {2, 3}), {{1, 2, 3}, {}, 1});
  EXPECT_EQ(to_string(with_dimension(t, 0, dim_n)), "i8[n,2,3]{scales=(1,2,3),axis=2}");
  EXPECT_EQ(to_string(with_dimension(t, 1, 4)), "i8[2,4,3]{scales=(1,2,3),axis=2}");
  EXPECT_EQ(to_string(with_dimension(t, 2, 4)), "i8[2,3,4]{scales=(1,2,3),axis=1}");
  EXPECT_EQ(to_string(with_dimension(f32({}), 0, 4)), "f32[4]");
  EXPECT_EQ(to_string(with_dimension(quantized(tensor(DType::u8, {18}), {{}, {}, -1, "q4_0"}), 0, 2)),
            "u8[2,18]{block=q4_0}");
}

TEST(Type, AHostValueHasTheQuantizationOfWhatItStandsFor) {
  const Type q = quantized(tensor(DType::i8, {dim_n}), {{0.5}});
  EXPECT_EQ(to_string(as_declared(tensor(DType::i8, {4}), q)), "i8[4]{scales=(0.5)}");
  EXPECT_EQ(to_string(as_declared(f32({4}), f32({dim_n}))), "f32[4]");
  EXPECT_TRUE(as_declared(TokenType{}, q) == Type(TokenType{}));
}

TEST(Type, EqualityComparesWhatPointersHold) {
  EXPECT_TRUE(with_layout(f32({2, 3}), {{0, 1}}) == with_layout(f32({2, 3}), {{0, 1}}));
  EXPECT_FALSE(with_layout(f32({2, 3}), {{0, 1}}) == with_layout(f32({2, 3}), {{1, 0}}));
  EXPECT_FALSE(with_layout(f32({2, 3}), {{1, 0}}) == f32({2, 3}));
  EXPECT_FALSE(quantized(f32({2}), {{1}}) == quantized(f32({2}), {{2}}));
  EXPECT_FALSE(in_space(f32({2}), Space::host) == f32({2}));
  EXPECT_TRUE(spread(f32({2}), {{{"x"}}}) == spread(f32({2}), {{{"x"}}}));
  EXPECT_FALSE(spread(f32({2}), {{{"x"}}}) == spread(f32({2}), {{{"y"}}}));
  EXPECT_FALSE(spread(f32({2}), {{{"x"}}}) == f32({2}));
  const SparseType whole{SparseFormat::csr, DType::f64, DType::i32, {4, 4}, 6};
  EXPECT_TRUE(spread(whole, {{{"x"}, {}}}) == spread(whole, {{{"x"}, {}}}));
  EXPECT_FALSE(spread(whole, {{{"x"}, {}}}) == whole);
  EXPECT_FALSE(f32({2}) == f64({2}));
  EXPECT_FALSE(f32({2}) == f32({dim_n}));
}

TEST(Type, SubstitutesAndKnowsConstants) {
  const Type sparse = SparseType{SparseFormat::csr, DType::f64, DType::i32, {4, 4}, dim_n};
  EXPECT_FALSE(is_constant(sparse));
  EXPECT_EQ(to_string(substitute(sparse, {{"n", 7}})), "csr<f64,i32>[4,4]{7}");
  EXPECT_TRUE(is_constant(substitute(sparse, {{"n", 7}})));
  const Type tensor_type = with_layout(f32({dim_n, 2}), {{0, 1}});
  EXPECT_EQ(to_string(substitute(tensor_type, {{"n", 3}})), "f32[3,2]{layout=(0,1)}");
  EXPECT_EQ(to_string(substitute(spread(f32({dim_n}), {{{"x"}}}), {{"n", 3}})), "f32[3]{split=((x))}");
  EXPECT_FALSE(is_constant(Type(ResourceType{"lu", "", DType::f64, {dim_n}})));
  EXPECT_TRUE(is_constant(Type(TokenType{})));
  EXPECT_TRUE(substitute(TokenType{}, {}) == Type(TokenType{}));
}

}  // namespace
}  // namespace rlx
