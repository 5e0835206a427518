// The words of common text (see dialect.hpp): which of them a language has, and what it says for them.
#pragma once
#include "compile/emit_source/dialect.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rlx::emit_source {

/// Row of `t` among the language's own types, or null.
const NativeType* native_type(const Dialect& dialect, DType t);

/// A helper function, and for which element type where it has several.
struct FoundHelper {
  const Helper* row;
  std::optional<DType> dtype;
};
/// The function named `name`, the dialect's own before a common one; none where the language has a word of its own.
std::optional<FoundHelper> find_helper(const Dialect& dialect, std::string_view name);
/// Its text, as it stands before the kernels.
std::string helper_text(const Dialect& dialect, const FoundHelper& helper);

/// Whether the dialect has all types and words in `text`, and in the helpers that it calls.
bool says(const Dialect& dialect, std::string_view text);

/// Whether `lacks` names this word.
bool lacks(const Dialect& dialect, std::string_view word);

/// Whether a word that ends at `end` stands for what the dialect may call otherwise: functions and constants do, and
/// variables of the same name do not.
inline bool is_vocabulary(std::string_view text, std::string_view word, std::size_t end) {
  return ('A' <= word[0] && word[0] <= 'Z') || (end < text.size() && text[end] == '(');
}

/// Calls `take` with every word of `text` that does not name a member, and where it ends.
template <class Take>
void each_word(std::string_view text, Take&& take) {
  const auto is_word = [](char c) {
    return ('a' <= (c | 32) && (c | 32) <= 'z') || ('0' <= c && c <= '9') || c == '_';
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) {
      ++i;
      continue;
    }
    if (('0' > text[i] || text[i] > '9') && (i == 0 || text[i - 1] != '.')) take(text.substr(i, end - i), end);
    i = end;
  }
}

/// `text` in the words, numbers and casts of the language.
std::string in_language(const Dialect& dialect, std::string_view text);

}  // namespace rlx::emit_source
