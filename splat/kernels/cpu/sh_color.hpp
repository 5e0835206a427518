// splat.sh_color and its gradient on the host.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::splat::cpu {

void launch_sh_color(const LaunchCall& c);
void launch_sh_color_gradient(const LaunchCall& c);

}  // namespace rlx::splat::cpu
