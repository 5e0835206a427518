// The operators of the library itself: primitives, core composites and LIR. Families add theirs (rlx/linalg/linalg.hpp).
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/runtime/catalog.hpp>

namespace rlx {
/// A fresh catalog without families.
RLX_API runtime::Catalog make_catalog();
}  // namespace rlx
