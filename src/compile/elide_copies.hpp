// Copies that lowering leaves to keep values apart, and that turn out not to be needed.
#pragma once
#include <rlx/ir/graph.hpp>

namespace rlx::compile {

/// Lowering gives every value memory of its own. Two kinds of copies then go:
///
/// - `copy a -> b` into a buffer made for it, where nothing names `a` afterwards: b becomes a. So does a copy of a
///   loop's state that the trip changes and copies back before anything else names the state. Thus
///   dynamic_update_slice and scatter write into memory that dies there, and a loop starts in the memory of what it is
///   given. Where b stands outside the branch or loop whose steps make `a`, and these do not name b before, a becomes
///   b: a branch makes its results in place.
/// - In the body of a lir.while `kernel -> fresh buffer; copy fresh -> state`: the kernel writes into the state, where
///   nothing needs the old state any more: every other step that reads it comes before the kernel, and the kernel
///   itself reads it only at the position that it writes.
void elide_copies(Graph& lir);

}  // namespace rlx::compile
