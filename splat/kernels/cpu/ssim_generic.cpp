#define RLX_LANES 4
#define RLX_SSIM_KERNELS ssim_generic
#include "ssim_lanes.hpp"
