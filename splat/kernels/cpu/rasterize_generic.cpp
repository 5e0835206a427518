#define RLX_LANES 4
#define RLX_RASTER_KERNELS raster_generic
#include "rasterize_lanes.hpp"
