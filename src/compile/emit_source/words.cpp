#include "compile/emit_source/words.hpp"

#include "compile/emit_source/common.hpp"
#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/literal.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace rlx::emit_source {
namespace {

constexpr DTypeSet type_words = DTypeSet{DType::f16, DType::f32, DType::f64, DType::boolean} | complex_types | integers;

/// The type that a word of common text names.
std::optional<DType> type_word(std::string_view word) {
  const std::optional<DType> t = word.size() > 4 ? std::nullopt : parse_dtype(word);
  return t && type_words.contains(*t) ? t : std::nullopt;
}

const Word* native_word(const Dialect& dialect, std::string_view word) {
  for (const Word& w : dialect.words)
    if (w.common == word) return &w;
  return nullptr;
}

bool says_all(const Dialect& dialect, std::string_view text, std::set<std::string, std::less<>>& seen) {
  bool all = true;
  each_word(text, [&](std::string_view word, std::size_t end) {
    if (!all) return;
    if (const auto t = type_word(word)) all = native_type(dialect, *t) != nullptr;
    else if (!is_vocabulary(text, word, end)) return;
    else if (lacks(dialect, word)) all = false;
    else if (const auto helper = find_helper(dialect, word); helper && seen.emplace(word).second)
      all = says_all(dialect, helper_text(dialect, *helper), seen);
  });
  return all;
}

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t word_end(std::string_view text, std::size_t i) {
  while (i < text.size() && is_word(text[i])) ++i;
  return i;
}

/// End of a number: digits, letters and points, and signs after an exponent's letter.
std::size_t number_end(std::string_view text, std::size_t i) {
  const bool hex = text.substr(i, 2) == "0x";
  for (; i < text.size(); ++i) {
    const char before = i ? static_cast<char>(text[i - 1] | 32) : ' ';
    const bool exponent = before == (hex ? 'p' : 'e');
    if (!is_word(text[i]) && text[i] != '.' && !(exponent && (text[i] == '+' || text[i] == '-'))) break;
  }
  return i;
}

std::string number(const Dialect& dialect, std::string_view text) {
  const bool hex = text.substr(0, 2) == "0x";
  const bool real = text.find_first_of(hex ? ".p" : ".e") != std::string_view::npos;
  std::size_t digits = text.size();
  while (digits && (text[digits - 1] == 'u' || text[digits - 1] == 'l' || (real && text[digits - 1] == 'f'))) --digits;
  const std::string_view suffix = text.substr(digits);
  const DType t = real ? (suffix == "f" ? DType::f32 : DType::f64)
                       : (suffix == "ul"  ? DType::u64
                          : suffix == "l" ? DType::i64
                          : suffix == "u" ? DType::u32
                                          : DType::i32);
  std::string out(text.substr(0, digits));
  if (real && hex && !dialect.hex_floats) {
    char decimal[64];
    std::snprintf(decimal, sizeof decimal, "%.*e", t == DType::f32 ? 8 : 16, std::strtod(out.c_str(), nullptr));
    out = decimal;
  }
  const NativeType* native = native_type(dialect, t);
  return out + std::string(native ? native->suffix : suffix);
}

/// Behind the bracket that closes the one at `i`.
std::size_t bracket_end(std::string_view text, std::size_t i) {
  int depth = 0;
  for (; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[';
    depth -= text[i] == ')' || text[i] == ']';
    if (depth == 0) return i + 1;
  }
  return i;
}

/// Behind the operand of a cast: signs, one name, number or bracket, then calls, indices and members.
std::size_t operand_end(std::string_view text, std::size_t i) {
  while (i < text.size() && std::string_view("-~!").find(text[i]) != std::string_view::npos) ++i;
  if (i >= text.size()) return i;
  if (text[i] == '(') i = bracket_end(text, i);
  else if (is_digit(text[i])) return number_end(text, i);
  else i = word_end(text, i);
  while (i < text.size()) {
    if (text[i] == '(' || text[i] == '[') i = bracket_end(text, i);
    else if (text[i] == '.') i = word_end(text, i + 1);
    else break;
  }
  return i;
}

}  // namespace

const NativeType* native_type(const Dialect& dialect, DType t) {
  for (const NativeType& n : dialect.types)
    if (n.dtype == t) return &n;
  return nullptr;
}

std::optional<FoundHelper> find_helper(const Dialect& dialect, std::string_view word) {
  constexpr std::string_view of_type = "{D}";
  if (native_word(dialect, word)) return std::nullopt;
  for (std::span<const Helper> table : {dialect.helpers, number_helpers, math_helpers, single_helpers, complex_helpers})
    for (const Helper& h : table) {
      if (h.dtypes.empty()) {
        if (h.name == word) return FoundHelper{&h, std::nullopt};
        continue;
      }
      const std::string_view stem = h.name.substr(0, h.name.size() - of_type.size());
      if (word.substr(0, stem.size()) != stem) continue;
      const auto t = parse_dtype(word.substr(stem.size()));
      if (t && h.dtypes.contains(*t) && find_element(dialect, *t)) return FoundHelper{&h, t};
    }
  return std::nullopt;
}

std::string helper_text(const Dialect& dialect, const FoundHelper& helper) {
  const std::string prefix(dialect.function);
  if (!helper.dtype) return prefix + std::string(helper.row->text);
  const Element& e = *find_element(dialect, *helper.dtype);
  const Element* part = find_element(dialect, real_of(e.dtype));
  return prefix + expand(helper.row->text, {{'D', name(e.dtype)},
                                            {'T', e.value},
                                            {'S', e.value},
                                            {'C', part ? part->value : ""},
                                            {'U', e.computing},
                                            {'V', e.unsigned_same},
                                            {'W', std::to_string(bit_width(e.dtype))}});
}

bool lacks(const Dialect& dialect, std::string_view word) {
  bool found = false;
  each_word(dialect.lacks, [&](std::string_view w, std::size_t) { found = found || w == word; });
  return found;
}

bool says(const Dialect& dialect, std::string_view text) {
  std::set<std::string, std::less<>> seen;
  return says_all(dialect, text, seen);
}

std::string in_language(const Dialect& dialect, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (is_digit(text[i])) {
      const std::size_t end = number_end(text, i);
      out += number(dialect, text.substr(i, end - i));
      i = end;
      continue;
    }
    if (is_word(text[i])) {
      const std::size_t end = word_end(text, i);
      const std::string_view word = text.substr(i, end - i);
      const auto t = type_word(word);
      const bool member = i > 0 && text[i - 1] == '.';
      if (const NativeType* native = t && !member ? native_type(dialect, *t) : nullptr) out += native->name;
      else if (const Word* w = member || !is_vocabulary(text, word, end) ? nullptr : native_word(dialect, word))
        out += w->native;
      else out += word;
      i = end;
      continue;
    }
    if (text[i] == '(' && dialect.casts_as_calls) {
      const std::size_t end = word_end(text, i + 1);
      const auto t = type_word(text.substr(i + 1, end - i - 1));
      if (const NativeType* native = t && end < text.size() && text[end] == ')' ? native_type(dialect, *t) : nullptr) {
        const std::size_t last = operand_end(text, end + 1);
        std::string_view operand = text.substr(end + 1, last - end - 1);
        if (!operand.empty() && operand[0] == '(' && bracket_end(operand, 0) == operand.size())
          operand = operand.substr(1, operand.size() - 2);
        ((out += native->name) += '(') += in_language(dialect, operand);
        out += ')';
        i = last;
        continue;
      }
    }
    out += text[i++];
  }
  return out;
}

}  // namespace rlx::emit_source
