#include <rlx/ir/evaluate.hpp>
#include <rlx/ir/op.hpp>

namespace rlx {
namespace {

void bind_dim(const Dim& declared, const Dim& actual, const std::string& what, Bindings& bindings) {
  const Dim known = declared.substitute(bindings);
  if (!known.is_constant() && known.symbols().size() == 1 && known == Dim::symbol(known.symbols().front())) {
    bindings.emplace(known.symbols().front(), actual.constant());
    return;
  }
  if (!(known == actual))
    throw ArgumentError(what + ": dimension is " + actual.to_string() + ", expected " + declared.to_string() +
                        (declared == known ? "" : " = " + known.to_string()));
}

void bind_shape(const Shape& declared, const Shape& actual, const std::string& what, Bindings& bindings) {
  if (declared.size() != actual.size())
    throw ArgumentError(what + ": shape is " + to_string(actual) + ", expected " + to_string(declared));
  for (std::size_t i = 0; i < declared.size(); ++i) bind_dim(declared[i], actual[i], what, bindings);
}

class Evaluator {
 public:
  Evaluator(const Graph& g, const Registry& r, const Bindings& b, const NodeWatch& watch)
      : graph_(g), registry_(r), bindings_(b), watch_(watch), values_(g.value_count()) {}

  HostValues run(RegionId region, std::span<const HostValue> arguments) {
    const Region& r = graph_.region(region);
    if (arguments.size() != r.arguments.size())
      throw ArgumentError(std::to_string(arguments.size()) + " arguments given, expected " +
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
    HostValues in;
    for (ValueId v : n.operands) in.push_back(slot(v));
    HostValues out = n.op->meaning() == Meaning::composite ? composite(n, in) : reference(n, in);
    if (out.size() != n.results.size())
      throw InternalError(std::string(n.op->name()) + ": reference gave " + std::to_string(out.size()) + " results");
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Type expected = substitute(graph_.type(n.results[i]), bindings_);
      if (const auto* t = std::get_if<TensorType>(&expected);
          t && is_constant(expected) && !(type_of(out[i]) == Type(tensor(t->dtype, t->shape))))
        throw InternalError(std::string(n.op->name()) + ": reference gave " + to_string(type_of(out[i])) +
                            ", infer says " + to_string(expected));
      slot(n.results[i]) = std::move(out[i]);
    }
  }

  HostValues reference(const Node& n, const HostValues& in) {
    Types results;
    for (ValueId v : n.results) results.push_back(substitute(graph_.type(v), bindings_));
    if (watch_) watch_(n, in, results);
    return n.op->reference(attributes(n), {in, results, [&](std::size_t i, std::span<const HostValue> a) {
                                             return run(n.regions.at(i), a);
                                           }});
  }

  // The decomposition is made for the actual types, so that no symbol of the caller enters it.
  HostValues composite(const Node& n, const HostValues& in) {
    Graph body(std::string(n.op->name()));
    Builder b(body, registry_);
    Values arguments;
    for (const HostValue& v : in) arguments.push_back(b.input(type_of(v), "a" + std::to_string(arguments.size())));
    for (const Value& v : n.op->decompose(b, attributes(n), arguments))
      b.output(v, "r" + std::to_string(body.outputs().size()));
    const Bindings none;
    return Evaluator(body, registry_, none, watch_).run(Graph::top, in);
  }

  const Graph& graph_;
  const Registry& registry_;
  const Bindings& bindings_;
  const NodeWatch& watch_;
  HostValues values_;
};

}  // namespace

void bind_symbols(const Type& declared, const Type& actual, const std::string& what, Bindings& bindings) {
  const auto differ = [&] {
    throw ArgumentError(what + " is " + to_string(actual) + ", expected " + to_string(declared));
  };
  if (declared.index() != actual.index()) differ();
  if (const auto* t = std::get_if<TensorType>(&declared)) {
    const auto& a = std::get<TensorType>(actual);
    if (t->dtype != a.dtype) differ();
    bind_shape(t->shape, a.shape, what, bindings);
  } else if (const auto* s = std::get_if<SparseType>(&declared)) {
    const auto& a = std::get<SparseType>(actual);
    if (s->format != a.format || s->dtype != a.dtype || s->index != a.index) differ();
    bind_shape(s->shape, a.shape, what, bindings);
    bind_dim(s->entries, a.entries, what, bindings);
  } else if (const auto* r = std::get_if<ResourceType>(&declared)) {
    const auto& a = std::get<ResourceType>(actual);
    if (r->kind != a.kind || r->dtype != a.dtype || (!r->provider.empty() && r->provider != a.provider)) differ();
    bind_shape(r->shape, a.shape, what, bindings);
  }
}

HostValues evaluate(const Graph& g, const Registry& registry, std::span<const HostValue> arguments,
                    const NodeWatch& watch) {
  if (arguments.size() != g.inputs().size())
    throw ArgumentError(g.name + ": " + std::to_string(arguments.size()) + " arguments given, expected " +
                        std::to_string(g.inputs().size()));
  Bindings bindings;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    bind_symbols(g.type(g.inputs()[i]), type_of(arguments[i]), "argument \"" + g.input_names[i] + "\"", bindings);
  return Evaluator(g, registry, bindings, watch).run(Graph::top, arguments);
}

}  // namespace rlx
