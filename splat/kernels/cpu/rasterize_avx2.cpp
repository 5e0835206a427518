#define RLX_LANES 8
#define RLX_RASTER_KERNELS raster_avx2
#include "rasterize_lanes.hpp"
