#include "compile/emit_source/emit.hpp"

#include "compile/emit_source/body.hpp"
#include "compile/emit_source/expand.hpp"
#include "compile/emit_source/geometry.hpp"
#include "compile/emit_source/helpers.hpp"
#include "compile/emit_source/words.hpp"

#include <rlx/ir/op.hpp>

namespace rlx::emit_source {
namespace {

struct Signature {
  std::string parameters;
  std::vector<std::string> binds;
};

Signature signature(const Graph& g, const Dialect& dialect, const Node& n) {
  Signature s;
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    const Element& e = element_of(dialect, n, g.tensor_type(n.operands[i]).dtype);
    const std::string k = std::to_string(i), pointer = "p" + k;
    if (i) s.parameters += dialect.separator;
    expand_to(s.parameters, dialect.parameter, {{'k', k}, {'M', e.memory}});
    if (!dialect.bind.empty()) s.binds.push_back(expand(dialect.bind, {{'k', k}, {'M', e.memory}, {'p', pointer}}));
  }
  return s;
}

EmittedKernel emit_kernel(const Graph& g, const Dialect& dialect, NodeId id, std::vector<lir::CheckAttrs>& checks,
                          std::string& out) {
  const Node& n = g.node(id);
  const auto& attrs = n.attrs.as<lir::KernelAttrs>();
  const bool team = attrs.policy == lir::Policy::team;
  const IndexSpace space = index_space(attrs, dialect);
  Signature parameters = signature(g, dialect, n);

  BodyPrinter body(g, dialect, team, checks);
  body.declare_locals(n.regions[0]);
  for (const std::string& line : parameters.binds) body.statement(line);
  const std::vector<ValueId>& arguments = g.region(n.regions[0]).arguments;
  for (std::size_t i = 0; i < space.names.size(); ++i) body.name_index(arguments[i], space.names[i]);
  for (std::size_t i = 0; i < n.operands.size(); ++i)
    body.name_buffer(arguments[space.names.size() + i], "p" + std::to_string(i));
  EmittedKernel kernel{"k_" + attrs.name, id, n.operands.size(), space.geometry, {}, false};
  const auto hand_over = [&](std::int64_t value, std::string_view name) {
    const std::string k = std::to_string(kernel.sizes.size());
    if (dialect.size_parameter.empty() && dialect.size_bind.empty())
      refuse(dialect, n, "way to hand a number over at a launch");
    if (!dialect.size_bind.empty()) body.statement(expand(dialect.size_bind, {{'v', name}, {'k', k}}));
    if (!dialect.size_parameter.empty()) {
      if (!parameters.parameters.empty()) parameters.parameters += dialect.separator;
      expand_to(parameters.parameters, dialect.size_parameter, {{'v', name}, {'k', k}});
    }
    kernel.sizes.push_back(value);
  };
  if (space.limit) hand_over(*space.limit, limit_name);
  for (const std::string& line : space.prologue) body.statement(line);
  int next = 1;
  for (NodeId size : lir::sizes(g, n)) {
    const std::string name = "s" + std::to_string(next++);
    hand_over(g.node(size).attrs.as<lir::SizeAttrs>().value, name);
    body.name_index(g.node(size).results[0], name);
  }
  body.region(n.regions[0]);

  if (body.has_checks()) {
    if (!parameters.parameters.empty()) parameters.parameters += dialect.separator;
    parameters.parameters += dialect.check_parameter;
  }
  kernel.checks = body.has_checks();
  expand_to(out, dialect.kernel,
            {{'n', kernel.name},
             {'a', parameters.parameters},
             {'x', std::to_string(space.geometry.threads[0])},
             {'y', std::to_string(space.geometry.threads[1])},
             {'z', std::to_string(space.geometry.threads[2])}});
  ((out += '\n') += body.text()) += dialect.kernel_end;
  out += "\n\n";
  return kernel;
}

}  // namespace

EmittedProgram emit(const Graph& program_graph, const Dialect& dialect) {
  EmittedProgram program;
  std::string kernels;
  for (NodeId id : lir::kernels(program_graph))
    program.kernels.push_back(emit_kernel(program_graph, dialect, id, program.checks, kernels));
  program.text = std::string(dialect.preamble) + in_language(dialect, helpers_for(dialect, kernels) + kernels);
  return program;
}

}  // namespace rlx::emit_source
