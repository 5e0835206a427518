#include "compile/choose_path.hpp"

#include <rlx/ir/op.hpp>

#include <algorithm>
#include <utility>

namespace rlx::compile {

// Whether the target, and the passes there are, do with what the record wants besides.
static Answer target_takes(const Target& t, const KernelRecord& r, const Instance& i) {
  if (std::holds_alternative<Emit>(r.action.value))
    return Answer::no("emits into a graph, which " + t.device + " does not take");
  const std::size_t operands = i.signature.size();
  for (std::size_t k = 0; k < std::min(r.layouts.size(), operands + i.results.size()); ++k) {
    const auto* plain = std::get_if<TensorType>(k < operands ? &i.signature.types[k] : &i.results[k - operands]);
    if (!r.layouts[k] || !plain) continue;
    TensorType wanted = *plain;
    wanted.layout = r.layouts[k];
    return Answer::no(
        (k < operands ? "wants operand " + std::to_string(k) : "leaves result " + std::to_string(k - operands)) +
        " as " + to_string(wanted) + ", and no pass makes layouts");
  }
  if (t.heap) return true;
  if (r.workspace && r.workspace(i) > 0) return Answer::no("wants a workspace, and " + t.device + " has no heap");
  for (const Type& made : i.results)
    if (std::holds_alternative<ResourceType>(made))
      return Answer::no("makes " + to_string(made) + ", and " + t.device + " has no heap");
  return true;
}

Preference Chooser::preference(std::string_view op) const {
  const auto it = options_.per_operator.find(op);
  return it == options_.per_operator.end() ? options_.preference : it->second;
}

Choice Chooser::operator()(const Instance& i, int depth) const {
  Choice c;
  const std::string_view op = i.op->name();
  const Preference want = preference(op);
  if (native(i, want, c)) return c;
  const auto try_rules = [&](bool preferred) {
    for (const RewriteRule* r : rewrite_rules()) {
      if (r->op != op || r->prefer != preferred) continue;
      const Answer a = r->applies(i);
      if (!a.is_no()) {
        c.rule = r;
        c.path = Path::rewritten;
        return true;
      }
      c.refusals.push_back({"rewritten", std::string(r->name) + ": " + a.why});
    }
    return false;
  };
  if (try_rules(true)) return c;
  if (i.op->meaning() == Meaning::composite) {
    if (want != Preference::force_native || depth > 0) {
      c.path = Path::common;
      return c;
    }
    c.refusals.push_back({"common", "policy force-native"});
  } else {
    c.refusals.push_back({"common", std::string(op) + (i.op->is_primitive() ? " is a primitive: it has no decomposition"
                                                                            : " is Extern: no decomposition")});
  }
  if (try_rules(false)) return c;
  if (std::none_of(c.refusals.begin(), c.refusals.end(), [](const Refusal& r) { return r.path == "rewritten"; }))
    c.refusals.push_back({"rewritten", "no rule matches"});
  return c;
}

bool Chooser::native(const Instance& i, Preference want, Choice& c) const {
  bool any = false;
  double best = 0;
  for (const KernelRecord& r : records_) {
    if (r.op.value != i.op->name()) continue;
    any = true;
    if (want == Preference::force_common) {
      c.refusals.push_back({"native", std::string(r.name.value) + ": policy force-common", std::string(r.where)});
      continue;
    }
    const Answer a = accepts(r, i);
    if (a.is_no()) {
      c.refusals.push_back({"native", std::string(r.name.value) + ": " + a.why, std::string(r.where)});
      continue;
    }
    const double cost = r.cost ? r.cost(i) : 0;
    if (!c.record || (r.cost && cost < best)) c.record = &r, best = cost;
  }
  if (c.record) {
    c.path = Path::native;
    return true;
  }
  // What introduces a size is decomposed when the size is known.
  if (target_.interprets() && (i.op->meaning() != Meaning::composite || !i.op->introduces(*i.attrs).empty())) {
    c.path = Path::native;
    return true;
  }
  if (i.op->is_primitive()) {
    const Answer a = can_generate(i);
    if (!a.is_no()) {
      c.path = Path::native;
      return true;
    }
    c.refusals.push_back({"native", a.why});
  } else if (!any) {
    std::string why = "no record of " + target_.device + " for " + std::string(i.op->name());
    for (const Type& t : i.signature.types)
      if (const auto* r = std::get_if<ResourceType>(&t); r && r->kind == "communicator")
        why += ": communicators belong to a transport, and this build has none";
    c.refusals.push_back({"native", std::move(why)});
  }
  return false;
}

Answer Chooser::accepts(const KernelRecord& r, const Instance& i) const {
  if (options_.reproducible && !r.deterministic) return Answer::no("not deterministic (policy reproducible)");
  for (std::size_t k = 0; k < i.signature.size() && !r.dtypes.empty(); ++k) {
    const DTypeSet allowed = r.dtypes[std::min(k, r.dtypes.size() - 1)];
    DType t = DType::f64;
    if (const auto* x = std::get_if<TensorType>(&i.signature.types[k])) t = x->dtype;
    else if (const auto* s = std::get_if<SparseType>(&i.signature.types[k])) t = s->dtype;
    else if (const auto* q = std::get_if<ResourceType>(&i.signature.types[k])) t = q->dtype;
    else continue;
    if (!allowed.contains(t)) return Answer::no("dtype " + std::string(name(t)) + " not in " + allowed.to_string());
  }
  Answer a = r.accepts ? r.accepts(i) : Answer(true);
  return a.is_no() ? a : std::move(a) && target_takes(target_, r, i);
}

}  // namespace rlx::compile
