// Names of preferences, and what the environment says of compilation.
#include <rlx/compile/compile.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

namespace rlx {

// Here and not in the header, where it would be what each file that includes it is compiled with.
bool checked_by_default() {
#ifdef RLX_CHECKED_BY_DEFAULT
  return true;
#else
  return false;
#endif
}

std::string_view name(Preference p) {
  static constexpr std::array<std::string_view, 3> names{"prefer-native", "force-common", "force-native"};
  return names[static_cast<std::size_t>(p)];
}

std::optional<Preference> parse_preference(std::string_view text) {
  for (const Preference p : {Preference::native, Preference::force_common, Preference::force_native})
    if (text == name(p)) return p;
  return {};
}

// "force-common,softmax=prefer-native": a preference, and other ones for operators.
static void read_policy(std::string_view text, CompileOptions& o) {
  std::set<std::string, std::less<>> given;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    const std::string op(equals == item.npos ? "" : item.substr(0, equals));
    const std::optional<Preference> p = parse_preference(equals == item.npos ? item : item.substr(equals + 1));
    if (!p || equals == 0)
      throw ArgumentError("RLX_POLICY holds \"" + std::string(item) + "\", expected " + std::string(preference_names) +
                          ", or OPERATOR= and one of them, with commas between");
    if (!given.insert(op).second)
      throw ArgumentError("RLX_POLICY says twice what holds for " + (op.empty() ? "all operators" : op));
    if (op.empty()) o.preference = *p;
    else o.per_operator.insert_or_assign(op, *p);
  }
}

CompileOptions options_from_environment(CompileOptions o) {
  const auto flag = [](const char* name, bool& value) {
    const char* text = std::getenv(name);
    if (!text || !*text) return;
    const std::string_view given = text;
    if (given != "0" && given != "1") throw ArgumentError(std::string(name) + " is \"" + text + "\", expected 0 or 1");
    value = given == "1";
  };
  if (const char* text = std::getenv("RLX_POLICY"); text && *text) read_policy(text, o);
  flag("RLX_REPRODUCIBLE", o.reproducible);
  flag("RLX_CHECKED", o.checked);
  flag("RLX_RECOGNISE", o.recognise);
  flag("RLX_CHECK_NUMERICS", o.check_numerics);
  return o;
}

}  // namespace rlx
