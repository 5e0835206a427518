// Derivatives and batches of traced functions. Captures are operands like the arguments, but are held fixed: an outer
// transform sees them as its own values.
#include "api/trace.hpp"

#include <rlx/transform/jvp.hpp>
#include <rlx/transform/vjp.hpp>
#include <rlx/transform/vmap.hpp>

namespace rlx::detail {

namespace {

template <class F>
Graph transformed(const F& f) {
  const CatalogLock lock(catalog_mutex());
  return f(default_catalog().operators);
}

std::vector<bool> differentiable_outputs(const Frame& f) {
  std::vector<bool> out;
  for (ValueId v : f.graph.outputs()) out.push_back(differentiable(f.graph.type(v)));
  return out;
}

/// One flag an input of f's graph: captures get none.
std::vector<bool> differentiable_arguments(const Frame& f, std::size_t arguments) {
  std::vector<bool> out(f.graph.inputs().size(), false);
  for (std::size_t i = 0; i < arguments; ++i) out[i] = differentiable(f.graph.type(f.graph.inputs()[i]));
  return out;
}

void require_types(const Handles& given, const Types& wanted, const std::string& what) {
  if (given.size() != wanted.size())
    throw ArgumentError(std::to_string(given.size()) + " " + what + "s given, expected " +
                        std::to_string(wanted.size()));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (differentiable(wanted[i]) && given[i].type() != wanted[i])
      throw ArgumentError(what + " " + std::to_string(i) + " is " + to_string(given[i].type()) + ", expected " +
                          to_string(wanted[i]));
}

}  // namespace

Handles apply(const Frame& f, const Handles& arguments) { return apply_graph(f.graph, f.operands(arguments)); }

Handles apply_grad(const Frame& f, const Handles& arguments, const std::vector<bool>& wanted) {
  transform::GradOptions o;
  o.wanted = wanted;
  o.wanted.resize(f.graph.inputs().size(), false);
  return apply_graph(transformed([&](const Registry& r) { return transform::grad(f.graph, r, o); }),
                     f.operands(arguments));
}

Handles apply_jvp(const Frame& f, const Handles& arguments, const Handles& tangents) {
  require_types(tangents, types_of(arguments), "tangent");
  transform::JvpOptions o;
  o.tangents = differentiable_arguments(f, arguments.size());
  Handles operands = f.operands(arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (o.tangents[i]) operands.push_back(tangents[i]);
  const Handles out =
      apply_graph(transformed([&](const Registry& r) { return transform::jvp(f.graph, r, o); }), operands);
  const std::vector<bool> has = differentiable_outputs(f);
  Handles all(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(has.size()));
  std::size_t next = has.size();
  for (bool h : has) all.push_back(h ? out[next++] : Handle());
  return all;
}

Handles apply_vjp(const Frame& f, const Handles& arguments, const Handles& cotangents) {
  require_types(cotangents, f.graph.types_of(f.graph.outputs()), "cotangent");
  transform::VjpOptions o;
  o.wanted = differentiable_arguments(f, arguments.size());
  o.cotangents = differentiable_outputs(f);
  o.with_outputs = false;
  Handles operands = f.operands(arguments);
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (o.cotangents[i]) operands.push_back(cotangents[i]);
  const Handles out =
      apply_graph(transformed([&](const Registry& r) { return transform::vjp(f.graph, r, o); }), operands);
  Handles all;
  std::size_t next = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) all.push_back(o.wanted[i] ? out[next++] : Handle());
  return all;
}

Members members_of(const Handles& arguments, const std::vector<int>& axes) {
  Members m{types_of(arguments), -1};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0) continue;
    auto* t = std::get_if<TensorType>(&m.types[i]);
    if (!t || axes[i] >= t->rank())
      throw ArgumentError("vmap: argument leaf " + std::to_string(i) + " is " + to_string(m.types[i]) +
                          ", which has no dimension " + std::to_string(axes[i]));
    const std::int64_t n = t->dim(axes[i]).constant();
    if (m.size >= 0 && n != m.size)
      throw ArgumentError("vmap: batches of " + std::to_string(m.size) + " and of " + std::to_string(n));
    m.size = n;
    t->shape.erase(t->shape.begin() + axes[i]);
  }
  if (m.size < 0) throw ArgumentError("vmap: no argument is batched");
  return m;
}

Handles apply_vmap(const Frame& f, const Handles& arguments, const std::vector<int>& axes, std::int64_t size,
                   int out_axis) {
  transform::VmapOptions o;
  o.in_axes = axes;
  o.in_axes.resize(f.graph.inputs().size(), -1);
  o.out_axes.assign(f.graph.outputs().size(), out_axis);
  o.size = size;
  return apply_graph(transformed([&](const Registry& r) { return transform::vmap(f.graph, r, o); }),
                     f.operands(arguments));
}

}  // namespace rlx::detail
