#include "compile/emit_source/helpers.hpp"

#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/literal.hpp"

#include <cctype>
#include <map>
#include <set>

namespace rlx::emit_source {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Collector {
 public:
  explicit Collector(const Dialect& dialect) {
    for (std::span<const Helper> table : dialect.helpers)
      for (const Helper& h : table) {
        if (h.dtypes.empty()) all_[std::string(h.name)] = h.text;
        for (const Element& e : dialect.elements) {
          if (!h.dtypes.contains(e.dtype)) continue;
          const Element* part = find_element(dialect, real_of(e.dtype));
          const std::string width = std::to_string(bit_width(e.dtype));
          const auto with = [&](std::string_view text) {
            return expand(text, {{'D', name(e.dtype)},
                                 {'T', e.value},
                                 {'S', e.value},
                                 {'C', part ? part->value : ""},
                                 {'U', e.computing},
                                 {'V', e.unsigned_same},
                                 {'W', width}});
          };
          all_[with(h.name)] = with(h.text);
        }
      }
  }

  void need(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      if (!is_word(text[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      const auto it = all_.find(text.substr(i, end - i));
      // A name is marked before its own text is read, where it occurs too.
      if (it != all_.end() && printed_.insert(it->first).second) {
        need(it->second);
        out += it->second + "\n";
      }
      i = end;
    }
  }

  std::string out;

 private:
  std::map<std::string, std::string, std::less<>> all_;
  std::set<std::string, std::less<>> printed_;
};

}  // namespace

std::string helpers_for(const Dialect& dialect, std::string_view text) {
  Collector c(dialect);
  c.need(text);
  return c.out;
}

}  // namespace rlx::emit_source
