// top_k becomes a stable sort, largest first, with the positions carried along. top_k puts NaN first where sort puts it
// last, so a flag for it is the first key.
#include "compile/dispatch.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {
namespace {

Values top_k_by_sort_apply(Builder& b, const Instance&, const Graph&, const Node& n, ValuesIn in) {
  const std::int64_t k = n.attrs.as<ops::TopKAttrs>().k;
  const Value x = in[0];
  const int last = x.rank() - 1;
  Values operands;
  ops::SortAttrs a{.axis = last, .keys = 1, .descending = {true}};
  if (is_floating(x.dtype())) {
    operands.push_back(ops::is_nan(x));
    a.keys = 2;
    a.descending = {true, true};
  }
  operands.push_back(x);
  operands.push_back(ops::iota(b, DType::i32, x.shape(), last));
  const Values sorted = ops::sort(operands, a);
  const std::size_t first = sorted.size() - 2;
  return {ops::slice_axis(sorted[first], last, 0, k), ops::slice_axis(sorted[first + 1], last, 0, k)};
}

}  // namespace

extern const RewriteRule top_k_by_sort{"top_k_by_sort", "top_k", false, [](const Instance&) { return Answer(true); },
                                       top_k_by_sort_apply};

}  // namespace rlx::compile
