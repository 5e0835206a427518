#define RLX_LANES 16
#define RLX_RASTER_KERNELS raster_avx512
#include "rasterize_lanes.hpp"
