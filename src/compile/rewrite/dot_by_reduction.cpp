// A dot_general without free dimensions (a dot product, or a batch of them) becomes a sum of products. Every element is
// used once, so nothing is gained by a kernel of its own, while a reduction shares its pass with its neighbours.
#include "compile/dispatch.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {
namespace {

// The operand with its batch dimensions first, then the contracted ones.
Value ordered(Value x, std::vector<int> batch, const std::vector<int>& contract) {
  batch.insert(batch.end(), contract.begin(), contract.end());
  return ops::transpose(x, std::move(batch));
}

Values dot_by_reduction_apply(Builder&, const Instance& i, const Graph&, const Node& n, ValuesIn in) {
  const auto& a = n.attrs.as<ops::DotGeneralAttrs>();
  const DType t = in[0].dtype(), sum_type = a.accumulate == DType::boolean ? default_accumulator(t) : a.accumulate;
  const Value x = ops::convert(ordered(in[0], a.lhs_batch, a.lhs_contract), sum_type),
              y = ops::convert(ordered(in[1], a.rhs_batch, a.rhs_contract), sum_type);
  std::vector<int> axes;
  for (int d = static_cast<int>(a.lhs_batch.size()); d < x.rank(); ++d) axes.push_back(d);
  return {ops::convert(ops::reduce_sum(ops::mul(x, y), axes), std::get<TensorType>(i.results[0]).dtype)};
}

}  // namespace

Answer is_dot_product(const Instance& i) {
  const auto& a = i.attrs->as<ops::DotGeneralAttrs>();
  const std::size_t inner = a.lhs_batch.size() + a.lhs_contract.size();
  if (i.signature.shape(0).size() == inner && i.signature.shape(1).size() == inner) return true;
  return Answer::no("an operand has free dimensions");
}

extern const RewriteRule dot_by_reduction{"dot_by_reduction", "dot_general", true, is_dot_product,
                                          dot_by_reduction_apply};

}  // namespace rlx::compile
