// reduce: one lir.reduce for each kept position; where few positions hold many elements, two stages over fixed chunks,
// so that the shape of the summation does not depend on the number of threads.
#include "compile/lower/lower.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::compile {

namespace {
constexpr std::int64_t chunk = 16384;       // Terms of one partial result: long enough to hide a task's cost.
constexpr std::int64_t few_positions = 64;  // Below this, the kept positions alone do not keep the threads busy.
constexpr std::int64_t team_size = 128;     // Threads that share a chunk, where there are teams.

/// Whether teams of threads can share a chunk of these reductions.
bool has_teams(const Target& t, const Values& partials) {
  std::int64_t bytes = 0;
  for (const Value& p : partials) {
    if (bit_width(p.dtype()) < 8) return false;  // neighbours in local memory would share a byte
    bytes += byte_size(p.dtype(), team_size);
  }
  return t.max_team_threads >= team_size && t.local_bytes >= bytes;
}
}  // namespace

Values emit_reduction(KernelBody& k, const Index& lower, const Index& upper, ValuesIn identities,
                      const std::function<Values(const Index&)>& term, const Graph& g, RegionId combine,
                      std::int64_t extent) {
  Elements& e = k.elements;
  Values operands{e.index().emit(lower), e.index().emit(upper)};
  operands.insert(operands.end(), identities.begin(), identities.end());
  const std::vector<RegionBody> regions{[&](ValuesIn a) {
                                          Elements::Scope scope(e);
                                          return term(Index::of(a[0], extent));
                                        },
                                        [&](ValuesIn a) { return k.b.inline_region(g, combine, a); }};
  return k.b.emit("lir.reduce", operands, {}, regions);
}

void lower_reduce(Lowering& l, const Node& n) {
  const auto& axes = n.attrs.as<ops::ReduceAttrs>().axes;
  const std::size_t count = n.operands.size() / 2;
  const std::vector<ValueId> xs(n.operands.begin(), n.operands.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<ValueId> ids(n.operands.begin() + static_cast<std::ptrdiff_t>(count), n.operands.end());
  const auto shape = l.shape(xs[0]);
  std::vector<std::int64_t> kept, reduced;
  std::vector<std::size_t> kept_axes, reduced_axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool r = std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
    (r ? reduced : kept).push_back(shape[d]);
    (r ? reduced_axes : kept_axes).push_back(d);
  }
  const std::int64_t terms = element_count(reduced), positions = element_count(kept);
  Values results;
  for (ValueId v : n.results) results.push_back(l.allocate(v));
  if (positions == 0) return;

  const auto element = [&](KernelBody& k, const Coordinates& at, const Index& i) {
    Coordinates c(shape.size());
    for (std::size_t d = 0; d < kept_axes.size(); ++d) c[kept_axes[d]] = at[d];
    const Coordinates inner = k.elements.index().coordinates(i, reduced);
    for (std::size_t d = 0; d < reduced_axes.size(); ++d) c[reduced_axes[d]] = inner[d];
    Values out;
    for (ValueId x : xs) out.push_back(k.load(x, c));
    return out;
  };
  const auto identities = [&](KernelBody& k) {
    Values out;
    for (ValueId v : ids) out.push_back(k.load(v, {}));
    return out;
  };
  std::vector<ValueId> pulled = n.operands;

  const std::int64_t chunks = (terms + chunk - 1) / chunk;
  if (positions > few_positions || chunks < 2) {
    l.kernel(n, kept, pulled, results, [&](KernelBody& k) {
      const Values out = emit_reduction(
          k, 0, terms, identities(k), [&](const Index& i) { return element(k, k.position, i); }, l.mir(), n.regions[0],
          terms);
      const Index at = k.elements.index().linear(k.position, kept);
      for (std::size_t i = 0; i < count; ++i) k.store(i, at, out[i]);
    });
    return;
  }
  std::vector<std::int64_t> partial_shape = kept;
  partial_shape.push_back(chunks);
  Values partials;
  for (ValueId v : n.results)
    partials.push_back(
        l.allocate_transient(tensor(l.mir().tensor_type(v).dtype, Shape(partial_shape.begin(), partial_shape.end()))));
  // The last chunk ends with the data; the others are whole.
  const auto end_of_chunk = [&](KernelBody& k) {
    IndexEmitter& index = k.elements.index();
    return k.b.emit1("min", {index.emit(k.position.back() * chunk + Index(chunk)), index.number(terms)});
  };
  // By a team: each thread takes every team_size-th term, so that neighbours read neighbours, and the first one
  // combines what they have.
  const auto by_team = [&](KernelBody& k) {
    IndexEmitter& index = k.elements.index();
    const Coordinates at(k.position.begin(), k.position.end() - 1);
    const Index thread = k.thread.back(), own = k.position.back() * chunk + thread;
    const Value left = k.b.emit1("sub", {end_of_chunk(k), index.emit(own)});
    const Value trips =
        k.b.emit1("div", {k.b.emit1("add", {left, index.number(team_size - 1)}), index.number(team_size)});
    const Values sums = emit_reduction(
        k, 0, Index::of(trips, chunk / team_size + 1), identities(k),
        [&](const Index& i) { return element(k, at, Index::of(index.emit(own + i * team_size), terms)); }, l.mir(),
        n.regions[0], chunk / team_size);
    Values shared;
    for (const Value& s : sums) {
      shared.push_back(k.b.emit1("lir.local", {}, lir::LocalAttrs{TensorType{s.dtype(), {team_size}, Space::local}}));
      k.b.emit("lir.store", {shared.back(), index.emit(thread), s});
    }
    k.b.emit("lir.barrier", {});
    const RegionBody arms[] = {[&](ValuesIn) {
                                 const Elements::Scope scope(k.elements);
                                 const Values all = emit_reduction(
                                     k, 0, team_size, identities(k),
                                     [&](const Index& i) {
                                       Values part;
                                       for (const Value& s : shared) part.push_back(k.elements.load(s, i));
                                       return part;
                                     },
                                     l.mir(), n.regions[0], team_size);
                                 const Index position = index.linear(k.position, partial_shape);
                                 for (std::size_t i = 0; i < count; ++i) k.store(i, position, all[i]);
                                 return Values{};
                               },
                               [](ValuesIn) { return Values{}; }};
    const Value is_first = ops::compare(index.emit(thread), index.number(0), ops::Direction::eq);
    k.b.emit("lir.if_then", ValuesIn(&is_first, 1), {}, arms);
  };
  if (has_teams(l.target(), partials)) {
    lir::KernelAttrs teams;
    teams.policy = lir::Policy::team;
    teams.extents = partial_shape;
    teams.team.assign(partial_shape.size(), 1);
    teams.team.back() = team_size;
    l.kernel(n, std::move(teams), pulled, partials, by_team);
    return reduce_partials(l, n, partials, ids, kept, chunks, results);
  }
  l.kernel(n, partial_shape, pulled, partials, [&](KernelBody& k) {
    const Coordinates at(k.position.begin(), k.position.end() - 1);
    const Index first = k.position.back() * chunk;
    const Value last = end_of_chunk(k);
    const Values out = emit_reduction(
        k, first, Index::of(last, terms + 1), identities(k), [&](const Index& i) { return element(k, at, i); }, l.mir(),
        n.regions[0], terms);
    const Index position = k.elements.index().linear(k.position, partial_shape);
    for (std::size_t i = 0; i < count; ++i) k.store(i, position, out[i]);
  });
  reduce_partials(l, n, partials, ids, kept, chunks, results);
}

void reduce_partials(Lowering& l, const Node& n, const Values& partials, const std::vector<ValueId>& identities,
                     const std::vector<std::int64_t>& kept, std::int64_t chunks, const Values& results) {
  Values buffers = partials;
  buffers.insert(buffers.end(), results.begin(), results.end());
  std::vector<std::int64_t> partial_shape = kept;
  partial_shape.push_back(chunks);
  l.kernel(n, kept, identities, buffers, [&](KernelBody& k) {
    Values ids;
    for (ValueId v : identities) ids.push_back(k.load(v, {}));
    const Values out = emit_reduction(
        k, 0, chunks, ids,
        [&](const Index& i) {
          Coordinates c = k.position;
          c.push_back(i);
          const Index at = k.elements.index().linear(c, partial_shape);
          Values terms;
          for (std::size_t p = 0; p < partials.size(); ++p) terms.push_back(k.elements.load(k.writes[p], at));
          return terms;
        },
        l.mir(), n.regions[0], chunks);
    const Index at = k.elements.index().linear(k.position, kept);
    for (std::size_t i = 0; i < results.size(); ++i) k.store(partials.size() + i, at, out[i]);
  });
}

}  // namespace rlx::compile
