// Conversions: one rounding to nearest even, floats to integers truncate and saturate with NaN to 0, integers wrap.
#include "compile/emit_source/common.hpp"

namespace rlx::emit_source {
namespace {

constexpr DTypeSet narrow = DTypeSet{DType::f16, DType::bf16} | float8;  // held in a f32
constexpr DTypeSet float_held = narrow | DTypeSet{DType::f32};
constexpr DTypeSet boolean_set{DType::boolean};
constexpr DTypeSet i4_set{DType::i4};
constexpr DTypeSet short_integers = (integers - wide_integers) | i4_set;

// A narrow float rounds its float once more: what it is given must be exact, or odd where it is not (see rlx_odd).
constexpr Spelling conversions[] = {
    {"convert", float_held, "({T}){0}", float_held | f64_set},
    {"convert", f64_set, "rlx_odd({0})", narrow},
    {"convert", f64_set, "({T}){0}", DTypeSet{DType::f32}},
    {"convert", short_integers | boolean_set, "({T}){0}", float_held | f64_set},
    {"convert", wide_integers, "rlx_odd_{D}({0})", narrow},
    {"convert", wide_integers, "({T}){0}", DTypeSet{DType::f32, DType::f64}},
    {"convert", float_held | f64_set,
     "(isnan({0}) ? ({T})0 : {0} >= {k} ? ({T}){g} : {0} <= {j} ? ({T}){l} : ({T}){0})", integers | i4_set},
    {"convert", integers | float_held | f64_set | i4_set, "({0} != 0)", boolean_set},
    {"convert", integers | boolean_set | i4_set, "({T}){0}", integers | i4_set},
    {"convert", complex_types, "make_{R}({0}.x, {0}.y)", complex_types},
    {"convert", complex_types, "({0}.x != 0 || {0}.y != 0)", boolean_set},
    {"convert", DTypeSet{DType::c128}, "rlx_odd({0}.x)", narrow},
    {"convert", complex_types, "({T}){0}.x", float_held | f64_set},
    {"convert", complex_types,
     "(isnan({0}.x) ? ({T})0 : {0}.x >= {k} ? ({T}){g} : {0}.x <= {j} ? ({T}){l} : ({T}){0}.x)", integers | i4_set},
    {"convert", integers | boolean_set | float_held | f64_set | i4_set, "make_{R}(({C}){0}, 0)", complex_types},
};

}  // namespace

constinit const std::span<const Spelling> conversion_spellings = conversions;

}  // namespace rlx::emit_source
