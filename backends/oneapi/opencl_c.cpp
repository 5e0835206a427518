// What OpenCL C says differently.
#include "opencl_c.hpp"

namespace rlx::oneapi {
namespace {

constexpr emit_source::NativeType types[] = {
    {DType::f32, "float", "f"}, {DType::f64, "double"},      {DType::c64, "float2"},    {DType::c128, "double2"},
    {DType::i8, "char"},        {DType::i16, "short"},       {DType::i32, "int"},       {DType::i64, "long", "l"},
    {DType::u8, "uchar", "u"},  {DType::u16, "ushort", "u"}, {DType::u32, "uint", "u"}, {DType::u64, "ulong", "ul"},
    {DType::boolean, "bool"}};

constexpr emit_source::Word words[] = {{"f32_bits", "as_uint"},   {"bits_f32", "as_float"},  {"f64_bits", "as_ulong"},
                                       {"bits_f64", "as_double"}, {"c64_bits", "as_ulong"},  {"bits_c64", "as_float2"},
                                       {"make_c64", "(float2)"},  {"make_c128", "(double2)"}};

constexpr emit_source::Element elements[] = {
    // OpenCL's own half needs an extension that CPUs lack; vload_half and vstore_half are core.
    with_access(emit_source::in_float(DType::f16, "u16"), "u16", "vload_half({i}, (const {A} half*){p})",
                "vstore_half({0}, {i}, ({A} half*){p});"),
    // Neighbours share a byte, so a store is an atomic exchange of the word around it; local memory has no such helper.
    with_access(emit_source::packed_i4, "u8", emit_source::packed_i4.load, "rlx_store_i4({p}, {i}, {0});", false)};

constexpr DTypeSet single{DType::f16, DType::bf16, DType::f32}, reals = floating | float8;

// Functions are within 1 to 16 ulp by the specification (PoCL and Intel's runtime: within 3). PoCL's tanh stays one ulp
// short of 1 for large arguments.
constexpr emit_source::Spelling spellings[] = {
    {"tanh", single, "(fabs({0}) > 10.0f ? copysign(1.0f, {0}) : tanh({0}))"},
    {"tanh", DTypeSet{DType::f64}, "(fabs({0}) > 20.0 ? copysign(1.0, {0}) : tanh({0}))"},
    {"convert", reals, "(isnan({0}) ? ({T})0 : convert_{N}_sat({0}))", integers},
    {"convert", reals, "(isnan({0}) ? 0 : convert_char_sat(clamp({0}, ({S})-8, ({S})7)))", DTypeSet{DType::i4}},
    {"convert", complex_types, "(isnan({0}.x) ? ({T})0 : convert_{N}_sat({0}.x))", integers},
    {"convert", complex_types, "(isnan({0}.x) ? 0 : convert_char_sat(clamp((double){0}.x, -8.0, 7.0)))",
     DTypeSet{DType::i4}}};

constexpr emit_source::Helper helpers[] = {
    {"rlx_f16_bits", {}, "ushort rlx_f16_bits(float x) { ushort bits; vstore_half(x, 0, (half*)&bits); return bits; }"},
    {"rlx_f16_value", {}, "float rlx_f16_value(ushort bits) { return vload_half(0, (const half*)&bits); }"},
    {"rlx_store_i4", {}, R"(void rlx_store_i4(__global uchar* p, long i, char v) {
  const ulong address = (ulong)p + (ulong)(i >> 1);
  volatile __global uint* word = (volatile __global uint*)(address & ~3ul);
  const uint shift = (uint)(address & 3ul) * 8 + (uint)(i & 1) * 4;
  uint old = *word, seen;
  do {
    seen = old;
    old = atomic_cmpxchg(word, seen, (seen & ~(15u << shift)) | ((uint)v & 15u) << shift);
  } while (old != seen);
})"}};

}  // namespace

const emit_source::Dialect opencl_c{
    .name = "OpenCL C",
    .types = types,
    .words = words,
    .elements = elements,
    .spellings = spellings,
    .helpers = helpers,
    // Contraction would make results depend on how a compiler groups a product and a sum.
    .preamble = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\n\n",
    .kernel = "__kernel __attribute__((reqd_work_group_size({x}, {y}, {z}))) void {n}({a}) {",
    // Buffers may overlap (slabs, in-place updates): no restrict. The offset is in bytes.
    .parameter = "__global uchar* b{k}, ulong o{k}",
    .size_parameter = "long {v}",
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
