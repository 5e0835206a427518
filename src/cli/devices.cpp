// rlx devices: what this build can run on, here, and what that proves.
#include "context.hpp"
#include "json_output.hpp"

#include <rlx/linalg/linalg.hpp>
#include <rlx/runtime/backends.hpp>

#include <iostream>

namespace rlx::cli {

static int list_devices(const Context& context) {
  nlohmann::json list = nlohmann::json::array();
  for (const runtime::BackendEntry* b : runtime::backends()) {
    const runtime::Availability a = b->availability();
    list.push_back(
        {{"name", b->name}, {"available", a.available}, {"looked_for", a.looked_for}, {"proves", b->proves}});
  }
  const linalg::Plugin p = linalg::direct_solvers();
  if (context.json) {
    print_json({{"devices", list}, {"plugins", plugins_json()}});
    return 0;
  }
  for (const auto& d : list) {
    const auto name = d["name"].get<std::string>();
    std::cout << name << std::string(name.size() < 12 ? 12 - name.size() : 1, ' ')
              << (d["available"].get<bool>() ? "available      " : "not available  ")
              << d["looked_for"].get<std::string>() << "\n"
              << std::string(12, ' ') << d["proves"].get<std::string>() << "\n";
  }
  std::cout << "\n"
            << p.name << ": "
            << (p.loaded ? p.versions + " (" + p.path + ")" : "not there; rlx doctor says where it was looked for")
            << "\n";
  return 0;
}

void add_devices(CLI::App& app, Context& context) {
  add_command(app, context, "devices", "Lists the devices of this build: whether each is there, and what runs it.",
              [&context] { return list_devices(context); });
}

}  // namespace rlx::cli
