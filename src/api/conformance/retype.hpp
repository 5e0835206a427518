// A sample in another element type, as far as a type can be exchanged without knowing the operator.
#pragma once
#include <rlx/ir/op.hpp>
#include <rlx/ir/registry.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rlx::conformance {

/// The element type of a tensor, sparse or resource type; nothing of a token.
std::optional<DType> element_type(const Type& t);
/// What is declared of operand `i` of an instance: a variadic declaration serves the rest.
const Operand& declared_operand(const Op& op, std::size_t i);

/// Ways to give `op` a sample like `base`, whose operand `at` has elements of type `to`, the likeliest first. None is
/// checked: emission may refuse each of them. With that operand go those of the same type and declaration, or those of
/// its complex or real counterpart besides, or it goes alone; attributes and regions that name the type go along, or
/// stay. The last ways leave regions in a wide type, between conversions.
///
/// Literals are rounded to the type, ranges are cut to what it holds, and those of integers widened where the sample's
/// would give -1, 0 and 1 alone, unless a literal stands beside them. Results are no longer stated, and the sample's
/// tolerance becomes as many units of the new type, at most 64 of them.
std::vector<AnySample> retyped(const Op& op, const AnySample& base, std::size_t at, DType to, const Registry& registry);

/// What tells instances of an operator apart besides sizes and element types: the words of the attributes and of the
/// operators in the regions, and with `flags` what is true or false there; whether a literal holds an infinity or a
/// NaN. `g` has one node, the instance.
std::string form_of(const Graph& g, const SampleBase& s, bool flags);

}  // namespace rlx::conformance
