// Convolutions as packed matrix products: patches go straight from the image into the panels of the product.
#pragma once
#include <rlx/compile/target.hpp>

#include <cstdint>

namespace rlx::cpu {

Answer accepts_conv(const Instance& i);
std::int64_t conv_workspace(const Instance& i);
void launch_conv(const LaunchCall& call);

}  // namespace rlx::cpu
