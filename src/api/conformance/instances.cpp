#include "api/conformance/checks.hpp"
#include "api/conformance/claims.hpp"
#include "api/conformance/fill.hpp"
#include "api/conformance/resources.hpp"
#include "api/conformance/retype.hpp"
#include "api/conformance/rungs.hpp"

#include <algorithm>
#include <utility>

namespace rlx::conformance {

namespace {

std::string dtype_of(const Type& t) {
  const auto element = element_type(t);
  return element ? std::string(name(*element)) : "token";
}

}  // namespace

Instance instance_of(const Op& op, std::size_t index, AnySample sample, const Registry& registry, std::string tail) {
  Instance i{&op, index, std::move(tail), std::move(sample), {}, Graph(std::string(op.name())), -1, {}, {}};
  Builder b(i.graph, registry);
  Emitted emitted = emit_sample(b, op, i.sample);
  i.at = emitted.node;
  i.inputs = std::move(emitted.inputs);
  for (std::size_t k = 0; k < emitted.outputs.size(); ++k) b.output(emitted.outputs[k], "y" + std::to_string(k));
  const Node& node = i.node();
  const std::size_t at = determining_operand(op).value_or(0);
  const std::vector<ValueId>& of = at < node.operands.size() ? node.operands : node.results;
  i.dtype = of.empty() ? "none" : dtype_of(i.graph.type(of[at < node.operands.size() ? at : 0]));
  for (std::size_t k = 0; k < i.inputs.size(); ++k) i.in.push_back(filled(i.inputs[k], seed_of(op.name(), index, k)));
  return i;
}

CaseOf case_of(const Instance& i, std::string_view kind, std::string_view device, std::string path) {
  return {*i.op, kind, device, i.dtype, i.tail, std::move(path)};
}

std::string text_of(const std::exception& e) {
  const auto* known = dynamic_cast<const Error*>(&e);
  std::string text = (known ? known->type() + ": " : "exception: ") + e.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void Collector::add(const CaseOf& c, Outcome o, std::string reason) {
  std::string name = "ops." + std::string(c.op.name()) + "." + std::string(c.kind) + "." + std::string(c.device);
  for (const std::string& part : {c.dtype, c.tail, c.path})
    if (!part.empty()) name += "." + part;
  summary_.cases.push_back({std::move(name), std::string(c.op.name()), c.dtype, std::string(c.kind),
                            std::string(rung_of(c.op)), c.path, o, std::move(reason)});
}

void Collector::add_plain(std::string name, std::string kind, std::string_view rung, std::string why) {
  const Outcome o = why.empty() ? Outcome::passed : Outcome::failed;
  summary_.cases.push_back({std::move(name), {}, {}, std::move(kind), std::string(rung), {}, o, std::move(why)});
}

void Collector::rule_refused(const CaseOf& c, std::string_view rule, Op::RuleInfo info, const VerifyError& e) {
  if (e.constraint() != rule) throw e;
  if (info.kind == RuleKind::never && e.op() == c.op.name()) skip(std::string(rule) + ": the rule is Never");
  else add(c, Outcome::refused, e.what());
}

std::vector<Instance> instances_of(const Op& op, const Target& target, Forms forms, Collector& out) {
  std::vector<Instance> instances;
  std::size_t index = 0;
  for (AnySample& s : op.samples()) {
    const std::size_t at = index++;
    if (!s.breaks.empty()) continue;
    std::string why;
    for (const SampleOperand& o : s.in) {
      if (const auto no = cannot_fill(o, out.registry()); no && why.empty()) why = *no;
      if (is_lone_communicator(o.type) && !target.interprets() && why.empty()) why = "a communicator: no transport";
    }
    if (!why.empty()) {
      out.skip(why);
      continue;
    }
    const std::string tail = std::to_string(at);
    out.guarded({op, "value", out.device(), {}, tail},
                [&] { instances.push_back(instance_of(op, at, std::move(s), out.registry(), tail)); });
  }
  if (instances.empty()) out.skip("value: no sample of " + std::string(op.name()) + " has values");
  add_claimed(op, index, target.storage, forms, instances, out);
  return instances;
}

std::vector<Expected> expected_of(std::span<const Instance> instances, std::string_view device, Collector& out) {
  std::vector<Expected> all;
  for (const Instance& i : instances)
    out.guarded(case_of(i, "value", device), [&] { all.push_back({&i, evaluate(i.graph, out.registry(), i.in)}); });
  return all;
}

}  // namespace rlx::conformance
