// rlx report graph.rlx: how each node would run, without running it.
#include "compile_flags.hpp"
#include "context.hpp"
#include "graph_file.hpp"
#include "json_output.hpp"

#include <rlx/compile/compile.hpp>
#include <rlx/compile/report.hpp>
#include <rlx/runtime/backends.hpp>
#include <rlx/runtime/executable.hpp>

#include <iostream>
#include <memory>

namespace rlx::cli {

namespace {

struct Report {
  Context& context;
  CompileFlags flags{};
  std::string file{};
  std::vector<std::string> symbols{};
  bool refusals = false;
  int run() const;
};

void print_refusals(const DispatchReport& report) {
  for (const ReportRow& row : report.rows)
    for (const Refusal& f : row.refusals)
      std::cout << "  " << (row.region.empty() ? "" : row.region + " ") << row.value << " " << row.op << " not "
                << f.path << ": " << f.why << (f.where.empty() ? "" : " (" + f.where + ")") << "\n";
}

int Report::run() const {
  const Graph g = read_graph(file);
  const Bindings given = symbol_bindings(g, symbols);
  const Graph whole = given.empty() ? g : specialise(g, catalog().operators, given);
  try {
    const runtime::Executable executable(runtime::open_device(flags.device), whole, catalog(), flags.options());
    if (context.json) print_json(report_json(executable.report()));
    else {
      std::cout << executable.report().to_table();
      if (refusals) print_refusals(executable.report());
    }
    return 0;
  } catch (const CompileError& e) {
    if (!context.json) {
      std::cout << e.report().to_table();
      if (refusals) print_refusals(e.report());
    }
    throw;
  }
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto r = std::make_shared<Report>(Report{context});
  CLI::App* c = add_command(app, context, "report",
                            "Compiles a graph and shows how every node is lowered: native, common-IR or rewritten.",
                            [r] { return r->run(); });
  c->add_option("graph", r->file, "the graph in text form")->required();
  c->add_option("--symbol", r->symbols,
                "NAME=NUMBER, a symbol of the graph; others are planned for as a program that takes all their values")
      ->allow_extra_args(false);
  c->add_flag("--refusals", r->refusals, "also say why each earlier path was not taken");
  r->flags.add_to(*c);
}

}  // namespace rlx::cli
