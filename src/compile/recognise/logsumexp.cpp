// log(sum(exp(x - m))) + m, where m is the maximum, or 0 where that is not finite.
#include "compile/recognise/pattern.hpp"

namespace rlx::compile {

extern const Pattern logsumexp_pattern{"logsumexp", "logsumexp", sum_roots, along_some_axes};

}  // namespace rlx::compile
