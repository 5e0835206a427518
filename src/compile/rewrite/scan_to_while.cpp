// scan becomes a while loop that slices its sequences and updates its outputs: the trip count is known, so reverse mode
// and the memory plan lose nothing.
#include "compile/dispatch.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {
namespace {

Values at_trip(ValuesIn sequences, Value i) {
  Values out;
  for (const Value& s : sequences) {
    Values start{i};
    std::vector<Dim> sizes = s.shape();
    sizes[0] = 1;
    for (int d = 1; d < s.rank(); ++d) start.push_back(ops::scalar(*s.builder, DType::i64, 0));
    const Value row = ops::dynamic_slice(s, start, sizes);
    out.push_back(ops::reshape(row, Shape(s.shape().begin() + 1, s.shape().end())));
  }
  return out;
}

Value updated(Value stacked, Value row, Value i) {
  Values start{i};
  Shape shape = row.shape();
  shape.insert(shape.begin(), 1);
  for (int d = 1; d < stacked.rank(); ++d) start.push_back(ops::scalar(*row.builder, DType::i64, 0));
  return ops::dynamic_update_slice(stacked, ops::reshape(row, shape), start);
}

Values scan_to_while_apply(Builder& b, const Instance& instance, const Graph& g, const Node& n, ValuesIn in) {
  const auto& a = n.attrs.as<ops::ScanAttrs>();
  const auto carried = static_cast<std::size_t>(a.carried), sequences = static_cast<std::size_t>(a.sequences);
  const std::size_t outputs = instance.results.size() - carried;
  // State of the loop: the trip, the scan's state, the stacked outputs. Invariants: sequences, the scan's own.
  Values state{ops::scalar(b, DType::i64, 0)};
  state.insert(state.end(), in.begin(), in.begin() + a.carried);
  for (std::size_t i = 0; i < outputs; ++i) {
    const auto& t = std::get<TensorType>(instance.results[carried + i]);
    state.push_back(ops::full(b, t.dtype, t.shape, 0));
  }
  if (a.length == Dim(0)) return {state.begin() + 1, state.end()};  // Nothing to walk: not even one slice exists.
  const ValuesIn invariants = in.subspan(carried);
  const auto trip_of = [&](Value i) {
    return a.reverse ? ops::sub(ops::scalar(b, DType::i64, static_cast<double>(a.length.constant() - 1)), i) : i;
  };
  const RegionBody condition = [&](ValuesIn v) -> Values {
    return {
        ops::compare(v[0], ops::scalar(b, DType::i64, static_cast<double>(a.length.constant())), ops::Direction::lt)};
  };
  const RegionBody body = [&](ValuesIn v) -> Values {
    const Value trip = trip_of(v[0]);
    const ValuesIn rest = v.subspan(1 + carried + outputs);
    Values arguments(v.begin() + 1, v.begin() + 1 + a.carried);
    const Values rows = at_trip(rest.first(sequences), trip);
    arguments.insert(arguments.end(), rows.begin(), rows.end());
    arguments.insert(arguments.end(), rest.begin() + a.sequences, rest.end());
    const Values r = b.inline_region(g, n.regions[0], arguments);
    Values next{ops::add(v[0], ops::scalar(b, DType::i64, 1))};
    next.insert(next.end(), r.begin(), r.begin() + a.carried);
    for (std::size_t i = 0; i < outputs; ++i) next.push_back(updated(v[1 + carried + i], r[carried + i], trip));
    return next;
  };
  const Values out = ops::while_(state, invariants, condition, body, a.length.constant());
  return {out.begin() + 1, out.end()};
}

}  // namespace

extern const RewriteRule scan_to_while{"scan_to_while", "scan", false, [](const Instance&) { return Answer(true); },
                                       scan_to_while_apply};

}  // namespace rlx::compile
