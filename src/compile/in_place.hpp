// Whether a kernel may write over what it reads.
#pragma once
#include <rlx/compile/lir.hpp>

#include <set>

namespace rlx::compile {

/// Whether `kernel` gives the same result when its operands `to`, which it stores to, are the memory of its operands
/// `from`: each load from these is at the very index, computed alike, at which those are stored, and before it. A
/// kernel stores each element once, so what one point or one trip of an inner loop stores no other one has loaded. True
/// where it reads none of `from`.
bool may_write_over(const Graph& lir, const Node& kernel, const std::set<ValueId>& from, const std::set<ValueId>& to);

}  // namespace rlx::compile
