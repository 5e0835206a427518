#define RLX_LANES 4
#define RLX_PROJECT_KERNELS project_generic
#include "project_lanes.hpp"
