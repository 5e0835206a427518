// nonzero and repeat on the host: chunks count, the counts are summed, chunks write where theirs begins.
#pragma once
#include <rlx/compile/target.hpp>

#include <cstdint>

namespace rlx::cpu {

Answer accepts_sized(const Instance& i);
std::int64_t sized_workspace(const Instance& i);
void launch_nonzero(const LaunchCall& call);
void launch_repeat(const LaunchCall& call);

}  // namespace rlx::cpu
