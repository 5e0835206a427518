#include "opencl_c.hpp"

namespace rlx::oneapi {
namespace {

using emit_source::Element;

// f16, bf16 and f8 values live in a float that holds only values of the narrow type; OpenCL's own half needs an extension
// that CPUs lack. vload_half and vstore_half are core. Widening by itself is exact, so are the stores.
constexpr Element elements[] = {
    {.dtype = DType::f16, .value = "float", .memory = "ushort", .suffix = "f", .computing = "uint", .unsigned_same = "ushort",
     .load = "vload_half({i}, (const {A} half*){p})", .store = "vstore_half({0}, {i}, ({A} half*){p});",
     .local_store = "vstore_half({0}, {i}, ({A} half*){p});", .round = "rlx_round_f16({0})", .to_bits = "rlx_f16_bits({0})",
     .from_bits = "rlx_f16_value({0})"},
    {.dtype = DType::bf16, .value = "float", .memory = "ushort", .suffix = "f", .computing = "uint", .unsigned_same = "ushort",
     .load = "as_float((uint){p}[{i}] << 16)", .store = "{p}[{i}] = (ushort)(as_uint({0}) >> 16);",
     .local_store = "{p}[{i}] = (ushort)(as_uint({0}) >> 16);", .round = "rlx_round_bf16({0})",
     .to_bits = "(ushort)(as_uint({0}) >> 16)", .from_bits = "as_float((uint)({0}) << 16)"},
    {.dtype = DType::f32, .value = "float", .memory = "float", .suffix = "f", .computing = "uint", .unsigned_same = "uint",
     .to_bits = "as_uint({0})", .from_bits = "as_float((uint)({0}))"},
    {.dtype = DType::f64, .value = "double", .memory = "double", .computing = "ulong", .unsigned_same = "ulong",
     .to_bits = "as_ulong({0})", .from_bits = "as_double((ulong)({0}))"},
    {.dtype = DType::c64, .value = "float2", .memory = "float2", .computing = "ulong", .unsigned_same = "ulong",
     .to_bits = "as_ulong({0})", .from_bits = "as_float2((ulong)({0}))", .pair = "(float2)({0}, {1})"},
    {.dtype = DType::c128, .value = "double2", .memory = "double2", .pair = "(double2)({0}, {1})"},
    // Neighbours share a byte, so a store is an atomic exchange of the word around it; local memory has no such helper.
    {.dtype = DType::i4, .value = "char", .memory = "uchar", .computing = "uint", .unsigned_same = "uchar",
     .load = "(char)(((({p}[({i}) >> 1] >> ((({i}) & 1) << 2)) & 15) ^ 8) - 8)", .store = "rlx_store_i4({p}, {i}, {0});",
     .local_store = "", .round = "(char)((({0}) & 15 ^ 8) - 8)", .to_bits = "(uchar)(({0}) & 15)",
     .from_bits = "(char)((({0}) & 15 ^ 8) - 8)"},
    {.dtype = DType::i8, .value = "char", .memory = "char", .computing = "uint", .unsigned_same = "uchar",
     .to_bits = "(uchar)({0})", .from_bits = "(char)({0})"},
    {.dtype = DType::i16, .value = "short", .memory = "short", .computing = "uint", .unsigned_same = "ushort",
     .to_bits = "(ushort)({0})", .from_bits = "(short)({0})"},
    {.dtype = DType::i32, .value = "int", .memory = "int", .computing = "uint", .unsigned_same = "uint",
     .to_bits = "(uint)({0})", .from_bits = "(int)({0})"},
    {.dtype = DType::i64, .value = "long", .memory = "long", .suffix = "l", .computing = "ulong", .unsigned_same = "ulong",
     .to_bits = "(ulong)({0})", .from_bits = "(long)({0})"},
    {.dtype = DType::u8, .value = "uchar", .memory = "uchar", .suffix = "u", .computing = "uint", .unsigned_same = "uchar"},
    {.dtype = DType::u16, .value = "ushort", .memory = "ushort", .suffix = "u", .computing = "uint", .unsigned_same = "ushort"},
    {.dtype = DType::u32, .value = "uint", .memory = "uint", .suffix = "u", .computing = "uint", .unsigned_same = "uint"},
    {.dtype = DType::u64, .value = "ulong", .memory = "ulong", .suffix = "ul", .computing = "ulong", .unsigned_same = "ulong"},
    {.dtype = DType::boolean, .value = "bool", .memory = "uchar", .computing = "uint", .unsigned_same = "uchar",
     .load = "({p}[{i}] != 0)", .to_bits = "(uchar)({0})", .from_bits = "(({0}) != 0)"},
    {.dtype = DType::f8e4m3fn, .value = "float", .memory = "uchar", .suffix = "f", .computing = "uint", .unsigned_same = "uchar",
     .load = "rlx_f8e4m3fn_value({p}[{i}])", .store = "{p}[{i}] = rlx_f8e4m3fn_bits({0});",
     .local_store = "{p}[{i}] = rlx_f8e4m3fn_bits({0});", .round = "rlx_round_f8e4m3fn({0})",
     .to_bits = "rlx_f8e4m3fn_bits({0})", .from_bits = "rlx_f8e4m3fn_value({0})"},
    {.dtype = DType::f8e5m2, .value = "float", .memory = "uchar", .suffix = "f", .computing = "uint", .unsigned_same = "uchar",
     .load = "rlx_f8e5m2_value({p}[{i}])", .store = "{p}[{i}] = rlx_f8e5m2_bits({0});",
     .local_store = "{p}[{i}] = rlx_f8e5m2_bits({0});", .round = "rlx_round_f8e5m2({0})",
     .to_bits = "rlx_f8e5m2_bits({0})", .from_bits = "rlx_f8e5m2_value({0})"},
    {.dtype = DType::f8e4m3fnuz, .value = "float", .memory = "uchar", .suffix = "f", .computing = "uint", .unsigned_same = "uchar",
     .load = "rlx_f8e4m3fnuz_value({p}[{i}])", .store = "{p}[{i}] = rlx_f8e4m3fnuz_bits({0});",
     .local_store = "{p}[{i}] = rlx_f8e4m3fnuz_bits({0});", .round = "rlx_round_f8e4m3fnuz({0})",
     .to_bits = "rlx_f8e4m3fnuz_bits({0})", .from_bits = "rlx_f8e4m3fnuz_value({0})"},
    {.dtype = DType::f8e5m2fnuz, .value = "float", .memory = "uchar", .suffix = "f", .computing = "uint", .unsigned_same = "uchar",
     .load = "rlx_f8e5m2fnuz_value({p}[{i}])", .store = "{p}[{i}] = rlx_f8e5m2fnuz_bits({0});",
     .local_store = "{p}[{i}] = rlx_f8e5m2fnuz_bits({0});", .round = "rlx_round_f8e5m2fnuz({0})",
     .to_bits = "rlx_f8e5m2fnuz_bits({0})", .from_bits = "rlx_f8e5m2fnuz_value({0})"},
};

const std::span<const emit_source::Spelling> spellings[] = {arithmetic_spellings, math_spellings, conversion_spellings, complex_spellings};
const std::span<const emit_source::Helper> helpers[] = {number_helpers, math_helpers, complex_helpers};

}  // namespace

const emit_source::Dialect opencl_c{
    .name = "OpenCL C",
    .elements = elements,
    .spellings = spellings,
    .helpers = helpers,
    // Contraction would make results depend on how a compiler groups a product and a sum.
    .preamble = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\n\n",
    .kernel = "__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))) void {n}({a}) {",
    // Buffers may overlap (slabs, in-place updates): no restrict. The offset is in bytes.
    .parameter = "__global uchar* b{k}, ulong o{k}",
    .check_parameter = "__global uint* rlx_checks",
    .bind = "__global {M}* {p} = (__global {M}*)(b{k} + o{k});",
    .group_index = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
    .thread_index = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
    .global_index = {"get_global_id(0)", "get_global_id(1)", "get_global_id(2)"},
    .local_array = "__local {M} {p}[{n}];",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .check = "if (!{0} && atomic_cmpxchg(rlx_checks, 0u, {k}u) == 0u) ((__global long*)rlx_checks)[1] = {1};",
    .global_space = "__global",
    .local_space = "__local"};

}  // namespace rlx::oneapi
