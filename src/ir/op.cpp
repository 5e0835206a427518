#include "ir/within.hpp"

#include <rlx/ir/builder.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/op.hpp>

namespace rlx {

Op::~Op() = default;

namespace {

[[noreturn]] void refuse(std::string_view op, std::string_view id, const std::string& why) {
  throw VerifyError(std::string(op), std::string(id), std::string(op) + ": " + std::string(id) + ": " + why);
}

const char* kind_name(OperandKind k) {
  switch (k) {
    case OperandKind::tensor:
      return "a tensor";
    case OperandKind::sparse:
      return "a sparse matrix";
    case OperandKind::resource:
      return "a resource";
    case OperandKind::token:
      return "a token";
    case OperandKind::any:
      return "a value";
  }
  return "?";
}

void check_operand(std::string_view op, const Operand& declared, const Type& type) {
  if (declared.kind == OperandKind::any) return;
  const auto who = [&] { return "operand \"" + std::string(declared.name) + "\" is " + to_string(type); };
  if (type.index() != static_cast<std::size_t>(declared.kind))
    refuse(op, "kind", who() + ", expected " + kind_name(declared.kind));
  DType t{};
  if (sharding(type)) refuse(op, "kind", who() + ", expected one that is whole on every rank: no pass shards here");
  if (const auto* tensor = std::get_if<TensorType>(&type)) {
    t = tensor->dtype;
    // Taken as plain ones, the elements would be other numbers in another order.
    if (tensor->quantization && !declared.quantized)
      refuse(op, "kind", who() + ", expected plain elements: dequantize gives them");
    if (tensor->layout) refuse(op, "kind", who() + ", expected row-major order: no other is computed with here");
  } else if (const auto* sparse = std::get_if<SparseType>(&type)) t = sparse->dtype;
  else if (const auto* resource = std::get_if<ResourceType>(&type)) {
    t = resource->dtype;
    if (resource->kind != declared.resource_kind)
      refuse(op, "kind", who() + ", expected resource<" + std::string(declared.resource_kind) + ">");
  } else return;
  if (!declared.dtypes.contains(t)) refuse(op, "dtype", who() + ", expected one of " + declared.dtypes.to_string());
}

}  // namespace

Values Op::decompose(Builder& b, const AnyAttrs& a, ValuesIn in) const {
  return detail::within(name_, "decomposition", [&] { return emit_decomposition(b, a, in); });
}
Value Op::count(Builder& b, const AnyAttrs& a, ValuesIn in) const {
  return detail::within(name_, "count", [&] { return emit_count(b, a, in); });
}
Values Op::vjp_save(Builder& b, const AnyAttrs& a, ValuesIn in, ValuesIn out) const {
  return detail::within(name_, "vjp", [&] { return emit_vjp_save(b, a, in, out); });
}
Values Op::vjp(const VjpCall<AnyAttrs>& c) const {
  return detail::within(name_, "vjp", [&] { return emit_vjp(c); });
}
Values Op::jvp(const JvpCall<AnyAttrs>& c) const {
  return detail::within(name_, "jvp", [&] { return emit_jvp(c); });
}
Batched Op::batch(const BatchCall<AnyAttrs>& c) const {
  return detail::within(name_, "batch", [&] { return emit_batch(c); });
}

Answer Op::check(const AnyAttrs& attrs, const Signature& s) const {
  const bool variadic = !operands_.empty() && operands_.back().variadic;
  const std::size_t fixed = operands_.size() - (variadic ? 1 : 0);
  if (variadic ? s.size() < fixed : s.size() != fixed)
    refuse(name_, "arity",
           counted(s.size(), "operand") + " given, expected " + (variadic ? "at least " : "") + std::to_string(fixed));
  for (std::size_t i = 0; i < s.size(); ++i)
    check_operand(name_, operands_[std::min(i, operands_.size() - 1)], s.types[i]);
  Answer all = true;
  const auto docs = constraints();
  for (std::size_t i = 0; i < docs.size(); ++i) {
    Answer a = constraint_holds(i, attrs, s);
    if (a.is_no())
      refuse(name_, docs[i].id, "requires " + std::string(docs[i].text) + (a.why.empty() ? "" : " (" + a.why + ")"));
    all = std::move(all) && std::move(a);
  }
  return all;
}

}  // namespace rlx
