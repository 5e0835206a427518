// How the index space of a kernel becomes the three dimensions that devices launch.
#pragma once
#include "compile/emit_source/emit.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::emit_source {

/// Where the indices of a kernel body come from. `prologue` are statements that define them in terms of the dialect's
/// builtins and return from points beyond the extents; `names` has one an index argument. The first extent is no part
/// of them: where points are counted by it, their number is the size `limit`, which launches hand over.
struct IndexSpace {
  Geometry geometry;
  std::vector<std::string> prologue, names;
  std::optional<std::int64_t> limit;
};
/// What the prologue calls it.
constexpr std::string_view limit_name = "s0";

/// Throws VerifyError when the dialect or the sizes do not allow the kernel's policy.
IndexSpace index_space(const lir::KernelAttrs& kernel, const Dialect& dialect);

}  // namespace rlx::emit_source
