// Values that the tests of dtypes and tensors name.
#pragma once
#include <limits>

namespace rlx {

constexpr double inf = std::numeric_limits<double>::infinity(), nan_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace rlx
