// What generated code computes in a wider type than its own (Target::computes_in).
#pragma once
#include <rlx/ir/dtype.hpp>

#include <string_view>

namespace rlx::cpu {
DType computes_in(std::string_view op, DType t);
}  // namespace rlx::cpu
