#define RLX_LANES 8
#define RLX_PROJECT_KERNELS project_avx2
#include "project_lanes.hpp"
