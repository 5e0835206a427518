// What operators that introduce a size share.
#pragma once
#include "ops/structure.hpp"

namespace rlx::ops {

/// What `nonzero` and `repeat` fill the places beyond the count with.
inline constexpr std::int64_t no_place = -1;

inline Answer size_fits(const SizedAttrs& a, const Signature&) {
  if (a.size.is_constant()) return Answer(a.size.constant() >= 0);
  const std::vector<std::string> symbols = a.size.symbols();
  return symbols.size() == 1 && a.size == Dim::symbol(symbols[0]);
}
inline Answer index_counts(const SizedAttrs& a, const Signature& s) {
  if (!index_types.contains(a.index)) return Answer::no(std::string(name(a.index)));
  const Dim& d = s.tensor(0).dim(0);
  return a.index == DType::i64 || !d.is_constant() ? Answer(true) : s.less_equal(d, INT32_MAX);
}
inline constexpr Constraint<SizedAttrs> sized_constraints[] = {
    {"C1", "the operand is a vector",
     [](const SizedAttrs&, const Signature& s) {
       return s.rank(0) == 1 ? Answer(true) : Answer::no("rank " + std::to_string(s.rank(0)));
     }},
    {"C2", "size is not negative, or a symbol by itself", size_fits},
    {"C3", "index is i32 or i64 and can count the operand", index_counts},
    {"C4", "bound is -1 or not negative",
     [](const SizedAttrs& a, const Signature&) { return Answer(!a.bound.is_constant() || a.bound.constant() >= -1); }}};

/// The capacity that a decomposition fills. A size that is a symbol is known only when the node runs: evaluation and
/// lowering put a number first.
std::int64_t capacity(std::string_view op, const SizedAttrs& a);
/// `count`, an i64 of any shape, which must not exceed the capacity.
Value within_capacity(Value count, std::string_view op, std::int64_t capacity);

}  // namespace rlx::ops
