#include <rlx/transform/simplify.hpp>

#include "transform/fold.hpp"
#include "transform/liveness.hpp"

#include <algorithm>
#include <unordered_map>

namespace rlx::transform {
namespace {

class Simplifier {
 public:
  Simplifier(const Graph& g, Graph& out, const Registry& registry, bool folds)
      : g_(g), live_(g), b_(out, registry), folds_(folds) {}

  void run() {
    Values in;
    for (std::size_t i = 0; i < g_.inputs().size(); ++i)
      in.push_back(b_.input(g_.type(g_.inputs()[i]), g_.input_names[i]));
    const Values out = region(Graph::top, in, Mask(in.size(), true), Mask(g_.outputs().size(), true));
    for (std::size_t i = 0; i < out.size(); ++i) b_.output(out[i], g_.output_names[i]);
  }

 private:
  using Seen = std::unordered_multimap<std::size_t, NodeId>;  // Nodes of the region being filled, by what they compute.

  /// Emits the region's live nodes; `arguments` stand for those that `kept` names. Gives the results that `wanted`
  /// names.
  Values region(RegionId r, ValuesIn arguments, const Mask& kept, const Mask& wanted) {
    Seen outer;
    outer.swap(seen_);
    const Region& source = g_.region(r);
    std::size_t next = 0;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) map_[source.arguments[i]] = arguments[next++];
    for (NodeId id : source.nodes) {
      if (!live_.node(id)) continue;
      const Node& n = g_.node(id);
      b_.set_location(n.location);
      b_.set_origin(n.origin);
      node(n);
    }
    Values out;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) out.push_back(map_.at(source.results[i]));
    seen_.swap(outer);
    return out;
  }

  void node(const Node& n) {
    if (live_.prunable(n)) return control(n);
    Values operands;
    for (ValueId v : n.operands) operands.push_back(map_.at(v));
    Values out;
    if (!n.regions.empty()) {
      std::vector<RegionBody> bodies;
      for (RegionId r : n.regions)
        bodies.push_back(
            [&, r](ValuesIn a) { return region(r, a, Mask(a.size(), true), Mask(g_.region(r).results.size(), true)); });
      out = emitted(n, n.op->name(), operands, n.attrs, bodies);
    } else if (!n.record.empty() || has_effect(g_, n)) {
      out = b_.clone(g_, n, operands);
    } else {
      out = plain(*n.op, operands, n.attrs, n.results.size() == 1 ? &g_.type(n.results[0]) : nullptr);
    }
    b_.keep_note(n, out);
    for (std::size_t i = 0; i < out.size(); ++i) map_[n.results[i]] = out[i];
  }

  /// A node with regions; bodies change location and origin, which a node gets when it is placed.
  Values emitted(const Node& n, std::string_view op, ValuesIn operands, AnyAttrs attrs,
                 std::span<const RegionBody> bodies) {
    const Location at = n.location;
    std::vector<RegionBody> restoring;
    for (const RegionBody& body : bodies)
      restoring.push_back([&](ValuesIn a) {
        Values r = body(a);
        b_.set_location(at);
        b_.set_origin(n.origin);
        return r;
      });
    return b_.emit(op, operands, std::move(attrs), restoring);
  }

  /// A node without regions or effects: folded, found, or made.
  Values plain(const Op& op, ValuesIn operands, const AnyAttrs& attrs, const Type* result) {
    if (folds_ && result) {
      const FoldEmit emit = [this](std::string_view name, ValuesIn in, AnyAttrs a) {
        return one(name, in, std::move(a));
      };
      if (const auto v = fold(op, attrs, operands, *result, emit)) return {*v};
    }
    const std::size_t key = hash(op, operands, attrs);
    const auto [first, last] = seen_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      const Node& n = b_.graph().node(it->second);
      if (n.op == &op && same(n.operands, operands) && n.attrs == attrs) return b_.values(n.results);
    }
    Values out = b_.emit(op.name(), operands, attrs);
    if (!out.empty()) seen_.emplace(key, b_.graph().value(out[0].id).node);
    return out;
  }

  /// What folds emit, which may fold again.
  Value one(std::string_view name, ValuesIn operands, AnyAttrs attrs) {
    const Op& op = b_.registry().get(name);
    Types types;
    for (const Value& v : operands) types.push_back(v.type());
    const Signature s{types, {}, &b_.graph().symbols};
    op.check(attrs, s);
    const Type result = op.infer(attrs, s).at(0);
    return plain(op, operands, attrs, &result)[0];
  }

  static bool same(const std::vector<ValueId>& ids, ValuesIn values) {
    if (ids.size() != values.size()) return false;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (ids[i] != values[i].id) return false;
    return true;
  }
  static std::size_t hash(const Op& op, ValuesIn operands, const AnyAttrs& attrs) {
    std::size_t h = std::hash<const void*>{}(&op);
    const auto mix = [&](std::size_t v) {
      h = (h ^ v) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    };
    for (const Value& v : operands) mix(static_cast<std::size_t>(v.id));
    // Printing a weight would be slow; its content is hashed once.
    if (const auto* c = attrs.get_if<ops::ConstantAttrs>()) mix(c->value.content_hash());
    else mix(std::hash<std::string>{}(attrs.to_string()));
    return h;
  }

  void control(const Node& n) {
    const Mask results = live_.of(n.results);
    AnyAttrs attrs = n.attrs;
    const std::size_t predicates = predicates_of(n);
    Mask kept(n.operands.size(), false);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (i < predicates) {
        kept[i] = true;
        continue;
      }
      for (RegionId r : n.regions) kept[i] = kept[i] || live_.value(g_.region(r).arguments[i - predicates]);
    }
    if (!is_branch(n)) {
      const Loop l = loop_of(n);
      for (std::size_t i = 0; i < l.carried; ++i) kept[i] = results[i];
      attrs = control_of(n) == Control::scan ? AnyAttrs(pruned(l, kept)) : AnyAttrs(pruned_while(l, kept));
    }
    Values operands;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) operands.push_back(map_.at(n.operands[i]));
    const Mask arguments(kept.begin() + static_cast<std::ptrdiff_t>(predicates), kept.end());
    if (predicates > 0 && folds_)
      if (const auto p = splat(operands[0]))
        return inlined(n, p->get_i64(0) != 0 ? 0 : 1, ValuesIn(operands).subspan(1), arguments, results);
    std::vector<RegionBody> bodies;
    for (std::size_t i = 0; i < n.regions.size(); ++i) {
      const bool condition = control_of(n) == Control::while_ && i == 0;
      bodies.push_back([&, i, condition](ValuesIn a) {
        return region(n.regions[i], a, arguments, condition ? Mask{true} : results);
      });
    }
    const Values out = emitted(n, n.op->name(), operands, attrs, bodies);
    b_.keep_note(n, out);
    bind(n, out, results);
  }

  /// The branch of an `if` whose predicate is constant, in place.
  void inlined(const Node& n, std::size_t chosen, ValuesIn operands, const Mask& arguments, const Mask& results) {
    // Its nodes join those of this region, so that they merge with them.
    const Region& source = g_.region(n.regions[chosen]);
    std::size_t next = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i]) map_[source.arguments[i]] = operands[next++];
    for (NodeId id : source.nodes)
      if (live_.node(id)) {
        b_.set_location(g_.node(id).location);
        node(g_.node(id));
      }
    Values out;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i]) out.push_back(map_.at(source.results[i]));
    bind(n, out, results);
  }

  void bind(const Node& n, ValuesIn out, const Mask& results) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i]) map_[n.results[i]] = out[next++];
  }

  static ops::ScanAttrs pruned(const Loop& l, const Mask& kept) {
    ops::ScanAttrs a = l.scan;
    a.carried = static_cast<int>(std::count(kept.begin(), kept.begin() + a.carried, true));
    a.sequences =
        static_cast<int>(std::count(kept.begin() + l.scan.carried, kept.begin() + l.scan.carried + a.sequences, true));
    return a;
  }
  static ops::WhileAttrs pruned_while(const Loop& l, const Mask& kept) {
    ops::WhileAttrs a = l.while_;
    a.carried = static_cast<int>(std::count(kept.begin(), kept.begin() + a.carried, true));
    return a;
  }

  const Graph& g_;
  Liveness live_;
  Builder b_;
  const bool folds_;
  std::unordered_map<ValueId, Value> map_;
  Seen seen_;
};

}  // namespace

Graph simplify(const Graph& g, const Registry& registry) {
  // What folds left without users goes in the second pass.
  Graph folded(g.name), out(g.name);
  folded.symbols = out.symbols = g.symbols;
  Simplifier(g, folded, registry, true).run();
  Simplifier(folded, out, registry, false).run();
  return out;
}

}  // namespace rlx::transform
