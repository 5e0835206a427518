// What sh_color and its gradient share: constraints on directions and coefficients, operands 0 and 1, and the meaning.
#pragma once
#include "splat/ops/common.hpp"

namespace rlx::splat {

Answer sh_degree(const ShColorAttrs&, const Signature&);
Answer sh_coefficients(const ShColorAttrs&, const Signature&);
Answer sh_directions(const ShColorAttrs&, const Signature&);

Values sh_decompose(Builder&, const ShColorAttrs&, ValuesIn in);

}  // namespace rlx::splat
