// splat.knn by a tree of the points: exact, each point on its own, so that threads change nothing.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::splat::cpu {

void launch_knn(const LaunchCall& c);
std::int64_t knn_workspace(const Instance& i);

}  // namespace rlx::splat::cpu
