// splat.tile_bin on the host: sorts Gaussians, not entries.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::splat::cpu {

void launch_tile_bin(const LaunchCall& c);
std::int64_t tile_bin_workspace(const Instance& i);

}  // namespace rlx::splat::cpu
