// The operators of the library itself: primitives, core composites and LIR. Families add theirs
// (rlx/linalg/linalg.hpp).
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/runtime/catalog.hpp>

#include <string_view>

namespace rlx {
/// A fresh catalog without families.
RLX_API runtime::Catalog make_catalog();

/// The catalog of Tensor, jit and the transforms: one a process, never destroyed, so that programs that outlive main's
/// statics stay valid. Whoever adds to it directly does so before other threads trace; extend_default_catalog needs no
/// care.
RLX_API runtime::Catalog& default_catalog();
/// Calls `add` on it the first time that `family` is named. Any thread, also inside a trace.
RLX_API void extend_default_catalog(std::string_view family, void (*add)(runtime::Catalog&));
}  // namespace rlx
