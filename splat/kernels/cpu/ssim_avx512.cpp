#define RLX_LANES 16
#define RLX_SSIM_KERNELS ssim_avx512
#include "ssim_lanes.hpp"
