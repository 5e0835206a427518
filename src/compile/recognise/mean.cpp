// A sum over its count.
#include "compile/recognise/pattern.hpp"

namespace rlx::compile {

extern const Pattern mean_pattern{"mean", "mean", quotient_roots, along_some_axes};

}  // namespace rlx::compile
