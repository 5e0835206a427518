// Scalars of the IR as literals that read back to the same bits.
#pragma once
#include "compile/emit_source/dialect.hpp"

#include <rlx/ir/host_tensor.hpp>

#include <string>

namespace rlx::emit_source {

/// `value` has one element. Infinities and NaNs go through the element's from_bits, since languages disagree on their
/// names.
std::string literal(const Dialect& dialect, const Element& element, const HostTensor& value);

/// Row of `t`, or null.
const Element* find_element(const Dialect& dialect, DType t);

}  // namespace rlx::emit_source
