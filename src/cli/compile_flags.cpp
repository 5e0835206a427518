#include "compile_flags.hpp"

#include "context.hpp"

#include <rlx/handle.hpp>
#include <rlx/ir/memory.hpp>
#include <rlx/runtime/backends.hpp>

#include <iostream>
#include <set>

namespace rlx::cli {

/// `given` is what the user wrote it for: "--policy".
static Preference preference(const std::string& text, const std::string& given) {
  if (const auto p = parse_preference(text)) return *p;
  throw UsageError(given + " is \"" + text + "\", expected " + std::string(preference_names));
}

/// A name that is no operator's would have no effect.
static void require_operator(const std::string& op, const std::string& given) {
  try {
    catalog().operators.get(op);
  } catch (const ArgumentError& e) { throw ArgumentError(given + ": " + e.what()); }
}

void add_device_option(CLI::App& command, std::string& device, const std::string& does) {
  device = default_device();
  command.add_option("--device", device, "device that " + does + " (rlx devices lists them)")
      ->envname("RLX_DEVICE")
      ->check([](const std::string& name) { return std::string(name.empty() ? "the name is empty" : ""); })
      ->capture_default_str();
}

void warn_of_idle_device(const std::string& device) {
  if (!runtime::open_device(device)->computes())
    std::cerr << "rlx: warning: the device " << device << " runs nothing: results are zeros\n";
}

void CompileFlags::add_to(CLI::App& command, bool checks) {
  add_device_option(command, device, "runs it");
  command.add_option("--policy", policy, std::string(preference_names) + " (default: RLX_POLICY, else prefer-native)");
  command.add_option("--override", overrides, "another policy for one operator, as OP=POLICY")->allow_extra_args(false);
  command.add_flag("--reproducible", reproducible, "refuse what does not give the same bits every time");
  command.add_flag("--exact-sizes", exact_sizes, "compile for exactly the sizes that results turn out to have");
  command.add_flag("--no-recognise", no_recognise, "take operators that are written out node by node as they stand");
  if (checks) command.add_flag("--unchecked", unchecked, "leave out the checks of indices in gather and scatter");
}

CompileOptions CompileFlags::options() const {
  available_memory();  // A malformed limit is refused here, however little will be asked of it.
  CompileOptions o;
  o.checked = true;
  o = options_from_environment(std::move(o));
  for (const auto& [op, wanted] : o.per_operator) require_operator(op, "RLX_POLICY");
  if (!policy.empty()) o.preference = preference(policy, "--policy");
  std::set<std::string> named;
  for (const std::string& text : overrides) {
    const auto [op, wanted] = key_value(text, "OP=POLICY", "--override");
    require_operator(op, "--override");
    if (!named.insert(op).second) throw UsageError("--override names " + op + " twice");
    o.per_operator.insert_or_assign(op, preference(wanted, "--override " + op));
  }
  if (reproducible) o.reproducible = true;
  if (exact_sizes) o.exact_sizes = true;
  if (no_recognise) o.recognise = false;
  if (unchecked) o.checked = false;
  return o;
}

}  // namespace rlx::cli
