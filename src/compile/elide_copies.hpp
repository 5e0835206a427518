// Loops update their state in place where that is safe.
#pragma once
#include <rlx/compile/report.hpp>

namespace rlx::compile {

/// In the body of each lir.while, lowering leaves `kernel -> fresh buffer; copy fresh -> state`. The kernel writes into
/// the state instead, and the copy goes, where nothing needs the old state any more: every other step that reads it
/// comes before the kernel, and the kernel itself reads it only at the position that it writes. The copy leaves the
/// report too.
void elide_copies(Graph& lir, DispatchReport& report);

}  // namespace rlx::compile
