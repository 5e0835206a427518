// The bring-up ladder: which rung an operator belongs to. The one place that says so.
#pragma once
#include <rlx/ir/op.hpp>

#include <span>
#include <string_view>

namespace rlx::conformance {

inline constexpr std::string_view memory_rung = "memory and copies";

/// By name and traits; families by the prefix of their name.
std::string_view rung_of(const Op& op);
/// All, lowest first.
std::span<const std::string_view> ladder();

}  // namespace rlx::conformance
