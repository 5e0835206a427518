#include <rlx/ir/signature.hpp>

namespace rlx {

template <class T>
static const T& operand_as(std::span<const Type> types, std::size_t i, const char* kind) {
  if (i < types.size())
    if (const T* t = std::get_if<T>(&types[i])) return *t;
  throw InternalError("operand " + std::to_string(i) + " is not a " + kind);
}

const TensorType& Signature::tensor(std::size_t i) const { return operand_as<TensorType>(types, i, "tensor"); }
const SparseType& Signature::sparse(std::size_t i) const { return operand_as<SparseType>(types, i, "sparse matrix"); }
const ResourceType& Signature::resource(std::size_t i) const { return operand_as<ResourceType>(types, i, "resource"); }

Answer Signature::equal(const Dim& a, const Dim& b) const {
  return prove_equal(a, b, symbols ? *symbols : SymbolTable{});
}
Answer Signature::less_equal(const Dim& a, const Dim& b) const {
  return prove_less_equal(a, b, symbols ? *symbols : SymbolTable{});
}

Answer Signature::same_shape(const Shape& a, const Shape& b) const {
  if (a.size() != b.size()) return Answer::no(to_string(a) + " and " + to_string(b) + " differ in rank");
  Answer all = true;
  for (std::size_t i = 0; i < a.size(); ++i) all = std::move(all) && equal(a[i], b[i]);
  if (all.is_no()) all.why = to_string(a) + " is not " + to_string(b);
  return all;
}

}  // namespace rlx
