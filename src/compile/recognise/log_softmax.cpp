// (x - max) - log(sum(exp(x - max))) along one axis. log(softmax(x)) rounds otherwise and stays as it is.
#include "compile/recognise/pattern.hpp"

namespace rlx::compile {

extern const Pattern log_softmax_pattern{"log_softmax", "log_softmax", difference_roots, along_one_axis};

}  // namespace rlx::compile
