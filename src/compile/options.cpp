// Names of preferences, and what the environment says of compilation.
#include <rlx/compile/compile.hpp>

#include <array>
#include <cstdlib>

namespace rlx {

std::string_view name(Preference p) {
  static constexpr std::array<std::string_view, 3> names{"prefer-native", "force-common", "force-native"};
  return names[static_cast<std::size_t>(p)];
}

std::optional<Preference> parse_preference(std::string_view text) {
  for (const Preference p : {Preference::native, Preference::force_common, Preference::force_native})
    if (text == name(p)) return p;
  return {};
}

CompileOptions options_from_environment(CompileOptions o) {
  const auto flag = [](const char* name, bool& value) {
    const char* text = std::getenv(name);
    if (!text || !*text) return;
    const std::string_view given = text;
    if (given != "0" && given != "1") throw ArgumentError(std::string(name) + " is \"" + text + "\", expected 0 or 1");
    value = given == "1";
  };
  if (const char* text = std::getenv("RLX_POLICY"); text && *text) {
    const std::optional<Preference> p = parse_preference(text);
    if (!p)
      throw ArgumentError(std::string("RLX_POLICY is \"") + text + "\", expected " + std::string(preference_names));
    o.preference = *p;
  }
  flag("RLX_REPRODUCIBLE", o.reproducible);
  flag("RLX_CHECKED", o.checked);
  flag("RLX_CHECK_NUMERICS", o.check_numerics);
  return o;
}

}  // namespace rlx
