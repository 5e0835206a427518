// Launches of splat.rasterize and splat.rasterize_gradient: tiles in parallel, each by the kernels of the target's
// instruction level.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::splat::cpu {

void launch_rasterize(const LaunchCall& c);
std::int64_t rasterize_workspace(const Instance& i);
void launch_rasterize_gradient(const LaunchCall& c);
std::int64_t rasterize_gradient_workspace(const Instance& i);

}  // namespace rlx::splat::cpu
