// How the index space of a kernel becomes the three dimensions that devices launch.
#pragma once
#include "compile/emit_source/emit.hpp"

#include <string>
#include <vector>

namespace rlx::emit_source {

/// Where the indices of a kernel body come from. `prologue` are statements that define them in terms of the dialect's
/// builtins and return from points beyond the extents; `names` has one an index argument.
struct IndexSpace {
  Geometry geometry;
  std::vector<std::string> prologue, names;
};

/// Throws VerifyError when the dialect or the sizes do not allow the kernel's policy.
IndexSpace index_space(const lir::KernelAttrs& kernel, const Dialect& dialect);

}  // namespace rlx::emit_source
