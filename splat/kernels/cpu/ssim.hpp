// Launches of splat.ssim and splat.ssim_gradient: bands of rows in parallel, each by the kernels of the target's
// instruction level. A row's results do not depend on its band.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::splat::cpu {

void launch_ssim(const LaunchCall& c);
std::int64_t ssim_workspace(const Instance& i);
void launch_ssim_gradient(const LaunchCall& c);
std::int64_t ssim_gradient_workspace(const Instance& i);

}  // namespace rlx::splat::cpu
