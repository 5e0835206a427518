// dot_general in common form: one reduction over the contracted dimensions for each result element. Targets with a
// matrix kernel of their own take the node by a record before it comes here.
#include "compile/lower/lower.hpp"
#include "compile/lower/reduction.hpp"
#include "compile/lower/root_lowerings.hpp"

#include <rlx/ops/build.hpp>

#include <algorithm>

namespace rlx::compile {

void lower_dot_general(Lowering& l, const Node& n) {
  const auto& a = n.attrs.as<ops::DotGeneralAttrs>();
  const auto lhs = l.shape(n.operands[0]), rhs = l.shape(n.operands[1]), out = l.shape(n.results[0]);
  const DType in_type = l.mir().tensor_type(n.operands[0]).dtype, out_type = l.mir().tensor_type(n.results[0]).dtype;
  const DType accumulate = a.accumulate == DType::boolean ? default_accumulator(in_type) : a.accumulate;
  std::vector<std::int64_t> contracted;
  for (int d : a.lhs_contract) contracted.push_back(lhs[static_cast<std::size_t>(d)]);
  const std::int64_t terms = element_count(contracted);
  const Value result = l.allocate(n.results[0]);
  if (element_count(out) == 0 || lower_tiled_dot_general(l, n, accumulate, result)) return;
  const auto has = [](const std::vector<int>& list, std::size_t d) {
    return std::find(list.begin(), list.end(), static_cast<int>(d)) != list.end();
  };

  l.kernel(n, out, n.operands, {result}, [&](KernelBody& k) {
    Elements& e = k.elements;
    Coordinates left(lhs.size()), right(rhs.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < a.lhs_batch.size(); ++i, ++next) {
      left[static_cast<std::size_t>(a.lhs_batch[i])] = k.position[next];
      right[static_cast<std::size_t>(a.rhs_batch[i])] = k.position[next];
    }
    for (std::size_t d = 0; d < lhs.size(); ++d)
      if (!has(a.lhs_batch, d) && !has(a.lhs_contract, d)) left[d] = k.position[next++];
    for (std::size_t d = 0; d < rhs.size(); ++d)
      if (!has(a.rhs_batch, d) && !has(a.rhs_contract, d)) right[d] = k.position[next++];
    const Value zero = ops::constant(k.b, HostTensor(accumulate, {}));
    const Value sum = emit_reduction(
        k, 0, terms, zero,
        [&](const Index& i) {
          const Coordinates c = e.index().coordinates(i, contracted);
          for (std::size_t d = 0; d < c.size(); ++d) {
            left[static_cast<std::size_t>(a.lhs_contract[d])] = c[d];
            right[static_cast<std::size_t>(a.rhs_contract[d])] = c[d];
          }
          const Value x = ops::convert(k.load(n.operands[0], left), accumulate),
                      y = ops::convert(k.load(n.operands[1], right), accumulate);
          return k.b.emit1("mul", {x, y});
        },
        "add", terms);
    k.store(0, e.index().linear(k.position, out), ops::convert(sum, out_type));
  });
}

}  // namespace rlx::compile
