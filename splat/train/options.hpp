// Values of options as texts, for messages and for the description of a run.
#pragma once
#include <rlx/splat/train_options.hpp>

#include <charconv>
#include <string>
#include <type_traits>

namespace rlx::splat::train {

/// That which reads back as the same value; of several numbers with commas between.
template <class T>
std::string value_text(const T& value) {
  std::string text;
  if constexpr (requires { value.begin(); }) {
    for (const auto& x : value) text += (text.empty() ? "" : ",") + value_text(x);
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    char digits[40];
    text.assign(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  } else {
    FieldCodec<T>::print(text, value);
  }
  return text;
}

/// The options with every -1 replaced by what it stands for.
TrainOptions resolved(TrainOptions options);

}  // namespace rlx::splat::train
