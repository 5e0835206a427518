#define RLX_LANES 8
#define RLX_SH_KERNELS sh_avx2
#include "sh_color_lanes.hpp"
