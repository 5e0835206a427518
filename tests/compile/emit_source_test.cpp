// The source printer: its text for a small kernel, and a second language, which it can only know from the dialect.
#include "compile/emit_source/emit.hpp"
#include "compile/emit_source/literal.hpp"
#include "compile/emit_source/scalar.hpp"
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
using emit_source::Element;
using emit_source::Helper;
using emit_source::Spelling;
using test::Body;
using test::kernel;

// Plain C: a kernel is a function of the buffers and the three indices of a point.
constexpr Element c_elements[] = {
    {.dtype = DType::f32, .value = "float", .memory = "float", .suffix = "f"},
    {.dtype = DType::f64, .value = "double", .memory = "double", .from_bits = "c_from_bits({0})"},
    {.dtype = DType::i64, .value = "long", .memory = "long", .suffix = "l", .computing = "unsigned long"},
    {.dtype = DType::boolean, .value = "int", .memory = "unsigned char"}};
constexpr Spelling c_table[] = {{"add", DTypeSet{DType::f32, DType::f64}, "{0} + {1}"},
                                {"add", DTypeSet{DType::i64}, "({T})(({U}){0} + ({U}){1})"},
                                {"mul", DTypeSet{DType::f32, DType::f64}, "{0} * {1}"},
                                {"exp", DTypeSet{DType::f64}, "c_exp_{D}({0})"},
                                {"select", emit_source::any_dtype, "({0} ? {1} : {2})"},
                                {"compare.lt", emit_source::any_dtype, "({0} < {1})"},
                                {"convert", DTypeSet{DType::i64}, "({T}){0}", DTypeSet{DType::f32, DType::f64}}};
constexpr Helper c_functions[] = {
    {"c_twice_{D}", DTypeSet{DType::f64}, "static {T} c_twice_{D}({T} x) { return x + x; }"},
    {"c_exp_{D}", DTypeSet{DType::f64}, "static {T} c_exp_{D}({T} x) { return exp(c_twice_{D}(x) / 2); }"},
    {"c_unused", {}, "#error printed without need"},
    {"c_from_bits",
     {},
     "static double c_from_bits(unsigned long b) { union { unsigned long i; double d; } u = {b}; return u.d; }"}};
constexpr std::span<const Spelling> c_tables[] = {c_table};
constexpr std::span<const Helper> c_helpers[] = {c_functions};
constexpr Dialect plain_c{.name = "C",
                          .elements = c_elements,
                          .spellings = c_tables,
                          .helpers = c_helpers,
                          .preamble = "#include <math.h>\n",
                          .kernel = "void {n}({a}, long x, long y, long z) {",
                          .parameter = "char* b{k}, long o{k}",
                          .check_parameter = "",
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
  const emit_source::EmittedProgram p = emit_source::emit(scaled_sum(10), plain_c);
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
  const emit_source::EmittedProgram p = emit_source::emit(g, plain_c);
  EXPECT_EQ(p.text.find("c_unused"), std::string::npos);
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
      emit_source::emit(g, plain_c);
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
    const Answer a = emit_source::expresses(plain_c, i);
    return a.is_no() ? a.why : "yes";
  };
  EXPECT_EQ(answer("tan", DType::f64, DType::f64), "C has no spelling of tan from f64 to f64");
  EXPECT_EQ(answer("neg", DType::bf16, DType::bf16), "C has no type for bf16");
  EXPECT_EQ(answer("exp", DType::f64, DType::f64), "yes");
  EXPECT_EQ(answer("exp", DType::f32, DType::f32), "C has no spelling of exp from f32 to f32");
  EXPECT_EQ(answer("convert", DType::f32, DType::f32), "yes");
  EXPECT_EQ(answer("convert", DType::f64, DType::f32), "C has no spelling of convert from f64 to f32");
}

TEST(EmitSource, RefusesTeamsWithoutLocalMemory) {
  Graph g;
  Builder b(g, test::scalar_registry());
  const Value x = b.input(test::device_buffer(DType::f32, 4), "x");
  kernel(b, {.name = "k", .policy = lir::Policy::team, .extents = {1}, .team = {4}}, {x},
         [&](const Body&, ValuesIn, ValuesIn) { b.emit("lir.barrier", {}); });
  EXPECT_THROW(emit_source::emit(g, plain_c), VerifyError);
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
  for (const auto& k : emit_source::emit(g, plain_c).kernels) names.push_back(k.name);
  EXPECT_EQ(names, (std::vector<std::string>{"k_first", "k_condition", "k_body", "k_last"}));
}

TEST(EmitSource, LiteralsAreExact) {
  const auto text = [](const HostTensor& v) {
    return emit_source::literal(plain_c, *emit_source::find_element(plain_c, v.dtype()), v);
  };
  EXPECT_EQ(text(HostTensor::scalar_i64(DType::i64, INT64_MIN)), "(-9223372036854775807l - 1l)");
  EXPECT_EQ(text(HostTensor::scalar_i64(DType::i64, -3)), "(-3l)");
  EXPECT_EQ(text(HostTensor::scalar(DType::f64, -INFINITY)), "c_from_bits(0xfff0000000000000ul)");
  EXPECT_EQ(text(HostTensor::scalar(DType::f64, -0.0)), "(-0.0000000000000000e+00)");
  for (double v : {0.1, 1e-310, 1.7976931348623157e308, 2.0 / 3})
    EXPECT_EQ(std::strtod(text(HostTensor::scalar(DType::f64, v)).c_str(), nullptr), v);
  for (float v : {0.1f, 1e-44f, 3.4028235e38f})
    EXPECT_EQ(std::strtof(text(HostTensor::scalar(DType::f32, v)).c_str(), nullptr), v);
  Dialect hex = plain_c;
  hex.hex_floats = true;
  EXPECT_EQ(emit_source::literal(hex, c_elements[0], HostTensor::scalar(DType::f32, 0.1f)), "0x1.99999ap-4f");
}

}  // namespace
}  // namespace rlx
