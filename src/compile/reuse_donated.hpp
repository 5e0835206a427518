// Results in the memory of inputs that the caller gives away.
#pragma once
#include <rlx/compile/report.hpp>

#include <vector>

namespace rlx::compile {

/// An output buffer becomes the donated input of its type whose last use it follows: every step that names the input
/// comes before the first one that writes the output, or that one is a copy of it, which then goes, or a kernel that
/// may write over it (in_place.hpp). A first write that comes too early is moved after the last use where no step
/// between forbids it. So an input that is returned is one that the program writes over, and no other is. `donated`:
/// inputs of `lir`. One row of report.donations each, in order. Comes before fuse_calls, which finds calls and their
/// kernels by what they read and write.
void reuse_donated(Graph& lir, const std::vector<ValueId>& donated, DispatchReport& report);

}  // namespace rlx::compile
