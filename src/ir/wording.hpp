// Names of a user in messages.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace rlx {

/// The name, cut behind 60 characters: a message quotes what it is about and not a whole text.
std::string shortened(std::string_view name);

/// `; did you mean "softmax"?` where one of `known` is at most three edits from `name`, and fewer than it has letters.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace rlx
