// Scalars of the IR as literals of common text that read back to the same bits.
#pragma once
#include "compile/emit_source/dialect.hpp"

#include <rlx/ir/host_tensor.hpp>

#include <string>

namespace rlx::emit_source {

/// `value` has one element. Infinities and NaNs go through their element's from_bits, since languages disagree on their
/// names.
std::string literal(const Dialect& dialect, const HostTensor& value);

/// How `t` is held: the dialect's own row, or the first common one whose types it has, or null.
const Element* find_element(const Dialect& dialect, DType t);

}  // namespace rlx::emit_source
