#include "ir/within.hpp"

#include <rlx/ir/bind.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>

#include <algorithm>
#include <set>

namespace rlx {
namespace {

class Evaluator {
 public:
  /// `of`: the node whose decomposition the graph is, if it is one.
  Evaluator(const Graph& g, const Registry& r, Bindings b, const NodeWatch& watch, const ResultWatch& seen,
            const Node* of = nullptr)
      : graph_(g),
        registry_(r),
        bindings_(std::move(b)),
        watch_(watch),
        seen_(seen),
        of_(of),
        values_(g.value_count()) {}

  HostValues run(RegionId region, std::span<const HostValue> arguments) {
    const Region& r = graph_.region(region);
    if (arguments.size() != r.arguments.size())
      throw ArgumentError(counted(arguments.size(), "argument") + " given, expected " +
                          std::to_string(r.arguments.size()));
    for (std::size_t i = 0; i < arguments.size(); ++i) slot(r.arguments[i]) = arguments[i];
    for (NodeId n : r.nodes) step(graph_.node(n));
    HostValues out;
    for (ValueId v : r.results) out.push_back(slot(v));
    return out;
  }

 private:
  /// With the symbols of dimensions and types replaced by what the arguments bind.
  AnyAttrs attributes(const Node& n) const { return bindings_.empty() ? n.attrs : n.attrs.substitute(bindings_); }

  HostValue& slot(ValueId v) { return values_[static_cast<std::size_t>(v)]; }

  void step(const Node& n) {
    const Node* const outer = of_;
    if (n.origin >= 0) of_ = &n;
    try {
      execute(n);
    } catch (const VerifyError&) { detail::rethrow_at(n.location); }
    of_ = outer;
  }

  void execute(const Node& n) {
    HostValues in;
    for (ValueId v : n.operands) in.push_back(slot(v));
    if (const std::string size = n.op->introduces(n.attrs); !size.empty()) introduce(n, in, size);
    if (!bindings_.empty()) check_again(n, in);
    const Types results = types_of(n.results);
    if (watch_) watch_(n, in, results);
    HostValues out = n.op->meaning() == Meaning::composite ? composite(n, in) : reference(n, in, results);
    if (out.size() != n.results.size())
      throw InternalError(std::string(n.op->name()) + ": reference gave " + counted(out.size(), "result"));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Type expected = substitute(graph_.type(n.results[i]), bindings_);
      if (const auto* t = std::get_if<TensorType>(&expected);
          t && is_constant(expected) && !(type_of(out[i]) == Type(tensor(t->dtype, t->shape))))
        throw InternalError(std::string(n.op->name()) + ": reference gave " + to_string(type_of(out[i])) +
                            ", infer says " + to_string(expected));
      slot(n.results[i]) = std::move(out[i]);
    }
  }

  HostValues reference(const Node& n, const HostValues& in, const Types& results) {
    HostValues out = n.op->reference(attributes(n), {in, results, [&](std::size_t i, std::span<const HostValue> a) {
                                                       return run(n.regions.at(i), a);
                                                     }});
    if (seen_) seen_({graph_, n, of_ ? *of_ : n, in, out});
    return out;
  }

  Types types_of(const std::vector<ValueId>& values) const {
    Types types;
    for (ValueId v : values) types.push_back(substitute(graph_.type(v), bindings_));
    return types;
  }

  /// Of a value's own shape, and quantized where the graph says that it is.
  Type operand_type(const Node& n, std::size_t i, const HostValue& v) const {
    return as_declared(type_of(v), graph_.type(n.operands[i]));
  }

  /// Finds the size that a node introduces, and refuses one beyond its bounds.
  void introduce(const Node& n, const HostValues& in, const std::string& size) {
    Bindings others = bindings_;
    others.erase(size);  // of the trip before
    const AnyAttrs attrs = n.attrs.substitute(others);
    Graph body(std::string(n.op->name()));
    Builder b(body, registry_);
    Values arguments;
    for (const HostValue& v : in) arguments.push_back(b.input(type_of(v), "a" + std::to_string(arguments.size())));
    b.output(n.op->count(b, attrs, arguments), "count");
    const HostValues count = Evaluator(body, registry_, {}, watch_, seen_, of_).run(Graph::top, in);
    const std::int64_t value = std::get<HostTensor>(count[0]).get_i64(0);
    Types types;
    for (const HostValue& v : in) types.push_back(type_of(v));
    const SizeBounds limits = size_bounds(graph_.symbols, n, attrs, types);
    if (value < limits.lower || value > limits.upper)
      throw size_error(n.op->name(), size_text(n.op->name(), size, limits, n.location), value);
    bindings_[size] = value;
  }

  // Constraints that were to be guarded because a symbol had no value. An empty result needs nothing.
  void check_again(const Node& n, const HostValues& in) const {
    std::set<std::string> symbols;
    for (const std::vector<ValueId>* list : {&n.operands, &n.results})
      for (ValueId v : *list) collect_symbols(graph_.type(v), symbols);
    n.attrs.collect_symbols(symbols);
    if (symbols.empty()) return;
    const Types results = types_of(n.results);
    if (std::all_of(results.begin(), results.end(), [](const Type& t) {
          const auto* x = std::get_if<TensorType>(&t);
          return x && x->numel() == 0;
        }))
      return;
    Types types;
    for (std::size_t i = 0; i < in.size(); ++i) types.push_back(operand_type(n, i, in[i]));
    std::vector<RegionType> regions;
    for (RegionId r : n.regions)
      regions.push_back({types_of(graph_.region(r).arguments), types_of(graph_.region(r).results)});
    const AnyAttrs attrs = attributes(n);
    const Signature signature{types, regions, nullptr};
    n.op->check(attrs, signature);
    check_stated(n.op->name(), n.op->infer(attrs, signature), results);
  }

  // The decomposition is made for the actual types, so that no symbol of the caller enters it.
  HostValues composite(const Node& n, const HostValues& in) {
    Graph body(std::string(n.op->name()));
    Builder b(body, registry_);
    Values arguments;
    for (std::size_t i = 0; i < in.size(); ++i)
      arguments.push_back(b.input(operand_type(n, i, in[i]), "a" + std::to_string(i)));
    for (const Value& v : n.op->decompose(b, attributes(n), arguments))
      b.output(v, "r" + std::to_string(body.outputs().size()));
    try {
      return Evaluator(body, registry_, {}, watch_, seen_, of_).run(Graph::top, in);
    } catch (const VerifyError&) {
      detail::rethrow_within(n.op->name(), "decomposition");
    } catch (const NumericalError&) { detail::rethrow_as(n.op->name()); }
  }

  const Graph& graph_;
  const Registry& registry_;
  Bindings bindings_;  // Of the arguments' shapes, and of the sizes introduced so far.
  const NodeWatch& watch_;
  const ResultWatch& seen_;
  const Node* of_;  // As Evaluated has it; null: none.
  HostValues values_;
};

}  // namespace

HostValues evaluate(const Graph& g, const Registry& registry, std::span<const HostValue> arguments,
                    const NodeWatch& watch, const ResultWatch& seen) {
  if (arguments.size() != g.inputs().size())
    throw ArgumentError(g.name + ": " + counted(arguments.size(), "argument") + " given, expected " +
                        std::to_string(g.inputs().size()));
  Bindings bindings;
  if (!g.symbols.empty()) solve_symbols(g.types_of(g.inputs()), arguments, bindings);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    bind_symbols(g.type(g.inputs()[i]), arguments[i], "argument \"" + g.input_names[i] + "\"", bindings);
  check_values(g.symbols, bindings);
  return Evaluator(g, registry, std::move(bindings), watch, seen).run(Graph::top, arguments);
}

}  // namespace rlx
