// Counted nouns, for messages.
#pragma once
#include <concepts>
#include <string>
#include <string_view>

namespace rlx {

/// "1 operand", "2 operands"; "1 entry", "2 entries" where the plural is given.
template <std::integral N>
std::string counted(N n, std::string_view one, std::string_view several = {}) {
  std::string text = std::to_string(n) + " ";
  if (n != 1 && !several.empty()) return text += several;
  return (text += one) += n == 1 ? "" : "s";
}

}  // namespace rlx
