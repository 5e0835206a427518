// Forward mode of control flow: the same node with tangents beside the values that have one.
#include "transform/forward.hpp"

namespace rlx::transform {
namespace {

Pushed split(ValuesIn all, std::size_t results, const Mask& m) {
  return {joined({all.first(results)}), spread(all.subspan(results), m)};
}

Pushed branch_push(Builder& b, const Graph& g, const Node& n, ValuesIn in, ValuesIn tangents) {
  const ValuesIn pushed = tangents.subspan(predicates_of(n));
  const Mask given = present(pushed), results = reached_results(g, n, present(tangents), Along::tangents);
  std::vector<RegionBody> bodies;
  for (RegionId r : n.regions)
    bodies.push_back([&, r](ValuesIn a) {
      const Pushed p = push_region(b, g, r, a.first(given.size()), spread(a.subspan(given.size()), given));
      return joined({p.results, instantiated(p.tangents, p.results, results)});
    });
  return split(b.emit(n.op->name(), joined({in, pick(pushed, given)}), n.attrs, bodies), n.results.size(), results);
}

/// Arguments of a loop with tangents: state, its tangents, sequences, theirs, invariants, theirs.
struct Doubled {
  Loop loop;
  Mask state, sequences, invariants;

  Doubled(const Graph& g, const Node& n, ValuesIn tangents) : loop(loop_of(n)) {
    const Mask given = present(tangents);
    state = reached_state(g, n, given, Along::tangents);
    for (std::size_t i = loop.carried; i < given.size(); ++i)
      (i < loop.first_invariant() ? sequences : invariants).push_back(given[i]);
  }
  std::size_t carried() const { return loop.carried + count(state); }
  Values operands(ValuesIn in, ValuesIn tangents) const {
    return joined({loop.state(in), instantiated(loop.state(tangents), loop.state(in), state), loop.sequence(in),
                   pick(loop.sequence(tangents), sequences), loop.invariant(in),
                   pick(loop.invariant(tangents), invariants)});
  }
  Values values(ValuesIn a) const {
    return joined({a.first(loop.carried), a.subspan(carried(), loop.sequences),
                   a.subspan(carried() + loop.sequences + count(sequences), loop.invariants)});
  }
  Values tangents(ValuesIn a) const {
    const std::size_t after_sequences = carried() + loop.sequences;
    return joined({spread(a.subspan(loop.carried, count(state)), state),
                   spread(a.subspan(after_sequences, count(sequences)), sequences),
                   spread(a.last(count(invariants)), invariants)});
  }
  /// New state, its tangents, and for scan outputs and theirs.
  Values body(Builder& b, const Graph& g, ValuesIn a, const Mask& outputs) const {
    const Pushed p = push_region(b, g, loop.body, values(a), tangents(a));
    const ValuesIn r(p.results), t(p.tangents);
    return joined({loop.state(r), instantiated(loop.state(t), loop.state(r), state), r.subspan(loop.carried),
                   instantiated(t.subspan(loop.carried), r.subspan(loop.carried), outputs)});
  }
};

Pushed while_push(Builder& b, const Graph& g, const Node& n, ValuesIn in, ValuesIn tangents) {
  const Doubled d(g, n, tangents);
  ops::WhileAttrs attrs = d.loop.while_;
  attrs.carried = static_cast<int>(d.carried());
  const RegionBody bodies[] = {[&](ValuesIn a) { return b.inline_region(g, condition_of(n), d.values(a)); },
                               [&](ValuesIn a) { return d.body(b, g, a, {}); }};
  return split(b.emit("while", d.operands(in, tangents), attrs, bodies), d.loop.carried, d.state);
}

Pushed scan_push(Builder& b, const Graph& g, const Node& n, ValuesIn in, ValuesIn tangents) {
  const Doubled d(g, n, tangents);
  const Loop& l = d.loop;
  const Mask results = reached_results(g, n, present(tangents), Along::tangents);
  const Mask outputs(results.begin() + static_cast<std::ptrdiff_t>(l.carried), results.end());
  ops::ScanAttrs attrs = l.scan;
  attrs.carried = static_cast<int>(d.carried());
  attrs.sequences = static_cast<int>(l.sequences + count(d.sequences));
  const RegionBody body = [&](ValuesIn a) { return d.body(b, g, a, outputs); };
  const Values out = b.emit("scan", d.operands(in, tangents), attrs, {&body, 1});
  const ValuesIn all(out);
  return {joined({all.first(l.carried), all.subspan(d.carried(), l.outputs)}),
          joined({spread(all.subspan(l.carried, count(d.state)), d.state),
                  spread(all.subspan(d.carried() + l.outputs), outputs)})};
}

}  // namespace

Pushed control_push(Builder& b, const Graph& g, const Node& n, ValuesIn in, ValuesIn tangents) {
  switch (control_of(n)) {
    case Control::scan:
      return scan_push(b, g, n, in, tangents);
    case Control::while_:
      return while_push(b, g, n, in, tangents);
    default:
      return branch_push(b, g, n, in, tangents);
  }
}

}  // namespace rlx::transform
