// A checkpoint becomes the nodes of its region. One that repeats what was computed before gets its operands through a
// barrier: nothing of it is merged with the first computation, and it starts when the last operand is there, which is a
// cotangent, so that what it makes is not kept from early on.
#include "compile/dispatch.hpp"

#include <rlx/ops/build.hpp>

namespace rlx::compile {
namespace {

Values checkpoint_inline_apply(Builder& b, const Instance&, const Graph& g, const Node& n, ValuesIn in) {
  const Values apart = n.attrs.as<ops::CheckpointAttrs>().recomputes ? ops::barrier(in) : Values(in.begin(), in.end());
  return b.inline_region(g, n.regions[0], apart);
}

}  // namespace

extern const RewriteRule checkpoint_inline{"checkpoint_inline", "checkpoint", true,
                                           [](const Instance&) { return Answer(true); }, checkpoint_inline_apply};

}  // namespace rlx::compile
