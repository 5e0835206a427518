// Substitution in the templates of a dialect.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace rlx::emit_source {

struct Substitution {
  char key;
  std::string_view text;
};

/// Appends `text` with every "{key}" replaced; braces around anything else are kept.
inline void expand_to(std::string& out, std::string_view text, std::initializer_list<Substitution> with) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}') {
      bool known = false;
      for (const Substitution& s : with) {
        if (s.key != text[i + 1]) continue;
        out += s.text;
        known = true;
        break;
      }
      if (known) {
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
}

inline std::string expand(std::string_view text, std::initializer_list<Substitution> with) {
  std::string out;
  expand_to(out, text, with);
  return out;
}

}  // namespace rlx::emit_source
