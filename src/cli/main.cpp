// The rlx program: errors become messages and exit statuses here, and nowhere else.
#include "context.hpp"
#include "json_output.hpp"

#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>
#include <string_view>

using namespace rlx;
using namespace rlx::cli;

static int failed(const Context& context, const std::exception& error, int status) {
  if (context.json) print_json(error_json(error));
  const auto* known = dynamic_cast<const Error*>(&error);
  std::cerr << "rlx: " << (known ? known->type() + ": " : "") << error.what() << "\n";
  return status;
}

int main(int argc, char** argv) {
  Context context;
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
#ifdef RLX_HAS_CONFORMANCE
  add_conformance(app, context);
#endif
  add_bench(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    // Parsing may have stopped before it came to the flag.
    context.json = context.json ||
                   std::any_of(argv + 1, argv + argc, [](const char* a) { return std::string_view(a) == "--json"; });
    const int status = failed(context, UsageError(e.what()), 2);
    std::cerr << "Run rlx --help, or rlx COMMAND --help.\n";
    return status;
  }
  try {
    const int status = context.command();
    // What was printed may be the only copy of a result: a full disk or a closed pipe is a failure.
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) {
      std::cerr << "rlx: the output could not be written\n";
      return 1;
    }
    return status;
  } catch (const UsageError& e) { return failed(context, e, 2); } catch (const std::exception& e) {
    return failed(context, e, 1);
  }
}
