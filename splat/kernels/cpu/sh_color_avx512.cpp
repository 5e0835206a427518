#define RLX_LANES 16
#define RLX_SH_KERNELS sh_avx512
#include "sh_color_lanes.hpp"
