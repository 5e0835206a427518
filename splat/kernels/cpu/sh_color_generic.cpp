#define RLX_LANES 4
#define RLX_SH_KERNELS sh_generic
#include "sh_color_lanes.hpp"
