// while and if as steps. State lives in buffers of its own; a body's results are copied into them at the end of a trip.
#include "compile/lower/known_trips.hpp"
#include "compile/lower/lower.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ir/counted.hpp>
#include <rlx/ops/attributes/control_flow.hpp>

namespace rlx::compile {

// Buffers for `results`, filled from `from` part by part.
static std::vector<Values> own_copies(Lowering& l, const Node& n, const std::vector<Values>& from) {
  std::vector<Values> out;
  for (const Values& parts : from) {
    Values copies;
    for (Value p : parts) {
      copies.push_back(l.allocate_transient(p.tensor()));
      l.copy(n, p, copies.back());
    }
    out.push_back(std::move(copies));
  }
  return out;
}

// What is there already, state that a trip leaves alone, stays.
static void copy_all(Lowering& l, const Node& n, const std::vector<Values>& from, const std::vector<Values>& to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    for (std::size_t p = 0; p < to[i].size(); ++p)
      if (!l.is_view_of(from[i][p], to[i][p])) l.copy(n, from[i][p], to[i][p]);
}

// Whether a part of `value` is memory of a state other than `own`, or of another part of its own.
static bool reads_other_state(Lowering& l, const Values& value, const std::vector<Values>& state, std::size_t own) {
  for (std::size_t p = 0; p < value.size(); ++p)
    for (std::size_t j = 0; j < state.size(); ++j)
      for (std::size_t q = 0; q < state[j].size(); ++q)
        if ((j != own || p != q) && l.is_view_of(value[p], state[j][q])) return true;
  return false;
}

void lower_while(Lowering& l, const Node& n) {
  const auto carried = static_cast<std::size_t>(n.attrs.as<ops::WhileAttrs>().carried);
  std::vector<Values> arguments;
  for (ValueId v : n.operands) arguments.push_back(l.buffers(v));
  const std::vector<Values> initial(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(carried));
  const std::vector<Values> state = own_copies(l, n, initial);
  std::copy(state.begin(), state.end(), arguments.begin());
  const std::optional<std::int64_t> trips = known_trips(l.mir(), n);
  const std::vector<RegionBody> regions{[&](ValuesIn) -> Values {
                                          if (trips) return {};
                                          return l.region(n.regions[0], arguments)[0];
                                        },
                                        [&](ValuesIn) -> Values {
                                          // A result may be another state's buffer (a swap), which the first copy would
                                          // overwrite: such ones are copied aside.
                                          std::vector<Values> next = l.region(n.regions[1], arguments);
                                          for (std::size_t i = 0; i < next.size(); ++i)
                                            if (reads_other_state(l, next[i], state, i))
                                              next[i] = own_copies(l, n, {next[i]})[0];
                                          copy_all(l, n, next, state);
                                          return {};
                                        }};
  l.set_origin(n);
  l.builder().emit("lir.while", {}, lir::LoopAttrs{n.attrs.as<ops::WhileAttrs>().max_trips, trips.value_or(-1)},
                   regions);
  l.claim(n);
  l.note(n, trips ? "loop: " + counted(*trips, "trip") : "loop: host-polled");
  for (std::size_t i = 0; i < carried; ++i) l.set_buffers(n.results[i], state[i]);
}

void lower_if(Lowering& l, const Node& n) {
  std::vector<Values> arguments;
  for (std::size_t i = 1; i < n.operands.size(); ++i) arguments.push_back(l.buffers(n.operands[i]));
  std::vector<Values> results;
  for (ValueId v : n.results) {
    Values parts;
    if (const auto* s = std::get_if<SparseType>(&l.mir().type(v)))
      for (const TensorType& t : sparse_parts(*s)) parts.push_back(l.allocate_transient(t));
    else parts.push_back(l.allocate_transient(l.mir().tensor_type(v)));
    results.push_back(std::move(parts));
  }
  const auto branch = [&](RegionId r) -> RegionBody {
    return [&, r](ValuesIn) -> Values {
      copy_all(l, n, l.region(r, arguments), results);
      return {};
    };
  };
  const std::vector<RegionBody> regions{branch(n.regions[0]), branch(n.regions[1])};
  const Value predicate = l.buffer(n.operands[0]);
  l.note(n, "branch: host-polled");
  l.set_origin(n);
  l.builder().emit("lir.if", ValuesIn(&predicate, 1), {}, regions);
  l.claim(n);
  for (std::size_t i = 0; i < results.size(); ++i) l.set_buffers(n.results[i], results[i]);
}

}  // namespace rlx::compile
