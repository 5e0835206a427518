// The rlx program: errors become messages and exit statuses here, and nowhere else.
#include "address_space.hpp"
#include "context.hpp"
#include "json_output.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/runtime/cache_folder.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

using namespace rlx;
using namespace rlx::cli;

static int failed(const Context& context, const std::exception& error, int status) {
  if (context.json) print_json(error_json(error));
  const std::string type = error_type(error);
  std::cerr << "rlx: " << (type == "UsageError" ? "" : type + ": ") << error_message(error) << "\n";
  return status;
}

/// What is wrong with the command line. Of a name that is no command CLI11 says only that one is missing.
static std::string complaint(const CLI::App& app, const CLI::ParseError& e) {
  const CLI::App* at = &app;
  std::string path = app.get_name();
  while (at->get_require_subcommand_min() > 0 && !at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  const std::vector<std::string> unknown = at->remaining();
  if (at->get_require_subcommand_min() == 0 || unknown.empty()) {
    const std::size_t name = path.find(' ');
    return (name == path.npos ? "" : path.substr(name + 1) + ": ") + e.what();
  }
  std::string known;
  for (const CLI::App* command : at->get_subcommands([](const CLI::App*) { return true; }))
    known += (known.empty() ? "" : ", ") + command->get_name();
  return path + " has no " + (unknown.front().starts_with('-') ? "option" : "command") + " \"" + unknown.front() +
         "\"; its commands: " + known;
}

static int parse_and_run(Context& context, int argc, char** argv) {
  CLI::App app("Compiles and runs graphs of operators, and solves sparse systems, on any device of this build.", "rlx");
  app.set_version_flag("--version", std::string("rlx " RLX_VERSION));
  app.require_subcommand(1);
  app.footer(
      "rlx COMMAND --help tells more. Exit status: 0 done, 1 a bad input or a failed computation, 2 wrong usage.");
  add_solve(app, context);
  add_run(app, context);
  add_report(app, context);
  add_ops(app, context);
  add_devices(app, context);
  add_doctor(app, context);
  add_conformance(app, context);
  add_bench(app, context);
  add_splat(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    const int status = failed(context, UsageError(complaint(app, e)), 2);
    std::cerr << "Run rlx --help, or rlx COMMAND --help.\n";
    return status;
  }
  try {
    return context.command();
  } catch (const UsageError& e) { return failed(context, e, 2); }
}

int main(int argc, char** argv) try {
  std::signal(SIGXFSZ, SIG_IGN);  // A write beyond the limit on file sizes fails, as on a full disk.
  Context context;
  // Parsing sets it too, but may stop before it comes to the flag.
  context.json =
      std::any_of(argv + std::min(argc, 1), argv + argc, [](const char* a) { return std::string_view(a) == "--json"; });
  try {
    check_address_space();
  } catch (const MemoryError& e) {
    const int status = failed(context, e, 1);
    std::cout.flush();
    ::_exit(status);
  }
  int status = 1;
  try {
    status = parse_and_run(context, argc, argv);
  } catch (const std::exception& e) { status = failed(context, e, 1); }
  if (const std::string failure = runtime::cache_failure(); !failure.empty())
    std::cerr << "rlx: warning: " << failure << "\n";
  // What was printed may be the only copy of a result: a full disk or a closed pipe is a failure.
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout)) {  // ferror: of an earlier flush
    std::cerr << "rlx: the output could not be written\n";
    return 1;
  }
  return status;
} catch (...) {
  std::fputs("rlx: not even the error could be reported\n", stderr);  // memory ran out on the way
  return 1;
}
