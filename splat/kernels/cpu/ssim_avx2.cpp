#define RLX_LANES 8
#define RLX_SSIM_KERNELS ssim_avx2
#include "ssim_lanes.hpp"
