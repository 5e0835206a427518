// A sum times the reciprocal of its count, where that is a power of two: both round the same exact number once. Any
// other reciprocal is rounded itself, and the product would be another number than the mean.
#include "compile/recognise/pattern.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>

#include <bit>

namespace rlx::compile {

static std::vector<Candidate> mean_by_reciprocal_candidates(const Above& above) {
  std::vector<Candidate> out;
  for (Candidate& c : along_some_axes(above)) {
    const auto& x = std::get<TensorType>(c.operands[0]);
    const std::int64_t n = count_along(x.shape, c.attrs.as<ops::MomentAttrs>().axes).value_or(0);
    // The reciprocal is formed in f32 at least, which has every one down to 2^-126.
    if (is_floating(x.dtype) && n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)))
      out.push_back(std::move(c));
  }
  return out;
}

static Values mean_by_reciprocal_form(Builder& b, const AnyAttrs& attrs, ValuesIn in) {
  const auto& a = attrs.as<ops::MomentAttrs>();
  const DType t = in[0].dtype(), wide = default_accumulator(t);  // The sum is that of mean, in its type.
  const double reciprocal = 1.0 / static_cast<double>(*count_along(in[0].shape(), a.axes));
  const Value sum = ops::reduce_sum(in[0], a.axes, a.keep, wide);
  return {ops::convert(ops::mul(sum, ops::full(b, wide, sum.shape(), reciprocal)), t)};
}

extern const Pattern mean_by_reciprocal_pattern{"mean_by_reciprocal", "mean", product_roots,
                                                mean_by_reciprocal_candidates, mean_by_reciprocal_form};

}  // namespace rlx::compile
