#include <rlx/transform/vjp.hpp>

#include <rlx/ops/build.hpp>
#include <rlx/transform/simplify.hpp>

#include "transform/order_effects.hpp"
#include "transform/tape.hpp"

namespace rlx::transform {
namespace {

/// `m` checked against the values it speaks of; empty: all that have tangents.
Mask complete(const Graph& f, Mask m, const std::vector<ValueId>& values, const std::vector<std::string>& names,
              const std::string& what) {
  if (m.empty())
    for (ValueId v : values) m.push_back(has_tangent(f.type(v)));
  if (m.size() != values.size())
    throw ArgumentError(f.name + ": " + std::to_string(m.size()) + " flags for " + std::to_string(values.size()) + " " +
                        what + "s");
  for (std::size_t i = 0; i < m.size(); ++i)
    if (m[i] && !has_tangent(f.type(values[i])))
      throw ArgumentError(f.name + ": " + what + " \"" + names[i] + "\" is " + to_string(f.type(values[i])) +
                          ", which has no cotangent");
  return m;
}

Values inputs_of(Builder& b, const Graph& f) {
  Values in;
  for (std::size_t i = 0; i < f.inputs().size(); ++i) in.push_back(b.input(f.type(f.inputs()[i]), f.input_names[i]));
  return in;
}

/// f's outputs, then what its wanted inputs get.
Graph finished(Builder& b, const Graph& f, const Registry& registry, bool with_outputs, ValuesIn results, ValuesIn in,
               ValuesIn pulled, const Mask& wanted, const std::string& prefix) {
  std::vector<std::string> taken;
  if (with_outputs)
    for (std::size_t i = 0; i < results.size(); ++i) b.output(results[i], unique_name(f.output_names[i], taken));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) b.output(instantiated(pulled[i], in[i]), unique_name(prefix + f.input_names[i], taken));
  order_effects(b.graph());
  return simplify(b.graph(), registry);
}

}  // namespace

Graph vjp(const Graph& f, const Registry& registry, const VjpOptions& options) {
  const Mask wanted = complete(f, options.wanted, f.inputs(), f.input_names, "input");
  const Mask given = complete(f, options.cotangents, f.outputs(), f.output_names, "output");
  Graph out(f.name + "_vjp");
  out.symbols = f.symbols;
  Builder b(out, registry);
  const Values in = inputs_of(b, f);
  std::vector<std::string> taken = f.input_names;
  Values cotangents(given.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i]) cotangents[i] = b.input(f.type(f.outputs()[i]), unique_name("ct_" + f.output_names[i], taken));
  Tape tape(b, f, Graph::top, in, wanted, given);
  return finished(b, f, registry, options.with_outputs, tape.results(), in, tape.pull(cotangents), wanted, "ct_");
}

Graph grad(const Graph& f, const Registry& registry, const GradOptions& options) {
  const Mask wanted = complete(f, options.wanted, f.inputs(), f.input_names, "input");
  const auto* loss = f.outputs().empty() ? nullptr : std::get_if<TensorType>(&f.type(f.outputs()[0]));
  if (!loss || !loss->is_scalar() || !is_floating(loss->dtype) || loss->quantization)
    throw ArgumentError(f.name + ": its gradient needs a first output that is a real scalar" +
                        (f.outputs().empty() ? "" : ", not " + to_string(f.type(f.outputs()[0]))));
  Graph out(f.name + "_grad");
  out.symbols = f.symbols;
  Builder b(out, registry);
  const Values in = inputs_of(b, f);
  Mask useful(f.outputs().size(), false);
  useful[0] = true;
  Tape tape(b, f, Graph::top, in, wanted, useful);
  Values cotangents(useful.size());
  cotangents[0] = ops::scalar(b, loss->dtype, 1);
  return finished(b, f, registry, options.with_value, tape.results(), in, tape.pull(cotangents), wanted, "grad_");
}

}  // namespace rlx::transform
