// d * rsqrt(mean(d * d) + epsilon) * scale + bias of deviations d from the mean of the last dimension. A division by
// the square root rounds otherwise and stays as it is.
#include "compile/recognise/pattern.hpp"

#include <rlx/ops/attributes/reduction.hpp>

namespace rlx::compile {

static std::vector<Candidate> layer_norm_candidates(const Above& above) {
  std::vector<Candidate> out;
  if (!above.has("rsqrt")) return out;
  for (const Reduced& r : above.reductions()) {
    if (r.x.shape != above.type().shape || r.axes != std::vector<int>{r.x.rank() - 1}) continue;
    const TensorType row = tensor(r.x.dtype, {r.x.shape.back()});
    for (double epsilon : above.scalars()) {
      if (!(epsilon >= 0)) continue;
      ops::LayerNormAttrs a;
      a.epsilon = epsilon;
      out.push_back({a, {r.x, row, row}});
    }
  }
  return out;
}

extern const Pattern layer_norm_pattern{"layer_norm", "layer_norm", sum_roots, layer_norm_candidates};

}  // namespace rlx::compile
