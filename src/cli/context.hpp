// What the subcommands share: how the program was called, and the one place where results and errors leave it.
#pragma once
#include <rlx/runtime/catalog.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rlx::cli {

/// Exit status: 0 done, 1 a bad input or a failed computation, 2 wrong usage.
struct Context {
  bool json = false;             ///< Exactly one JSON object on stdout, whatever happens.
  std::function<int()> command;  ///< Set by the subcommand that was named.
};

/// What CLI11 cannot see of wrong usage; exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A subcommand with --json; its callback makes `run` the command. `run` returns the exit status and may throw.
CLI::App* add_command(CLI::App& app, Context& context, std::string name, std::string what, std::function<int()> run);

// Each adds one subcommand, defined in the file of its name.
void add_solve(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_ops(CLI::App& app, Context& context);
void add_devices(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_conformance(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_splat(CLI::App& app, Context& context);

/// Every operator and record of the families that the program links. Made once.
const runtime::Catalog& catalog();

/// "key=value"; UsageError, which names the option, without '=' or with an empty side.
std::pair<std::string, std::string> key_value(const std::string& text, std::string_view what,
                                              std::string_view option = {});

}  // namespace rlx::cli
