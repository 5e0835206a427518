// rlx conformance: runs the cases that the operators' definitions make, on one device.
#include "compile_flags.hpp"
#include "context.hpp"
#include "json_output.hpp"
#include "progress.hpp"

#include <rlx/conformance.hpp>

#include <iostream>
#include <memory>

namespace rlx::cli {

namespace {

struct Conformance {
  Context& context;
  CompileFlags flags{};
  std::string filter{};
  bool full = false;

  /// Status 1 where a case failed; refusals by contract are no failure.
  int run() const {
    auto progress = std::make_unique<Progress>();
    conformance::Options options{.device = flags.device, .filter = filter, .full = full, .compile = flags.options()};
    options.compile.checked = false;  // Samples with indices out of range check what those mean.
    options.progress = [&](const conformance::Progress& p) {
      progress->stage("conformance on " + flags.device + ": " + std::to_string(p.done) + " of " +
                      std::to_string(p.total) + " operators, " + std::string(p.op));
    };
    const conformance::Summary summary = conformance::run(catalog(), options);
    progress.reset();
    if (context.json) print_json(nlohmann::json::parse(summary.to_json()));
    else std::cout << summary.to_table();
    return summary.counts.failed ? 1 : 0;
  }
};

}  // namespace

void add_conformance(CLI::App& app, Context& context) {
  auto s = std::make_shared<Conformance>(Conformance{context});
  CLI::App* c = add_command(app, context, "conformance", "Runs the cases that prove every operator, on one device.",
                            [s] { return s->run(); });
  c->add_option("filter", s->filter, "only operators whose name contains it, or the one of that name");
  c->add_flag("--full", s->full, "also the cases that take long");
  s->flags.add_to(*c, false);
}

}  // namespace rlx::cli
