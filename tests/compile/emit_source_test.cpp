// The source printer: its text for a small kernel, and a second language, which it can only know from the dialect.
#include "compile/emit_source/emit.hpp"
#include "compile/emit_source/literal.hpp"
#include "compile/emit_source/scalar.hpp"
#include "compile/emit_source/words.hpp"
#include "scalar_ops.hpp"

#include <rlx/ir/error.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace rlx {
namespace {

using emit_source::Dialect;
using emit_source::Helper;
using emit_source::NativeType;
using emit_source::Spelling;
using emit_source::Word;
using test::Body;
using test::kernel;

// A little of C: a kernel is a function of the buffers and the three indices of a point.
constexpr NativeType small_types[] = {{DType::f32, "float", "f"},    {DType::f64, "double"},
                                      {DType::i32, "int"},           {DType::i64, "long", "l"},
                                      {DType::u32, "unsigned", "u"}, {DType::u64, "unsigned long", "ul"},
                                      {DType::u8, "unsigned char"},  {DType::boolean, "int"}};
constexpr Spelling small_table[] = {{"exp", DTypeSet{DType::f64}, "small_exp_{D}({0})"}};
constexpr Helper small_functions[] = {
    {"small_twice_{D}", DTypeSet{DType::f64}, "{T} small_twice_{D}({T} x) { return x + x; }"},
    {"small_exp_{D}", DTypeSet{DType::f64}, "{T} small_exp_{D}({T} x) { return exp(small_twice_{D}(x) / 2); }"},
    {"small_unused", {}, "#error printed without need"},
    {"bits_f64", {}, "f64 bits_f64(u64 b) { union { u64 i; f64 d; } u = {b}; return u.d; }"}};
constexpr Dialect small_c{.name = "C",
                          .types = small_types,
                          .lacks = "tan rint",
                          .spellings = small_table,
                          .helpers = small_functions,
                          .preamble = "#include <math.h>\n",
                          .function = "static ",
                          .kernel = "void {n}({a}, long x, long y, long z) {",
                          .parameter = "char* b{k}, long o{k}",
                          .bind = "{M}* {p} = ({M}*)(b{k} + o{k});",
                          .global_index = {"x", "y", "z"},
                          .hex_floats = false,
                          .group_threads = 1};

Graph scaled_sum(std::int64_t n) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f32, n), "x");
  const Value y = b.input(test::device_buffer(DType::f32, n), "y");
  kernel(b, {.name = "axpy", .extents = {n}}, {x, y}, [](const Body& w, ValuesIn i, ValuesIn p) {
    const Value a = w.constant(DType::f32, -0.1);
    const Value scaled = w.mul(a, w.load(p[0], i[0]));
    w.store(p[1], i[0], w.add(scaled, w.load(p[1], i[0])));
  });
  return g;
}

TEST(EmitSource, GoldenText) {
  const emit_source::EmittedProgram p = emit_source::emit(scaled_sum(10), small_c);
  EXPECT_EQ(p.text,
            "#include <math.h>\n"
            "void k_axpy(char* b0, long o0, char* b1, long o1, long x, long y, long z) {\n"
            "  float* p0 = (float*)(b0 + o0);\n"
            "  float* p1 = (float*)(b1 + o1);\n"
            "  const long i0 = (long)x;\n"
            "  const float v0 = (-1.00000001e-01f);\n"
            "  const float v1 = p0[i0];\n"
            "  const float v2 = v0 * v1;\n"
            "  const float v3 = p1[i0];\n"
            "  const float v4 = v2 + v3;\n"
            "  p1[i0] = v4;\n"
            "}\n\n");
  ASSERT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(p.kernels[0].name, "k_axpy");
  EXPECT_EQ(p.kernels[0].buffers, 2u);
  EXPECT_EQ(p.kernels[0].geometry.groups[0], 10);
}

// Loops, carried values that change places, a branch and a reduction, compiled by the host's C compiler.
TEST(EmitSource, PlainCRuns) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no C compiler named cc";
  constexpr std::int64_t n = 12;
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f64, n), "x"),
              y = b.input(test::device_buffer(DType::f64, n), "y");
  kernel(b, {.name = "mixed", .policy = lir::Policy::mdrange, .extents = {3, 4}}, {x, y},
         [&](const Body& w, ValuesIn i, ValuesIn p) {
           // Fibonacci: (a, b) -> (b, a + b), i0 + i1 times.
           const Value trips = w.add(i[0], i[1]);
           const RegionBody step = [&](ValuesIn a) -> Values { return {a[2], w.add(a[1], a[2])}; };
           const Values f =
               b.emit("lir.for", Values{w.i64(0), trips, w.constant(DType::f64, 0), w.constant(DType::f64, 1)},
                      lir::ForAttrs{}, {&step, 1});
           const RegionBody reduction[] = {[&](ValuesIn a) -> Values { return {w.load(p[0], a[0])}; },
                                           [&](ValuesIn a) -> Values { return {w.add(a[0], a[1])}; }};
           const Value sum =
               b.emit("lir.reduce", Values{w.i64(0), w.i64(n), w.constant(DType::f64, 0)}, {}, reduction)[0];
           const RegionBody arms[] = {[&](ValuesIn) -> Values { return {w.add(f[0], sum)}; },
                                      [&](ValuesIn) -> Values { return {b.emit1("exp", {sum})}; }};
           const Value even = w.compare(i[0], w.i64(2), ops::Direction::lt);
           const Value result = b.emit("lir.if_then", Values{even}, {}, arms)[0];
           const Value infinite = w.constant(DType::f64, INFINITY);
           const Value flat = w.add(w.add(w.add(i[0], i[0]), w.add(i[0], i[0])), i[1]);
           w.store(p[1], flat, b.emit1("select", {w.compare(flat, w.i64(11), ops::Direction::lt), result, infinite}));
         });
  const emit_source::EmittedProgram p = emit_source::emit(g, small_c);
  EXPECT_EQ(p.text.find("small_unused"), std::string::npos);
  const std::string stem = ::testing::TempDir() + "rlx_emit_source_test";
  std::ofstream(stem + ".c") << p.text;
  ASSERT_EQ(std::system(("cc -shared -fPIC -w -o " + stem + ".so " + stem + ".c -lm").c_str()), 0) << p.text;
  void* library = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  const auto run = reinterpret_cast<void (*)(char*, long, char*, long, long, long, long)>(dlsym(library, "k_mixed"));
  ASSERT_TRUE(run);
  double in[n + 1] = {-1}, out[n] = {};
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i + 1] = 0.01 * i;
  ASSERT_EQ(p.kernels[0].geometry.groups, (std::array<std::int64_t, 3>{4, 3, 1}));
  for (long x1 = 0; x1 < 4; ++x1)
    for (long x2 = 0; x2 < 3; ++x2)
      run(reinterpret_cast<char*>(in), sizeof(double), reinterpret_cast<char*>(out), 0, x1, x2, 0);
  const double fibonacci[] = {0, 1, 1, 2, 3, 5, 8};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_DOUBLE_EQ(out[4 * i + j], i == 2 && j == 3 ? INFINITY
                                       : i < 2          ? fibonacci[i + j] + sum
                                                        : std::exp(sum))
          << i << " " << j;
  dlclose(library);
}

TEST(EmitSource, RefusesWhatTheDialectLacks) {
  const auto refused = [](DType t, const char* op) -> std::string {
    Graph g;
    Builder b(g, test::scalar_registry());
    const Value x = b.input(test::device_buffer(t, 4), "x");
    kernel(b, {.name = "k", .extents = {4}}, {x},
           [&](const Body& w, ValuesIn i, ValuesIn p) { w.store(p[0], i[0], b.emit1(op, {w.load(p[0], i[0])})); });
    try {
      emit_source::emit(g, small_c);
    } catch (const VerifyError& e) {
      EXPECT_EQ(e.constraint(), "dialect");
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused(DType::f64, "tan"), "tan: C has no spelling of tan from f64 to f64");
  EXPECT_EQ(refused(DType::bf16, "neg"), "lir.kernel: C has no type for bf16");
}

// What emission would refuse, dispatch hears of beforehand in the same words.
TEST(EmitSource, SaysBeforehandWhatTheDialectLacks) {
  const auto answer = [](std::string_view op, DType from, DType to, const AnyAttrs& attrs = {}) -> std::string {
    const Types in{tensor(from, {4})};
    const Instance i{test::scalar_registry().find(op), &attrs, {in, {}, nullptr}, {tensor(to, {4})}, nullptr};
    const Answer a = emit_source::expresses(small_c, i);
    return a.is_no() ? a.why : "yes";
  };
  EXPECT_EQ(answer("tan", DType::f64, DType::f64), "C has no spelling of tan from f64 to f64");
  EXPECT_EQ(answer("neg", DType::bf16, DType::bf16), "C has no type for bf16");
  EXPECT_EQ(answer("exp", DType::f64, DType::f64), "yes");
  EXPECT_EQ(answer("round", DType::f32, DType::f32), "C has no spelling of round from f32 to f32");
  // By a common function that calls a missing one.
  EXPECT_EQ(answer("digamma", DType::f32, DType::f32), "C has no spelling of digamma from f32 to f32");
  EXPECT_EQ(answer("convert", DType::f32, DType::f32), "yes");
  EXPECT_EQ(answer("convert", DType::f64, DType::f32), "yes");
  EXPECT_EQ(answer("abs", DType::c64, DType::f32), "C has no type for c64");
}

TEST(EmitSource, RefusesTeamsWithoutLocalMemory) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f32, 4), "x");
  kernel(b, {.name = "k", .policy = lir::Policy::team, .extents = {1}, .team = {4}}, {x},
         [&](const Body&, ValuesIn, ValuesIn) { b.emit("lir.barrier", {}); });
  EXPECT_THROW(emit_source::emit(g, small_c), VerifyError);
}

TEST(EmitSource, KernelsComeInProgramOrder) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f32, 4), "x");
  const Value stop = b.input(TensorType{DType::boolean, {}, Space::device}, "stop");
  const auto add = [&](const char* name) {
    kernel(b, {.name = name, .extents = {4}}, {x},
           [](const Body& w, ValuesIn i, ValuesIn p) { w.store(p[0], i[0], w.load(p[0], i[0])); });
  };
  add("first");
  const RegionBody regions[] = {[&](ValuesIn) -> Values {
                                  add("condition");
                                  return {stop};
                                },
                                [&](ValuesIn) -> Values {
                                  add("body");
                                  return {};
                                }};
  b.emit("lir.while", Values{}, {}, regions);
  add("last");
  std::vector<std::string> names;
  for (const auto& k : emit_source::emit(g, small_c).kernels) names.push_back(k.name);
  EXPECT_EQ(names, (std::vector<std::string>{"k_first", "k_condition", "k_body", "k_last"}));
}

TEST(EmitSource, LiteralsAreExact) {
  const auto text = [](const HostTensor& v, const Dialect& dialect = small_c) {
    return emit_source::in_language(dialect, emit_source::literal(dialect, v));
  };
  EXPECT_EQ(text(HostTensor::scalar_i64(DType::i64, INT64_MIN)), "(-9223372036854775807l - 1l)");
  EXPECT_EQ(text(HostTensor::scalar_i64(DType::i64, -3)), "(-3l)");
  EXPECT_EQ(text(HostTensor::scalar(DType::f64, -INFINITY)), "bits_f64((unsigned long)(0xfff0000000000000ul))");
  EXPECT_EQ(text(HostTensor::scalar(DType::f64, -0.0)), "(-0.0000000000000000e+00)");
  for (double v : {0.1, 1e-310, 1.7976931348623157e308, 2.0 / 3})
    EXPECT_EQ(std::strtod(text(HostTensor::scalar(DType::f64, v)).c_str(), nullptr), v);
  for (float v : {0.1f, 1e-44f, 3.4028235e38f})
    EXPECT_EQ(std::strtof(text(HostTensor::scalar(DType::f32, v)).c_str(), nullptr), v);
  Dialect hex = small_c;
  hex.hex_floats = true;
  EXPECT_EQ(text(HostTensor::scalar(DType::f32, 0.1f), hex), "0x1.99999ap-4f");
}

// Words, numbers and casts of other languages than C.
TEST(EmitSource, CommonTextInALanguage) {
  static constexpr NativeType types[] = {{DType::f32, "float", "f"},     {DType::f64, "double", "lf"},
                                  {DType::u32, "uint", "u"},      {DType::i64, "int64_t", "L"},
                                  {DType::u64, "uint64_t", "UL"}, {DType::c64, "vec2"}};
  static constexpr Word words[] = {{"bits_f32", "uintBitsToFloat"}, {"make_c64", "vec2"}};
  constexpr Dialect calls{.name = "calls",
                          .types = types,
                          .words = words,
                          .kernel = "",
                          .parameter = "",
                          .hex_floats = false,
                          .casts_as_calls = true};
  const auto said = [&](std::string_view text) { return emit_source::in_language(calls, text); };
  EXPECT_EQ(said("const c64 z = make_c64(1.5f, 2.0);"), "const vec2 z = vec2(1.5f, 2.0lf);");
  EXPECT_EQ(said("f32 rlx_x(f32 a, u64 b)"), "float rlx_x(float a, uint64_t b)");
  EXPECT_EQ(said("(f32)x + (f64)-f(x, 1)[2].y * (u32)(a + (i64)b)"),
            "float(x) + double(-f(x, 1)[2].y) * uint(a + int64_t(b))");
  EXPECT_EQ(said("(f32)0x7fu << 3ul, 7l, 0xful, z.f32, bits_f32(1u)"),
            "float(0x7fu) << 3UL, 7L, 0xfUL, z.f32, uintBitsToFloat(1u)");
  EXPECT_EQ(said("0x1p-14f 0x1.8p+1 1e-9 12"), "6.10351562e-05f 3.0000000000000000e+00lf 1e-9lf 12");
  EXPECT_TRUE(emit_source::says(calls, "(u64)x + f64_bits(y)"));
  EXPECT_FALSE(emit_source::says(calls, "(u8)x"));
}

}  // namespace
}  // namespace rlx
