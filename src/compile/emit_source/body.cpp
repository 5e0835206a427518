#include "compile/emit_source/body.hpp"

#include "compile/emit_source/expand.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>

#include <algorithm>

namespace rlx::emit_source {

const std::string& BodyPrinter::name(ValueId v) const {
  const auto it = names_.find(v);
  if (it == names_.end()) throw InternalError("a kernel body uses value %" + std::to_string(v) + " from outside");
  return it->second;
}

std::vector<std::string> BodyPrinter::names_of(const std::vector<ValueId>& values) const {
  std::vector<std::string> out;
  for (ValueId v : values) out.push_back(name(v));
  return out;
}

const BodyPrinter::Buffer& BodyPrinter::buffer(const Node& n, ValueId v) const {
  const auto it = buffers_.find(v);
  if (it == buffers_.end()) refuse(dialect_, n, "way to reach a buffer that is not an argument of the kernel");
  return it->second;
}

const Element& BodyPrinter::element(const Node& n, ValueId v) const {
  return element_of(dialect_, n, graph_.tensor_type(v).dtype);
}

void BodyPrinter::define(const Node& n, ValueId v, std::string_view expression) {
  const std::string name = fresh();
  statement(expand(dialect_.define, {{'T', element(n, v).value}, {'v', name}, {'0', expression}}));
  names_[v] = name;
}

void BodyPrinter::declare_locals(RegionId region) {
  for (NodeId id : graph_.region(region).nodes) {
    const Node& n = graph_.node(id);
    for (RegionId r : n.regions) declare_locals(r);
    if (n.op->name() != "lir.local") continue;
    if (!team_ || dialect_.local_array.empty()) refuse(dialect_, n, "local memory outside the team policy");
    const TensorType& t = graph_.tensor_type(n.results[0]);
    const std::string pointer = "l" + std::to_string(buffers_.size());
    // Packed elements share the memory element; none is empty, since languages have no arrays of size 0.
    const std::int64_t count = t.dtype == DType::i4 ? byte_size(t.dtype, t.numel().constant()) : t.numel().constant();
    const std::string size = std::to_string(std::max<std::int64_t>(count, 1));
    statement(
        expand(dialect_.local_array, {{'M', element_of(dialect_, n, t.dtype).memory}, {'p', pointer}, {'n', size}}));
    buffers_[n.results[0]] = {pointer, true};
  }
}

void BodyPrinter::region(RegionId region) {
  for (NodeId id : graph_.region(region).nodes) node(graph_.node(id));
}

void BodyPrinter::node(const Node& n) {
  const std::string_view op = n.op->name();
  if (op == "lir.load") return load(n);
  if (op == "lir.store") return store(n);
  if (op == "lir.for") return loop(n);
  if (op == "lir.reduce") return reduce(n);
  if (op == "lir.if_then") return branch(n);
  if (op == "lir.check") return check(n);
  if (op == "lir.local" || op == "lir.size") return;  // Declared and named before.
  if (op == "lir.barrier") {
    if (!team_ || dialect_.barrier.empty()) refuse(dialect_, n, "barrier outside the team policy");
    return statement(std::string(dialect_.barrier));
  }
  if (!n.op->has_trait(Trait::elementwise) && !n.op->has_trait(Trait::constant))
    refuse(dialect_, n, "spelling of it in a kernel body");
  define(n, n.results[0], scalar_expression(dialect_, graph_, n, names_of(n.operands)));
}

void BodyPrinter::load(const Node& n) {
  const Buffer& b = buffer(n, n.operands[0]);
  const Element& e = element(n, n.operands[0]);
  define(n, n.results[0],
         expand(e.load, {{'p', b.pointer},
                         {'i', name(n.operands[1])},
                         {'A', b.local ? dialect_.local_space : dialect_.global_space},
                         {'D', rlx::name(e.dtype)}}));
}

void BodyPrinter::store(const Node& n) {
  const Buffer& b = buffer(n, n.operands[0]);
  const Element& e = element(n, n.operands[0]);
  const std::string_view text = b.local && !e.stored_in_local ? "" : e.store;
  if (text.empty()) refuse(dialect_, n, "store of " + std::string(rlx::name(e.dtype)) + " without a race");
  statement(expand(text, {{'p', b.pointer},
                          {'i', name(n.operands[1])},
                          {'0', name(n.operands[2])},
                          {'A', b.local ? dialect_.local_space : dialect_.global_space},
                          {'D', rlx::name(e.dtype)}}));
}

std::vector<std::string> BodyPrinter::carry(const Node& n, std::size_t first) {
  std::vector<std::string> variables;
  for (std::size_t i = first; i < n.operands.size(); ++i) {
    variables.push_back(fresh());
    statement(expand(dialect_.define_mutable,
                     {{'T', element(n, n.operands[i]).value}, {'v', variables.back()}, {'0', name(n.operands[i])}}));
  }
  return variables;
}

void BodyPrinter::open_loop(const Node& n, ValueId index, std::int64_t step) {
  names_[index] = fresh();
  const Element& e = element(n, index);
  statement(expand(dialect_.loop, {{'T', e.value},
                                   {'v', names_[index]},
                                   {'0', name(n.operands[0])},
                                   {'1', name(n.operands[1])},
                                   {'s', std::to_string(step) + std::string(e.suffix)}}));
  ++depth_;
}

void BodyPrinter::assign(const Node& n, const std::vector<std::string>& variables,
                         const std::vector<ValueId>& results) {
  std::vector<std::string> from = names_of(results);
  // A result that is itself a carried variable must be read before that variable gets its new value.
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto other = std::find(variables.begin(), variables.end(), from[i]);
    if (other == variables.end() || other == variables.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    const std::string copy = fresh();
    statement(expand(dialect_.define, {{'T', element(n, results[i]).value}, {'v', copy}, {'0', from[i]}}));
    from[i] = copy;
  }
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != variables[i]) statement(expand(dialect_.assign, {{'v', variables[i]}, {'0', from[i]}}));
}

void BodyPrinter::close() {
  --depth_;
  statement(std::string(dialect_.end));
}

void BodyPrinter::loop(const Node& n) {
  const std::vector<std::string> carried = carry(n, 2);
  const Region& body = graph_.region(n.regions[0]);
  open_loop(n, body.arguments[0], n.attrs.as<lir::ForAttrs>().step);
  for (std::size_t i = 0; i < carried.size(); ++i) names_[body.arguments[i + 1]] = carried[i];
  region(n.regions[0]);
  assign(n, carried, body.results);
  close();
  for (std::size_t i = 0; i < carried.size(); ++i) names_[n.results[i]] = carried[i];
}

void BodyPrinter::reduce(const Node& n) {
  const std::vector<std::string> sums = carry(n, 2);
  const Region& term = graph_.region(n.regions[0]);
  const Region& combine = graph_.region(n.regions[1]);
  open_loop(n, term.arguments[0], 1);
  region(n.regions[0]);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    names_[combine.arguments[i]] = sums[i];
    names_[combine.arguments[sums.size() + i]] = name(term.results[i]);
  }
  region(n.regions[1]);
  assign(n, sums, combine.results);
  close();
  for (std::size_t i = 0; i < sums.size(); ++i) names_[n.results[i]] = sums[i];
}

void BodyPrinter::branch(const Node& n) {
  std::vector<std::string> results;
  for (ValueId v : n.results) {
    results.push_back(fresh());
    statement(expand(dialect_.declare, {{'T', element(n, v).value}, {'v', results.back()}}));
  }
  statement(expand(dialect_.branch, {{'0', name(n.operands[0])}}));
  ++depth_;
  region(n.regions[0]);
  assign(n, results, graph_.region(n.regions[0]).results);
  --depth_;
  if (!results.empty() || !graph_.region(n.regions[1]).nodes.empty()) {
    statement(std::string(dialect_.otherwise));
    ++depth_;
    region(n.regions[1]);
    assign(n, results, graph_.region(n.regions[1]).results);
    --depth_;
  }
  statement(std::string(dialect_.end));
  for (std::size_t i = 0; i < results.size(); ++i) names_[n.results[i]] = results[i];
}

void BodyPrinter::check(const Node& n) {
  if (dialect_.check.empty()) refuse(dialect_, n, "checked mode");
  checks_.push_back(n.attrs.as<lir::CheckAttrs>());
  has_checks_ = true;
  statement(expand(dialect_.check,
                   {{'0', name(n.operands[0])}, {'1', name(n.operands[1])}, {'k', std::to_string(checks_.size())}}));
}

}  // namespace rlx::emit_source
