// The public view, under the name that the kernels use.
#pragma once
#include "linalg/include/rlx/linalg/csr_view.hpp"
