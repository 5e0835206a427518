// The tables that all dialects share, in common text (see dialect.hpp), by file.
#pragma once
#include "compile/emit_source/dialect.hpp"

namespace rlx::emit_source {

extern const std::span<const Element> common_elements;
extern const std::span<const Spelling> arithmetic_spellings, math_spellings, single_spellings, conversion_spellings,
    complex_spellings;
extern const std::span<const Helper> number_helpers, math_helpers, single_helpers, complex_helpers;

inline constexpr DTypeSet f64_set{DType::f64};
inline constexpr DTypeSet wide_integers{DType::i32, DType::i64, DType::u32, DType::u64};

}  // namespace rlx::emit_source
