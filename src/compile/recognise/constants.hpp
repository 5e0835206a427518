// Values that are known when a program is compiled and the same in every element.
#pragma once
#include <rlx/ir/graph.hpp>

#include <optional>

namespace rlx::compile {

/// The one element of `v` as a scalar, where all of its elements are known and have the same bits: of constants (of at
/// most 4096 elements) and sizes, repeated and reshaped, and of sums, differences, products and quotients of such
/// floating-point numbers, rounded as they are at run time.
std::optional<HostTensor> uniform_value(const Graph& g, ValueId v);

}  // namespace rlx::compile
