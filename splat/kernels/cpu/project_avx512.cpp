#define RLX_LANES 16
#define RLX_PROJECT_KERNELS project_avx512
#include "project_lanes.hpp"
