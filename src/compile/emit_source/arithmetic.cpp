// Operators that C has as operators or functions, and those on integers whose corner cases StableHLO fixes. Where
// several rows fit, a later one is for languages that lack a word of the earlier.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr DTypeSet logical = integers | DTypeSet{DType::boolean};

// Integer arithmetic wraps: computed unsigned, because the overflow of a signed operation is undefined. The declaration
// of the result converts back. A shift count beyond the width (as unsigned: also a negative one) shifts everything out.
constexpr Spelling arithmetic[] = {
    {"neg", floating, "-{0}", any_dtype, true},
    {"neg", integers, "(0 - ({U}){0})"},
    {"abs", floating, "fabs({0})", any_dtype, true},
    {"abs", signed_integers, "({0} < 0 ? 0 - ({U}){0} : ({U}){0})"},
    {"abs", unsigned_integers, "{0}"},
    {"sign", floating, "(isnan({0}) ? {0} : sign({0}))", any_dtype, true},
    {"sign", floating, "({0} > 0 ? ({T})1 : {0} < 0 ? ({T})-1 : {0})", any_dtype, true},
    {"sign", signed_integers, "(({0} > 0) - ({0} < 0))"},
    {"sign", unsigned_integers, "({0} != 0)"},
    {"floor", floating, "floor({0})"},
    {"ceil", floating, "ceil({0})"},
    {"round", floating, "rint({0})"},
    {"is_nan", floating, "isnan({0})"},
    {"is_finite", floating, "isfinite({0})"},
    {"not", DTypeSet{DType::boolean}, "!{0}"},
    {"not", integers, "~{0}"},
    {"popcount", integers, "popcount({0})"},
    {"popcount", integers, "rlx_popcount_{D}({0})"},
    {"clz", integers, "clz({0})"},
    {"clz", integers, "rlx_clz_{D}({0})"},
    {"add", floating, "{0} + {1}"},
    {"add", integers, "(({U}){0} + ({U}){1})"},
    {"sub", floating, "{0} - {1}"},
    {"sub", integers, "(({U}){0} - ({U}){1})"},
    {"mul", floating, "{0} * {1}"},
    {"mul", integers, "(({U}){0} * ({U}){1})"},
    {"div", floating, "{0} / {1}"},
    {"div", integers, "rlx_div_{D}({0}, {1})"},
    {"rem", floating, "fmod({0}, {1})"},
    {"rem", integers, "rlx_rem_{D}({0}, {1})"},
    {"pow", integers, "rlx_pow_{D}({0}, {1})"},
    {"min", floating, "rlx_min_{D}({0}, {1})", any_dtype, true},
    {"max", floating, "rlx_max_{D}({0}, {1})", any_dtype, true},
    {"min", integers, "min({0}, {1})"},
    {"max", integers, "max({0}, {1})"},
    {"min", integers, "({0} < {1} ? {0} : {1})"},
    {"max", integers, "({0} > {1} ? {0} : {1})"},
    {"min", DTypeSet{DType::boolean}, "({0} && {1})"},
    {"max", DTypeSet{DType::boolean}, "({0} || {1})"},
    {"and", logical, "({0} & {1})"},
    {"or", logical, "({0} | {1})"},
    {"xor", logical, "({0} ^ {1})"},
    {"shift_left", integers, "(({U}){1} < {W} ? ({U}){0} << ({U}){1} : 0)"},
    {"shift_right_logical", integers, "(({U}){1} < {W} ? ({U})({V}){0} >> ({U}){1} : 0)"},
    {"shift_right_arithmetic", signed_integers, "({0} >> (({U}){1} < {W} ? ({U}){1} : {W} - 1))"},
    {"shift_right_arithmetic", unsigned_integers, "rlx_sra_{D}({0}, {1})"},
    {"fma", floating, "fma({0}, {1}, {2})"},
    {"fma", integers, "(({U}){0} * ({U}){1} + ({U}){2})"},
    {"select", any_dtype, "({0} ? {1} : {2})", any_dtype, true},
    {"clamp", floating, "rlx_min_{D}(rlx_max_{D}({1}, {0}), {2})", any_dtype, true},
    {"clamp", integers, "min(max({1}, {0}), {2})"},
    {"clamp", integers, "({0} > {2} || {1} > {2} ? {2} : {1} < {0} ? {0} : {1})"},
    {"compare.eq", real_numbers | DTypeSet{DType::boolean}, "({0} == {1})"},
    {"compare.ne", real_numbers | DTypeSet{DType::boolean}, "({0} != {1})"},
    {"compare.lt", real_numbers | DTypeSet{DType::boolean}, "({0} < {1})"},
    {"compare.le", real_numbers | DTypeSet{DType::boolean}, "({0} <= {1})"},
    {"compare.gt", real_numbers | DTypeSet{DType::boolean}, "({0} > {1})"},
    {"compare.ge", real_numbers | DTypeSet{DType::boolean}, "({0} >= {1})"},
    {"reduce_precision", DTypeSet{DType::f16},
     "rlx_f16_value((u16)rlx_reduce_bits(rlx_f16_bits({0}), 10, 5, {e}, {m}))", any_dtype, true},
    {"reduce_precision", DTypeSet{DType::bf16},
     "bits_f32((u32)rlx_reduce_bits(f32_bits({0}) >> 16, 7, 8, {e}, {m}) << 16)", any_dtype, true},
    {"reduce_precision", DTypeSet{DType::f32}, "bits_f32((u32)rlx_reduce_bits(f32_bits({0}), 23, 8, {e}, {m}))"},
    {"reduce_precision", DTypeSet{DType::f64}, "bits_f64(rlx_reduce_bits(f64_bits({0}), 52, 11, {e}, {m}))"},
};

}  // namespace

constinit const std::span<const Spelling> arithmetic_spellings = arithmetic;

}  // namespace rlx::emit_source
