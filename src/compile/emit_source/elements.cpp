// How element types are held where a language has the usual native ones.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr Element integer_element(DType t, std::string_view suffix, std::string_view computing,
                                  std::string_view unsigned_same, std::string_view to_bits = "({0})",
                                  std::string_view from_bits = "({0})") {
  return {.dtype = t,
          .value = name(t),
          .memory = name(t),
          .suffix = suffix,
          .computing = computing,
          .unsigned_same = unsigned_same,
          .to_bits = to_bits,
          .from_bits = from_bits};
}

constexpr Element elements_table[] = {
    // Where memory may hold the language's own half, it converts: widening is exact, and so is what was rounded before.
    with_access(in_float(DType::f16, "u16"), "f16", "(f32){p}[{i}]", "{p}[{i}] = (f16){0};"),
    in_float(DType::f16, "u16"),
    {.dtype = DType::bf16,
     .value = "f32",
     .memory = "u16",
     .suffix = "f",
     .computing = "u32",
     .unsigned_same = "u16",
     .load = "bits_f32((u32){p}[{i}] << 16)",
     .store = "{p}[{i}] = (u16)(f32_bits({0}) >> 16);",
     .round = "rlx_round_bf16({0})",
     .to_bits = "(u16)(f32_bits({0}) >> 16)",
     .from_bits = "bits_f32((u32)({0}) << 16)"},
    {.dtype = DType::f32,
     .value = "f32",
     .memory = "f32",
     .suffix = "f",
     .computing = "u32",
     .unsigned_same = "u32",
     .to_bits = "f32_bits({0})",
     .from_bits = "bits_f32((u32)({0}))"},
    {.dtype = DType::f64,
     .value = "f64",
     .memory = "f64",
     .computing = "u64",
     .unsigned_same = "u64",
     .to_bits = "f64_bits({0})",
     .from_bits = "bits_f64((u64)({0}))"},
    {.dtype = DType::c64,
     .value = "c64",
     .memory = "c64",
     .computing = "u64",
     .unsigned_same = "u64",
     .to_bits = "c64_bits({0})",
     .from_bits = "bits_c64((u64)({0}))"},
    {.dtype = DType::c128, .value = "c128", .memory = "c128"},
    packed_i4,
    integer_element(DType::i8, "", "u32", "u8", "(u8)({0})", "(i8)({0})"),
    integer_element(DType::i16, "", "u32", "u16", "(u16)({0})", "(i16)({0})"),
    integer_element(DType::i32, "", "u32", "u32", "(u32)({0})", "(i32)({0})"),
    integer_element(DType::i64, "l", "u64", "u64", "(u64)({0})", "(i64)({0})"),
    integer_element(DType::u8, "u", "u32", "u8"),
    integer_element(DType::u16, "u", "u32", "u16"),
    integer_element(DType::u32, "u", "u32", "u32"),
    integer_element(DType::u64, "ul", "u64", "u64"),
    {.dtype = DType::boolean,
     .value = "bool",
     .memory = "u8",
     .computing = "u32",
     .unsigned_same = "u8",
     .load = "({p}[{i}] != 0)",
     .to_bits = "(u8)({0})",
     .from_bits = "(({0}) != 0)"},
    in_float(DType::f8e4m3fn, "u8"),
    in_float(DType::f8e5m2, "u8"),
    in_float(DType::f8e4m3fnuz, "u8"),
    in_float(DType::f8e5m2fnuz, "u8"),
};

}  // namespace

constinit const std::span<const Element> common_elements = elements_table;

}  // namespace rlx::emit_source
