#include "api/conformance/resources.hpp"

#include "api/conformance/fill.hpp"

#include <algorithm>

namespace rlx::conformance {

namespace {

bool takes(const Op& op, std::initializer_list<OperandKind> kinds) {
  return std::equal(op.operands().begin(), op.operands().end(), kinds.begin(), kinds.end(),
                    [](const Operand& o, OperandKind k) { return o.kind == k; });
}

/// The operator that solves with a resource of this kind: of it, its matrix and right sides.
const Op* reader_of(const ResourceType& t, const Registry& registry) {
  for (const Op* op : registry.all())
    if (takes(*op, {OperandKind::resource, OperandKind::sparse, OperandKind::tensor}) &&
        op->operands()[0].resource_kind == t.kind)
      return op;
  return nullptr;
}

SparseType matrix_of(const ResourceType& t) {
  return {SparseFormat::csr, t.dtype, DType::i32, t.shape, t.shape.at(0) * 3 - 2};  // As a tridiagonal one has.
}

class Emitter {
 public:
  Emitter(Builder& b, const AnySample& s, std::string prefix) : b_(b), s_(s), prefix_(std::move(prefix)) {}

  Emitted emit(const Op& op) {
    Values operands(s_.in.size());
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (!std::holds_alternative<ResourceType>(s_.in[k].type) || is_lone_communicator(s_.in[k].type))
        operands[k] = input(s_.in[k]);
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (const auto* t = std::get_if<ResourceType>(&s_.in[k].type); t && !operands[k])
        operands[k] = made(*t, operands);
    const Values results = b_.emit(op.name(), operands, s_.attrs, s_.regions);
    out_.node = b_.graph().region(b_.region()).nodes.back();
    for (const Value& v : results) read(v, operands);
    return std::move(out_);
  }

 private:
  Value input(const SampleOperand& o) {
    const std::string name = prefix_ + "x" + std::to_string(out_.inputs.size());
    out_.inputs.push_back(o);
    return b_.input(o.type, name);
  }

  /// The matrix among the operands that a resource is of; absent where there is none.
  static Value matrix_among(const Values& operands, const ResourceType& t) {
    for (const Value& v : operands)
      if (v)
        if (const auto* a = std::get_if<SparseType>(&v.type()); a && a->shape == t.shape && a->dtype == t.dtype)
          return v;
    return {};
  }

  Value made(const ResourceType& t, const Values& operands) {
    Value a = matrix_among(operands, t);
    if (!a) a = input(SampleOperand(Type(matrix_of(t)), Fill::positive_definite));
    const Op* maker = maker_of(t, b_.registry());
    if (!maker) throw ArgumentError("no operator makes " + to_string(Type(t)) + " of a matrix");
    return b_.emit1(maker->name(), {a});
  }

  void read(const Value& result, const Values& operands) {
    const auto* t = std::get_if<ResourceType>(&result.type());
    const Op* reader = t ? reader_of(*t, b_.registry()) : nullptr;
    const Value a = t ? matrix_among(operands, *t) : Value{};
    if (!reader || !a) return out_.outputs.push_back(result);
    // Even integers: what solves by numbers of few bits is exact, measures of its error too.
    const TensorType t_right = tensor(t->dtype, {t->shape.at(0)});
    const double count = static_cast<double>(t_right.numel().constant()) * (is_complex(t->dtype) ? 2 : 1);
    const Value right = input(SampleOperand(Type(t_right), Fill::distinct, 0, 2 * (count - 1)));
    for (const Value& v : b_.emit(reader->name(), {result, a, right})) out_.outputs.push_back(v);
  }

  Builder& b_;
  const AnySample& s_;
  std::string prefix_;
  Emitted out_;
};

}  // namespace

const Op* maker_of(const ResourceType& t, const Registry& registry) {
  const Types matrix{matrix_of(t)};
  for (const Op* op : registry.all()) {
    if (!takes(*op, {OperandKind::sparse}) || !op->operands()[0].dtypes.contains(t.dtype)) continue;
    try {
      const Types made = op->infer(op->default_attrs(), Signature{matrix, {}, nullptr});
      const auto* r = made.size() == 1 ? std::get_if<ResourceType>(&made[0]) : nullptr;
      if (r && r->kind == t.kind) return op;
    } catch (const Error&) { continue; }  // Its constraints were not asked.
  }
  return nullptr;
}

Emitted emit_sample(Builder& b, const Op& op, const AnySample& s, const std::string& prefix) {
  return Emitter(b, s, prefix).emit(op);
}

}  // namespace rlx::conformance
