// Erasure of OpDef<A> to Op. A part of op.hpp, whose users include that.
#pragma once
#include <rlx/ir/op.hpp>

namespace rlx {
namespace detail {

template <class Fn>
Op::RuleInfo rule_info(const std::variant<Fn, Derived, Never>& r) {
  if (std::holds_alternative<Fn>(r)) return {RuleKind::given, {}};
  if (const Never* n = std::get_if<Never>(&r)) return {RuleKind::never, n->why};
  return {RuleKind::derived, {}};
}

template <class Fn>
const Fn& given(const std::variant<Fn, Derived, Never>& r, std::string_view op, const char* slot) {
  if (const Fn* f = std::get_if<Fn>(&r)) return *f;
  throw InternalError(std::string(op) + " has no " + slot + " rule of its own");
}

template <Attributes A>
class TypedOp final : public Op {
 public:
  explicit TypedOp(const OpDef<A>& def) : def_(def) {
    name_ = def.name.value;
    doc_ = def.doc.value;
    operands_ = def.operands;
    traits_ = def.traits;
    meaning_ = static_cast<Meaning>(def.meaning.value.index());
    vjp_ = rule_info(def.vjp.value);
    jvp_ = rule_info(def.jvp.value);
    batch_ = rule_info(def.batch.value);
    shard_ = rule_info(def.shard.value);
    cost_ = rule_info(def.cost.value);
  }
  AnyAttrs default_attrs() const override { return A{}; }
  std::vector<ConstraintDoc> constraints() const override {
    std::vector<ConstraintDoc> docs;
    for (const auto& c : def_.constraints) docs.push_back({c.id, c.text});
    return docs;
  }
  Types infer(const AnyAttrs& a, const Signature& s) const override { return def_.infer.value(a.as<A>(), s); }
  std::vector<Types> region_arguments(const AnyAttrs& a, const Signature& s) const override {
    return def_.region_arguments ? def_.region_arguments(a.as<A>(), s) : std::vector<Types>{};
  }
  HostValues reference(const AnyAttrs& a, const ReferenceCall& call) const override {
    if (const auto* p = std::get_if<Primitive<A>>(&def_.meaning.value)) return p->reference(a.as<A>(), call);
    if (const auto* e = std::get_if<Extern<A>>(&def_.meaning.value)) return e->reference(a.as<A>(), call);
    throw InternalError(std::string(name_) + " is a composite: evaluate its decomposition");
  }
  std::string introduces(const AnyAttrs& a) const override {
    if (!def_.size.size) return {};
    const Dim& d = a.as<A>().*def_.size.size;
    if (d.is_constant()) return {};
    const std::vector<std::string> symbols = d.symbols();
    return symbols.size() == 1 && d == Dim::symbol(symbols[0]) ? symbols[0] : std::string();
  }
  Dim count_bound(const AnyAttrs& a, const Signature& s) const override { return size_rule().bound(a.as<A>(), s); }
  ShardRule shard(const AnyAttrs& a, const Signature& s) const override {
    return given(def_.shard.value, name_, "shard")(a.as<A>(), s);
  }
  Cost cost(const AnyAttrs& a, const Signature& s) const override {
    return given(def_.cost.value, name_, "cost")(a.as<A>(), s);
  }
  std::vector<AnySample> samples() const override {
    std::vector<AnySample> out;
    for (Sample<A>& s : def_.samples.value()) {
      AnySample any;
      static_cast<SampleBase&>(any) = static_cast<SampleBase&>(s);
      any.attrs = std::move(s.attrs);
      out.push_back(std::move(any));
    }
    return out;
  }

 protected:
  Answer constraint_holds(std::size_t i, const AnyAttrs& a, const Signature& s) const override {
    return def_.constraints[i].holds(a.as<A>(), s);
  }
  Values emit_decomposition(Builder& b, const AnyAttrs& a, ValuesIn in) const override {
    if (const auto* c = std::get_if<Composite<A>>(&def_.meaning.value)) return c->decompose(b, a.as<A>(), in);
    throw InternalError(std::string(name_) + " has no decomposition");
  }
  Value emit_count(Builder& b, const AnyAttrs& a, ValuesIn in) const override {
    return size_rule().count(b, a.as<A>(), in);
  }
  Values emit_vjp_save(Builder& b, const AnyAttrs& a, ValuesIn in, ValuesIn out) const override {
    const auto& rule = given(def_.vjp.value, name_, "vjp");
    return rule.save ? rule.save(b, a.as<A>(), in, out) : Values{};
  }
  Values emit_vjp(const VjpCall<AnyAttrs>& c) const override {
    return given(def_.vjp.value, name_, "vjp")
        .pull({c.b, c.attrs.as<A>(), c.in, c.out, c.residuals, c.cotangent, c.wanted, c.graph, c.node});
  }
  Values emit_jvp(const JvpCall<AnyAttrs>& c) const override {
    return given(def_.jvp.value, name_, "jvp")({c.b, c.attrs.as<A>(), c.in, c.out, c.tangent, c.graph, c.node});
  }
  Batched emit_batch(const BatchCall<AnyAttrs>& c) const override {
    return given(def_.batch.value, name_, "batch")({c.b, c.attrs.as<A>(), c.in, c.axes, c.size, c.graph, c.node});
  }

 private:
  const SizeRule<A>& size_rule() const {
    if (!def_.size.size) throw InternalError(std::string(name_) + " introduces no size");
    return def_.size;
  }
  const OpDef<A>& def_;
};

}  // namespace detail

template <Attributes A>
std::unique_ptr<Op> erase(const OpDef<A>& def) {
  return std::make_unique<detail::TypedOp<A>>(def);
}

}  // namespace rlx
