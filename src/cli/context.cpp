#include "context.hpp"

#include <rlx/catalog.hpp>
#include <rlx/linalg/linalg.hpp>
#include <rlx/splat/register.hpp>

namespace rlx::cli {

CLI::App* add_command(CLI::App& app, Context& context, std::string name, std::string what, std::function<int()> run) {
  CLI::App* sub = app.add_subcommand(std::move(name), std::move(what));
  sub->add_flag("--json", context.json, "print one JSON object on standard output");
  sub->callback([&context, run = std::move(run)] { context.command = run; });
  return sub;
}

const runtime::Catalog& catalog() {
  static const runtime::Catalog c = [] {
    runtime::Catalog made = make_catalog();
    linalg::add_to(made);
    splat::add_to(made);
    return made;
  }();
  return c;
}

std::pair<std::string, std::string> key_value(const std::string& text, std::string_view what, std::string_view option) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError((option.empty() ? "" : std::string(option) + ": ") + "\"" + text + "\" is not of the form " +
                     std::string(what));
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace rlx::cli
