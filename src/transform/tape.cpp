#include "transform/tape.hpp"

#include "ir/within.hpp"

namespace rlx::transform {

Tape::Tape(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Mask& varied, const Mask& useful,
           int depth)
    : b_(b),
      g_(g),
      region_(r),
      depth_(depth),
      varied_(reached(g, r, varied, Along::tangents)),
      useful_(needed(g, r, useful)) {
  const Region& region = g.region(r);
  for (std::size_t i = 0; i < arguments.size(); ++i) values_[region.arguments[i]] = arguments[i];
  for (NodeId id : region.nodes) {
    const Node& n = g.node(id);
    const Values out = located(b_, n, [&] { return forward(n); });
    for (std::size_t i = 0; i < n.results.size(); ++i) values_[n.results[i]] = out[i];
  }
  for (ValueId v : region.results) results_.push_back(values_.at(v));
}

Values Tape::forward(const Node& n) {
  Step s{&n, mask_of(n.operands, varied_), mask_of(n.results, useful_), {}, {}, {}, nullptr, nullptr};
  for (ValueId v : n.operands) s.in.push_back(values_.at(v));
  resources_.visit(g_, n, s.wanted, any(s.useful), "vjp");
  for (std::size_t i = 0; i < s.useful.size(); ++i) s.useful[i] = s.useful[i] && varied_.count(n.results[i]);
  if (!any(s.wanted) || !any(s.useful)) return b_.clone(g_, n, s.in);
  s.out = differentiated(n, s);
  steps_.push_back(std::move(s));
  return steps_.back().out;
}

Values Tape::differentiated(const Node& n, Step& s) {
  if (control_of(n) != Control::none) {
    Values all = control_forward(b_, g_, n, s.in);
    const auto own = all.begin() + static_cast<std::ptrdiff_t>(n.results.size());
    s.residuals.assign(own, all.end());
    all.erase(own, all.end());
    return all;
  }
  const Op::RuleInfo rule = n.op->vjp_rule();
  if (rule.kind == RuleKind::never) refuse(n, "vjp", std::string(rule.why));
  if (rule.kind == RuleKind::given) {
    Values out = b_.clone(g_, n, s.in);
    s.residuals = n.op->vjp_save(b_, n.attrs, s.in, out);
    return out;
  }
  if (n.op->meaning() != Meaning::composite)
    refuse(n, "vjp", "its rule is to follow the decomposition, but it has none");
  if (depth_ >= max_decompositions) refuse(n, "vjp", "decompositions nest too deeply");
  Types types;
  for (const Value& v : s.in) types.push_back(v.type());
  s.body = std::make_unique<Graph>(decomposition(b_.registry(), n, types, b_.graph().symbols));
  s.tape = detail::within(n.op->name(), "vjp", [&] {
    return std::make_unique<Tape>(b_, *s.body, Graph::top, s.in, s.wanted, s.useful, depth_ + 1);
  });
  return s.tape->results();
}

Values Tape::pull_step(const Step& s, ValuesIn cotangents) {
  if (s.tape) return detail::within(s.node->op->name(), "vjp", [&] { return s.tape->pull(cotangents); });
  if (control_of(*s.node) != Control::none)
    return control_pull({b_, g_, *s.node, s.in, s.residuals, s.wanted, cotangents});
  return s.node->op->vjp({b_, s.node->attrs, s.in, s.out, s.residuals, cotangents, s.wanted, g_, *s.node});
}

Values Tape::pull(ValuesIn cotangents) {
  std::unordered_map<ValueId, Value> sums;
  const auto accumulate = [&](ValueId v, Value t) {
    Value& slot = sums[v];
    slot = sum(slot, t);
  };
  const Region& region = g_.region(region_);
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (cotangents[i] && useful_.count(region.results[i])) accumulate(region.results[i], cotangents[i]);
  for (auto s = steps_.rbegin(); s != steps_.rend(); ++s) {
    const Node& n = *s->node;
    Values of_results;
    for (ValueId v : n.results) {
      const auto it = sums.find(v);
      of_results.push_back(it == sums.end() ? Value{} : it->second);
    }
    if (!any(present(of_results))) continue;
    const Values of_operands = located(b_, n, [&] { return pull_step(*s, of_results); });
    check_rule(n, "vjp", of_operands, s->in);
    located(b_, n, [&] {
      for (std::size_t i = 0; i < of_operands.size(); ++i)
        if (s->wanted[i] && of_operands[i]) accumulate(n.operands[i], of_operands[i]);
    });
  }
  Values out;
  for (ValueId v : region.arguments) {
    const auto it = sums.find(v);
    out.push_back(it == sums.end() || !varied_.count(v) ? Value{} : it->second);
  }
  return out;
}

Values pull_region(Builder& b, const Graph& g, RegionId r, ValuesIn arguments, const Mask& wanted,
                   ValuesIn cotangents) {
  Tape tape(b, g, r, arguments, wanted, present(cotangents));
  return tape.pull(cotangents);
}

}  // namespace rlx::transform
