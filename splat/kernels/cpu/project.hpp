// splat.project and its gradient on the host, for pinhole and orthographic cameras.
#pragma once
#include <rlx/compile/target.hpp>

namespace rlx::splat::cpu {

Answer project_accepts(const Instance& i);
std::int64_t project_workspace(const Instance& i);
void launch_project(const LaunchCall& c);
std::int64_t project_gradient_workspace(const Instance& i);
void launch_project_gradient(const LaunchCall& c);

}  // namespace rlx::splat::cpu
