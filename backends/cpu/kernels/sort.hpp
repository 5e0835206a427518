// sort and top_k on the host: radix sorts of order-preserving keys, lines in parallel.
#pragma once
#include <rlx/compile/target.hpp>

#include <cstdint>

namespace rlx::cpu {

Answer accepts_sort(const Instance& i);
std::int64_t sort_workspace(const Instance& i);
void launch_sort(const LaunchCall& call);

Answer accepts_top_k(const Instance& i);
std::int64_t top_k_workspace(const Instance& i);
void launch_top_k(const LaunchCall& call);

}  // namespace rlx::cpu
