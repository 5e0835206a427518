// Kernels with reductions: for each row the passes over it, each one lir.reduce of all that it combines. Long rows are
// cut into fixed chunks, so that the shape of a reduction does not depend on the number of threads.
#include "compile/lower/lower.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {

namespace {

constexpr std::int64_t team_size = 128;  // Threads that share a chunk, where there are teams.

class RowsLowering {
 public:
  RowsLowering(Lowering& l, const FusedKernel& k)
      : l_(l),
        k_(k),
        space_(reduction_space(l.mir(), l.mir().node(k.space))),
        chunks_lead_(space_.columns && l.target().max_team_threads < team_size) {}

  void run() {
    std::vector<ValueId> made;
    for (NodeId r : k_.roots)
      for (ValueId v : l_.mir().node(r).results) {
        made.push_back(v);
        if (l_.is_stored(v) || (space_.chunks > 1 && !is_inlined_kind(l_.mir().node(r))))
          destination_[v] = l_.allocate(v);
      }
    if (space_.rows == 0) return;
    const std::vector<std::int64_t> extents = space_.chunks > 1 ? chunk_shape_ : space_.kept;
    if (space_.chunks > 1) {
      const Shape shape(chunk_shape_.begin(), chunk_shape_.end());
      for (const Pass& p : k_.passes)
        for (NodeId r : p.reductions) {
          const Node& n = l_.mir().node(r);
          const std::vector<DType> types = Combining(l_.mir(), n).types();
          for (std::size_t i = 0; i < types.size(); ++i)
            partial_[n.results[i]] = l_.allocate_transient(tensor(types[i], shape));
        }
    }
    Values writes;
    std::map<ValueId, std::size_t> number;
    for (ValueId v : made) {
      const auto partial = partial_.find(v);
      const auto whole = destination_.find(v);
      if (partial == partial_.end() && whole == destination_.end()) continue;
      number[v] = writes.size();
      writes.push_back(partial != partial_.end() ? partial->second : whole->second);
    }
    lir::KernelAttrs a;
    a.policy = extents.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
    a.extents = extents;
    const bool teams = has_teams();
    if (teams) {
      a.policy = lir::Policy::team;
      a.team.assign(extents.size(), 1);
      a.team.back() = team_size;
    }
    const auto fill = [&](KernelBody& k) { teams ? by_team(k, number) : body(k, number); };
    l_.kernel({.origins = l_.nodes(k_.roots),
               .attrs = a,
               .pulled = made,
               .writes = writes,
               .computed = {made.begin(), made.end()},
               .flat = k_.flat},
              fill);
    if (space_.chunks > 1) combine_partials();
  }

 private:
  void body(KernelBody& k, const std::map<ValueId, std::size_t>& number) const {
    IndexEmitter& index = k.elements.index();
    Coordinates row = k.position;
    Index lower = 0, upper;
    if (space_.chunks > 1) {
      row.erase(row.begin() + chunk_dimension());
      lower = chunk_of(k) * ReductionSpace::chunk;
      upper = Index::of(end_of_chunk(k), space_.terms + 1);
    } else upper = index.end(space_.extent_of_terms());
    for (const Pass& p : k_.passes) {
      const Values reduced = traverse(k, p, row, lower, upper, number);
      std::size_t next = 0;
      for (NodeId r : p.reductions)
        for (ValueId v : l_.mir().node(r).results) {
          const Value sum = reduced[next++], x = space_.chunks > 1 ? sum : rounded(v, sum);
          k.elements.bind(v, x);
          const std::vector<std::int64_t>& shape = space_.chunks > 1 ? chunk_shape_ : space_.kept;
          if (number.contains(v)) k.store(number.at(v), index.linear(k.position, shape), x);
        }
      for (NodeId r : p.kept) {
        const ValueId v = result_of(r);
        const Coordinates c = placed(v, row, k.elements.flat());
        k.store(number.at(v), k.elements.flat() ? c[0] : index.linear(c, l_.shape(v)), k.load(v, c));
      }
    }
  }

  // Where the chunk is among the coordinates of one. Rows that lie side by side in memory (columns) come last, so that
  // lanes run along them.
  std::ptrdiff_t chunk_dimension() const { return chunks_lead_ ? 0 : static_cast<std::ptrdiff_t>(space_.kept.size()); }
  const Index& chunk_of(const KernelBody& k) const { return k.position[static_cast<std::size_t>(chunk_dimension())]; }

  // The last chunk ends with the data; the others are whole.
  Value end_of_chunk(KernelBody& k) const {
    IndexEmitter& index = k.elements.index();
    const Index end = chunk_of(k) * ReductionSpace::chunk + Index(ReductionSpace::chunk);
    return k.b.emit1("min", {index.emit(end), index.number(space_.extent_of_terms())});
  }

  // Whether teams of threads can share a chunk: only of reductions, and where local memory holds what they have.
  bool has_teams() const {
    if (space_.chunks < 2 || !k_.passes[0].loops.empty() || l_.target().max_team_threads < team_size) return false;
    std::int64_t bytes = 0;
    for (const auto& [v, p] : partial_) {
      if (bit_width(p.dtype()) < 8) return false;  // Neighbours in local memory would share a byte.
      bytes += byte_size(p.dtype(), team_size);
    }
    return l_.target().local_bytes >= bytes;
  }

  // A chunk by a team: each thread takes every team_size-th term, so that neighbours read neighbours, and the first one
  // combines what they have.
  void by_team(KernelBody& k, const std::map<ValueId, std::size_t>& number) const {
    IndexEmitter& index = k.elements.index();
    const Pass& p = k_.passes[0];
    const Coordinates row(k.position.begin(), k.position.end() - 1);
    const Index thread = k.thread.back(), own = k.position.back() * ReductionSpace::chunk + thread;
    const Value left = k.b.emit1("sub", {end_of_chunk(k), index.emit(own)});
    const Value trips =
        k.b.emit1("div", {k.b.emit1("add", {left, index.number(team_size - 1)}), index.number(team_size)});
    constexpr std::int64_t most = ReductionSpace::chunk / team_size;
    const auto both = [&](ValuesIn pair) { return combine(k, p, pair); };
    const Values sums = emit_reduction(
        k.elements, 0, Index::of(trips, most + 1), identities(k, p),
        [&](const Index& i) {
          const Index at = Index::of(index.emit(own + i * team_size), space_.terms);
          return terms(k, p, space_.at(k.elements, row, at));
        },
        both, most);
    Values shared;
    for (const Value& s : sums) {
      shared.push_back(k.b.emit1("lir.local", {}, lir::LocalAttrs{TensorType{s.dtype(), {team_size}, Space::local}}));
      k.b.emit("lir.store", {shared.back(), index.emit(thread), s});
    }
    k.b.emit("lir.barrier", {});
    const RegionBody arms[] = {[&](ValuesIn) {
                                 const Elements::Scope scope(k.elements);
                                 const Values all = emit_reduction(
                                     k.elements, 0, team_size, identities(k, p),
                                     [&](const Index& i) {
                                       Values part;
                                       for (const Value& s : shared) part.push_back(k.elements.load(s, i));
                                       return part;
                                     },
                                     both, team_size);
                                 const Index at = index.linear(k.position, chunk_shape_);
                                 std::size_t next = 0;
                                 for (NodeId r : p.reductions)
                                   for (ValueId v : l_.mir().node(r).results) k.store(number.at(v), at, all[next++]);
                                 return Values{};
                               },
                               [](ValuesIn) { return Values{}; }};
    const Value is_first = ops::compare(index.emit(thread), index.number(0), ops::Direction::eq);
    k.b.emit("lir.if_then", ValuesIn(&is_first, 1), {}, arms);
  }

  Values identities(KernelBody& k, const Pass& p) const { return loaded(k, p, 1, {}); }
  Values terms(KernelBody& k, const Pass& p, const Coordinates& c) const { return loaded(k, p, 0, c); }
  // Operands or identities of a pass's reductions, in the types in which they are combined.
  Values loaded(KernelBody& k, const Pass& p, std::size_t half, const Coordinates& c) const {
    Values out;
    for (NodeId r : p.reductions) {
      const std::vector<DType> types = Combining(l_.mir(), l_.mir().node(r)).types();
      const std::vector<ValueId> from = operands(r, half);
      for (std::size_t i = 0; i < from.size(); ++i) out.push_back(ops::convert(k.load(from[i], c), types[i]));
    }
    return out;
  }
  // A whole reduction as result `v` has it.
  Value rounded(ValueId v, Value sum) const { return ops::convert(sum, l_.mir().tensor_type(v).dtype); }

  // One pass over [lower, upper) of a row; gives what its reductions combine to.
  Values traverse(KernelBody& k, const Pass& p, const Coordinates& row, const Index& lower, const Index& upper,
                  const std::map<ValueId, std::size_t>& number) const {
    const auto element = [&](const Index& i) {
      Elements& e = k.elements;
      const Coordinates c = space_.at(e, row, i);
      const Values terms = this->terms(k, p, c);
      // All loads come before the first store: a destination may be the memory of a value that is still read.
      std::vector<std::pair<ValueId, Value>> stores;  // Whose memory, and what goes there.
      for (NodeId r : p.loops) {
        const ValueId v = result_of(r);
        stores.emplace_back(v, k.load(v, placed(v, c, e.flat())));
      }
      for (const auto& [v, host] : p.lodgers) stores.emplace_back(result_of(host), k.load(v, placed(v, c, e.flat())));
      for (const auto& [memory, x] : stores) {
        const Coordinates at = placed(memory, c, e.flat());
        k.store(number.at(memory), e.flat() ? at[0] : e.index().linear(at, l_.shape(memory)), x);
      }
      return terms;
    };
    Values out;
    if (p.reductions.empty()) {
      const Values bounds{k.elements.index().emit(lower), k.elements.index().emit(upper)};
      const RegionBody trip = [&](ValuesIn a) -> Values {
        Elements::Scope scope(k.elements);
        element(Index::of(a[0], space_.terms));
        return {};
      };
      k.b.emit("lir.for", bounds, lir::ForAttrs{.independent = true}, {&trip, 1});
    } else {
      out = emit_reduction(
          k.elements, lower, upper, identities(k, p), element, [&](ValuesIn both) { return combine(k, p, both); },
          space_.terms);
    }
    for (NodeId r : p.loops) k.elements.stored(result_of(r), k.writes[number.at(result_of(r))]);
    for (const auto& [v, host] : p.lodgers) k.elements.stored(v, k.writes[number.at(result_of(host))]);
    return out;
  }

  // The combinations of all reductions of a pass side by side.
  Values combine(KernelBody& k, const Pass& p, ValuesIn both) const {
    Values out;
    const std::size_t half = both.size() / 2;
    for (NodeId r : p.reductions) {
      const Node& n = l_.mir().node(r);
      Values pair;
      for (const std::size_t side : {std::size_t{0}, half})
        for (std::size_t i = 0; i < n.results.size(); ++i) pair.push_back(both[side + out.size() + i]);
      const Values one = Combining(l_.mir(), n).emit(k.b, pair);
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }

  // Second stage: combines partials, [kept..., chunks] or [chunks, kept...], into results [kept...].
  void combine_partials() const {
    const Pass& p = k_.passes[0];
    std::vector<ValueId> identities;
    Values partials, results;
    std::vector<ValueId> made;
    for (NodeId r : p.reductions) {
      for (ValueId v : operands(r, 1)) identities.push_back(v);
      for (ValueId v : l_.mir().node(r).results) {
        made.push_back(v);
        partials.push_back(partial_.at(v));
        results.push_back(destination_.at(v));
      }
    }
    const auto body = [&](KernelBody& k) {
      const auto term = [&](const Index& i) {
        Coordinates c = k.position;
        c.insert(c.begin() + chunk_dimension(), i);
        const Index at = k.elements.index().linear(c, chunk_shape_);
        Values terms;
        for (const Value& part : k.reads) terms.push_back(k.elements.load(part, at));
        return terms;
      };
      const Index chunks = k.elements.index().end(space_.extent_of_chunks());
      const Values out = emit_reduction(
          k.elements, 0, chunks, this->identities(k, p), term, [&](ValuesIn both) { return combine(k, p, both); },
          space_.chunks);
      const Index at = k.elements.index().linear(k.position, space_.kept);
      for (std::size_t i = 0; i < out.size(); ++i) k.store(i, at, rounded(made[i], out[i]));
    };
    lir::KernelAttrs a;
    a.policy = space_.kept.size() == 1 ? lir::Policy::range : lir::Policy::mdrange;
    a.extents = space_.kept;
    l_.kernel({.origins = l_.nodes(p.reductions),
               .attrs = a,
               .pulled = identities,
               .reads = partials,
               .writes = results,
               .works = false},
              body);
  }

  /// What a loop makes.
  ValueId result_of(NodeId loop) const { return l_.mir().node(loop).results[0]; }

  // The operands (half 0) or identities (half 1) of a reduction.
  std::vector<ValueId> operands(NodeId reduction, std::size_t half) const {
    const Node& n = l_.mir().node(reduction);
    const auto count = static_cast<std::ptrdiff_t>(n.results.size());
    const auto from = n.operands.begin() + static_cast<std::ptrdiff_t>(half) * count;
    return {from, from + count};
  }

  // Coordinates of a value whose dimensions, but for those of size 1, are those of `c`.
  Coordinates placed(ValueId v, const Coordinates& c, bool flat) const {
    Coordinates out;
    if (flat) return {c.empty() ? Index(0) : c[0]};
    const std::vector<std::int64_t>& from = c.size() == space_.shape.size() ? space_.shape : space_.kept;
    std::size_t next = 0;
    for (std::int64_t extent : l_.shape(v)) {
      while (extent != 1 && from[next] == 1) ++next;
      out.push_back(extent == 1 ? Index(0) : c[next++]);
    }
    return out;
  }

  Lowering& l_;
  const FusedKernel& k_;
  ReductionSpace space_;
  bool chunks_lead_;
  std::vector<std::int64_t> chunk_shape_ = [this] {
    auto s = space_.kept;
    s.insert(s.begin() + chunk_dimension(), space_.chunks);
    return s;
  }();
  std::map<ValueId, Value> destination_, partial_;
};

}  // namespace

void lower_rows(Lowering& l, const FusedKernel& k) { RowsLowering(l, k).run(); }

}  // namespace rlx::compile
