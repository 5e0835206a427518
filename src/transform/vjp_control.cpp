// Reverse mode of control flow. Bodies are run again in reverse from saved states, so that only states are kept, not
// what bodies compute.
#include <rlx/ops/build.hpp>

#include "transform/tape.hpp"

namespace rlx::transform {
namespace {

// --- if and checkpoint: the chosen region again, then in reverse.
Values branch_pull(const ControlPull& c) {
  const auto predicates = static_cast<std::ptrdiff_t>(predicates_of(c.n));
  AnyAttrs attrs = c.n.attrs;
  if (control_of(c.n) == Control::checkpoint) {
    if (region_has_effect(c.g, c.n.regions[0])) refuse(c.n, "vjp", "it has effects, which cannot be done twice");
    attrs = ops::CheckpointAttrs{.recomputes = true};
  }
  Mask wanted = needed_operands(c.g, c.n, present(c.cotangents));
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = wanted[i] && c.wanted[i];
  if (!any(wanted)) return Values(c.in.size());
  const Mask branch_wanted(wanted.begin() + predicates, wanted.end()), given = present(c.cotangents);
  std::vector<RegionBody> bodies;
  for (RegionId r : c.n.regions)
    bodies.push_back([&, r](ValuesIn a) {
      const ValuesIn arguments = a.first(branch_wanted.size());
      const Values pulled =
          pull_region(c.b, c.g, r, arguments, branch_wanted, spread(a.subspan(branch_wanted.size()), given));
      return instantiated(pulled, arguments, branch_wanted);
    });
  return spread(c.b.emit(c.n.op->name(), joined({c.in, pick(c.cotangents, given)}), attrs, bodies), wanted);
}

/// What the reverse of a loop forms: cotangents of state that some trip needs, and of sequences and invariants.
struct Reverse {
  Loop loop;
  Mask state, outputs, sequences, invariants;  // outputs: whose cotangent is given.
  Mask all;                                    // state, sequences, invariants: one an argument of the body.

  explicit Reverse(const ControlPull& c) : loop(loop_of(c.n)) {
    const Mask given = present(c.cotangents);
    Mask results = given;
    state = needed_state(c.g, c.n, given);
    const Mask varied = reached_state(c.g, c.n, c.wanted, Along::tangents);
    for (std::size_t i = 0; i < loop.carried; ++i) results[i] = state[i] = state[i] && varied[i];
    const Mask needed = needed_operands(c.g, c.n, results);
    all = state;
    outputs.assign(given.begin() + static_cast<std::ptrdiff_t>(loop.carried), given.end());
    for (std::size_t i = loop.carried; i < needed.size(); ++i) {
      all.push_back(needed[i] && c.wanted[i]);
      (i < loop.first_invariant() ? sequences : invariants).push_back(all.back());
    }
  }
  /// Cotangents of body results from those of state and elements.
  Values cotangents(ValuesIn of_state, ValuesIn of_outputs) const {
    return joined({spread(of_state, state), spread(of_outputs, outputs)});
  }
  /// Cotangents of the node's operands: of the state only where its initial value is wanted.
  Values operands(const ControlPull& c, ValuesIn of_state, ValuesIn of_sequences, ValuesIn of_invariants) const {
    Values out = joined({spread(of_state, state), spread(of_sequences, sequences), spread(of_invariants, invariants)});
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!c.wanted[i]) out[i] = {};
    return out;
  }
};

Values sums(ValuesIn a, ValuesIn b) {
  Values out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(sum(a[i], b[i]));
  return out;
}

// --- scan: another output holds the state at the start of every trip.
void check_state(const Node& n, ValuesIn state) {
  for (const Value& v : state)
    if (!std::holds_alternative<TensorType>(v.type()))
      refuse(n, "vjp", "its state holds " + to_string(v.type()) + ", and only tensors can be kept for every trip");
}

Values scan_forward(Builder& b, const Graph& g, const Node& n, ValuesIn in) {
  const Loop l = loop_of(n);
  check_state(n, l.state(in));
  const RegionBody body = [&](ValuesIn a) { return joined({b.inline_region(g, l.body, a), l.state(a)}); };
  return b.emit("scan", in, n.attrs, {&body, 1});
}

Values scan_pull(const ControlPull& c) {
  const Reverse r(c);
  const Loop& l = r.loop;
  const std::size_t states = count(r.state), sums_at = states, given = count(r.outputs);
  const Values initial = instantiated(l.state(c.cotangents), l.state(c.in), r.state);
  const Values totals = instantiated(Values(l.invariants), l.invariant(c.in), r.invariants);
  const Values sequences = joined({c.residuals, l.sequence(c.in), pick(c.cotangents.subspan(l.carried), r.outputs)});
  ops::ScanAttrs attrs = l.scan;
  attrs.carried = static_cast<int>(initial.size() + totals.size());
  attrs.sequences = static_cast<int>(sequences.size());
  attrs.reverse = !attrs.reverse;
  const RegionBody body = [&](ValuesIn a) {
    const ValuesIn before = a.subspan(sums_at, totals.size());
    const ValuesIn rest = a.subspan(sums_at + totals.size());
    const Values arguments = joined({rest.first(l.carried + l.sequences), rest.last(l.invariants)});
    const Values pulled = pull_region(c.b, c.g, l.body, arguments, r.all,
                                      r.cotangents(a.first(states), rest.subspan(l.carried + l.sequences, given)));
    return joined({instantiated(l.state(pulled), l.state(arguments), r.state),
                   sums(before, pick(l.invariant(pulled), r.invariants)),
                   instantiated(l.sequence(pulled), l.sequence(arguments), r.sequences)});
  };
  const Values out = c.b.emit("scan", joined({initial, totals, sequences, l.invariant(c.in)}), attrs, {&body, 1});
  const ValuesIn all(out);
  return r.operands(c, all.first(states), all.subspan(states + totals.size()), all.subspan(sums_at, totals.size()));
}

// --- while: buffers [max_trips, ...] hold the state at the start of every trip, and a counter says how many there
// were.
Value slot(Value like) {
  Shape s = like.shape();
  s.insert(s.begin(), 1);
  return ops::reshape(like, std::move(s));
}
Values position(Value trip, int rank) {
  Values at(static_cast<std::size_t>(rank) + 1, ops::zeros_like(trip));
  at[0] = trip;
  return at;
}
Value trip_scalar(Builder& b, std::int64_t max_trips, double v) {
  return ops::scalar(b, max_trips < INT32_MAX ? DType::i32 : DType::i64, v);
}

Values while_forward(Builder& b, const Graph& g, const Node& n, ValuesIn in) {
  const Loop l = loop_of(n);
  const std::int64_t trips = l.while_.max_trips;
  if (trips < 0)
    refuse(n, "vjp",
           "max_trips is not set: without a bound of the trip count the states cannot be kept for the reverse");
  check_state(n, l.state(in));
  Values start = joined({l.state(in)});
  for (const Value& v : l.state(in)) {
    Shape s = v.shape();
    s.insert(s.begin(), trips);
    start.push_back(zeros(b, v.dtype(), std::move(s)));
  }
  start.push_back(trip_scalar(b, trips, 0));
  const std::size_t counter = 2 * l.carried;
  ops::WhileAttrs attrs = l.while_;
  attrs.carried = static_cast<int>(counter + 1);
  const auto own = [&](ValuesIn a) { return joined({l.state(a), a.subspan(counter + 1)}); };
  const RegionBody bodies[] = {
      [&](ValuesIn a) { return b.inline_region(g, condition_of(n), own(a)); },
      [&](ValuesIn a) {
        Values next = b.inline_region(g, l.body, own(a));
        if (trips > 0)
          for (std::size_t i = 0; i < l.carried; ++i)
            next.push_back(ops::dynamic_update_slice(a[l.carried + i], slot(a[i]), position(a[counter], a[i].rank())));
        else
          next.insert(next.end(), a.begin() + static_cast<std::ptrdiff_t>(l.carried),
                      a.begin() + static_cast<std::ptrdiff_t>(counter));
        next.push_back(ops::add(a[counter], trip_scalar(b, trips, 1)));
        return next;
      }};
  return b.emit("while", joined({start, l.invariant(in)}), attrs, bodies);
}

Values while_pull(const ControlPull& c) {
  const Reverse r(c);
  const Loop& l = r.loop;
  if (l.while_.max_trips == 0) return r.operands(c, pick(c.cotangents, r.state), {}, Values(count(r.invariants)));
  const Values initial = instantiated(l.state(c.cotangents), l.state(c.in), r.state);
  const Values totals = instantiated(Values(l.invariants), l.invariant(c.in), r.invariants);
  const Value trips = c.residuals[l.carried];
  const std::size_t counter = initial.size() + totals.size();
  ops::WhileAttrs attrs = l.while_;
  attrs.carried = static_cast<int>(counter + 1);
  const RegionBody bodies[] = {
      [&](ValuesIn a) { return Values{ops::compare(a[counter], ops::zeros_like(a[counter]), ops::Direction::gt)}; },
      [&](ValuesIn a) {
        const Value trip = ops::sub(a[counter], trip_scalar(c.b, l.while_.max_trips, 1));
        Values arguments;
        for (std::size_t i = 0; i < l.carried; ++i) {
          const Value buffer = a[counter + 1 + i];
          const Shape shape = c.in[i].shape();
          Shape sizes = shape;
          sizes.insert(sizes.begin(), 1);
          arguments.push_back(
              ops::reshape(ops::dynamic_slice(buffer, position(trip, buffer.rank() - 1), sizes), shape));
        }
        for (const Value& v : a.last(l.invariants)) arguments.push_back(v);
        const Values pulled =
            pull_region(c.b, c.g, l.body, arguments, r.all, r.cotangents(a.first(initial.size()), {}));
        return joined({instantiated(l.state(pulled), l.state(arguments), r.state),
                       sums(a.subspan(initial.size(), totals.size()), pick(l.invariant(pulled), r.invariants)),
                       Values{trip}});
      }};
  const Values start = joined({initial, totals, Values{trips}});
  const Values out =
      c.b.emit("while", joined({start, ValuesIn(c.residuals).first(l.carried), l.invariant(c.in)}), attrs, bodies);
  const ValuesIn all(out);
  return r.operands(c, all.first(initial.size()), {}, all.subspan(initial.size(), totals.size()));
}

}  // namespace

Values control_forward(Builder& b, const Graph& g, const Node& n, ValuesIn in) {
  switch (control_of(n)) {
    case Control::scan:
      return scan_forward(b, g, n, in);
    case Control::while_:
      return while_forward(b, g, n, in);
    default:
      return b.clone(g, n, in);
  }
}

Values control_pull(const ControlPull& c) {
  switch (control_of(c.n)) {
    case Control::scan:
      return scan_pull(c);
    case Control::while_:
      return while_pull(c);
    default:
      return branch_pull(c);
  }
}

}  // namespace rlx::transform
