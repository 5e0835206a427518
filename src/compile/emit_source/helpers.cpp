#include "compile/emit_source/helpers.hpp"

#include "compile/emit_source/words.hpp"

#include <set>

namespace rlx::emit_source {
namespace {

class Collector {
 public:
  explicit Collector(const Dialect& dialect) : dialect_(dialect) {}

  void need(std::string_view text) {
    each_word(text, [&](std::string_view word, std::size_t end) {
      if (!is_vocabulary(text, word, end)) return;
      const auto helper = find_helper(dialect_, word);
      // A name is marked before its own text is read, where it occurs too.
      if (!helper || !printed_.emplace(word).second) return;
      const std::string function = helper_text(dialect_, *helper);
      need(function);
      out += function + "\n";
    });
  }

  std::string out;

 private:
  const Dialect& dialect_;
  std::set<std::string, std::less<>> printed_;
};

}  // namespace

std::string helpers_for(const Dialect& dialect, std::string_view text) {
  Collector c(dialect);
  c.need(text);
  return c.out;
}

}  // namespace rlx::emit_source
