// exp(x - max) / sum(exp(x - max)) along one axis. Without the maximum it overflows where softmax does not, so that is
// another function: it stays as it is.
#include "compile/recognise/pattern.hpp"

namespace rlx::compile {

extern const Pattern softmax_pattern{"softmax", "softmax", quotient_roots, along_one_axis};

}  // namespace rlx::compile
