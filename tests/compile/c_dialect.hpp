// C99 as a dialect of the source printer: all that a language must state. A kernel is a function that walks its index
// space itself, over the addresses of its buffers. Sequential: it has no teams, and a packed store disturbs nobody.
#pragma once
#include "compile/emit_source/dialect.hpp"

namespace rlx::test::c99 {

inline constexpr emit_source::NativeType types[] = {{DType::f16, "_Float16"},
                                                    {DType::f32, "float", "f"},
                                                    {DType::f64, "double"},
                                                    {DType::c64, "rlx_c64"},
                                                    {DType::c128, "rlx_c128"},
                                                    {DType::i8, "signed char"},
                                                    {DType::i16, "short"},
                                                    {DType::i32, "int"},
                                                    {DType::i64, "long long", "ll"},
                                                    {DType::u8, "unsigned char", "u"},
                                                    {DType::u16, "unsigned short", "u"},
                                                    {DType::u32, "unsigned", "u"},
                                                    {DType::u64, "unsigned long long", "ull"},
                                                    {DType::boolean, "bool"}};

inline constexpr emit_source::Element elements[] = {
    {.dtype = DType::i4,
     .value = "i8",
     .memory = "u8",
     .computing = "u32",
     .unsigned_same = "u8",
     .load = "(i8)(({p}[{i} >> 1] >> 4 * ({i} & 1) & 15 ^ 8) - 8)",
     .store = "{p}[{i} >> 1] = (u8)({p}[{i} >> 1] & 240 >> 4 * ({i} & 1) | ({0} & 15) << 4 * ({i} & 1));",
     .round = "(i8)((({0}) & 15 ^ 8) - 8)",
     .to_bits = "(u8)(({0}) & 15)",
     .from_bits = "(i8)((({0}) & 15 ^ 8) - 8)"}};

inline constexpr emit_source::Helper helpers[] = {
    {"f32_bits", {}, "u32 f32_bits(f32 x) { union { f32 x; u32 b; } u = {x}; return u.b; }"},
    {"bits_f32", {}, "f32 bits_f32(u32 b) { union { u32 b; f32 x; } u = {b}; return u.x; }"},
    {"f64_bits", {}, "u64 f64_bits(f64 x) { union { f64 x; u64 b; } u = {x}; return u.b; }"},
    {"bits_f64", {}, "f64 bits_f64(u64 b) { union { u64 b; f64 x; } u = {b}; return u.x; }"},
    {"make_{D}", complex_types, "{T} make_{D}({C} x, {C} y) { {T} z; z.x = x; z.y = y; return z; }"}};

inline constexpr emit_source::Dialect dialect{
    .name = "C99",
    .types = types,
    .lacks = "min max clz popcount sign complex_operators",
    .elements = elements,
    .helpers = helpers,
    .preamble = R"(#include <stdbool.h>
#include <tgmath.h>
typedef struct { float x, y; } rlx_c64;
typedef struct { double x, y; } rlx_c128;

)",
    .function = "static ",
    // Buffers are addresses, `n` the points in each dimension, `s` the sizes, `checks` the first check that failed and
    // its index.
    .kernel = R"(void {n}(char** b, const long long* n, const long long* s, long long* checks) {
  for (long long z = 0; z < n[2]; ++z) for (long long y = 0; y < n[1]; ++y) for (long long x = 0; x < n[0]; ++x) {)",
    .kernel_end = "  }\n}",
    .parameter = "",
    .size_bind = "const long long {v} = s[{k}];",
    .check_parameter = "checks",
    .bind = "{M}* {p} = ({M}*)b[{k}];",
    .global_index = {"x", "y", "z"},
    .guard = "if ({0} >= {1}) continue;",
    .check = "if (!{0} && !checks[0]) checks[0] = {k}, checks[1] = {1};",
    .group_threads = 1};

}  // namespace rlx::test::c99
