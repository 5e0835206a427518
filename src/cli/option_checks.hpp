// Checks of option values, for CLI11's `check`: each gives what is wrong with a text, or nothing.
#pragma once
#include <charconv>
#include <functional>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>

namespace rlx::cli {

/// A finite number from `least` to `most`, and nothing behind it. CLI11's own checks let NaN pass, show all 309 digits
/// of the largest double, and leave whole numbers that do not fit to the conversion, which takes another.
template <class T>
std::function<std::string(const std::string&)> number_from(
    std::type_identity_t<T> least, std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
  return [least, most](const std::string& text) -> std::string {
    T value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) return {};
    const auto shown = [](T x) {
      char digits[40];
      return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
    };
    return "\"" + (text.size() > 40 ? text.substr(0, 40) + "..." : text) + "\" is no " +
           (std::is_integral_v<T> ? "whole number" : "number") +
           (most == std::numeric_limits<T>::max() ? " of at least " + shown(least)
                                                  : " from " + shown(least) + " to " + shown(most));
  };
}

}  // namespace rlx::cli
