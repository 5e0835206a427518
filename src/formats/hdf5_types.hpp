// Element types of HDF5 datasets: those of h5py for bool and complex numbers.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <optional>

#include "hdf5_library.hpp"

namespace rlx::formats {

inline constexpr DTypeSet hdf5_dtypes =
    floating | integers | complex_types | DTypeSet{DType::boolean, DType::f8e4m3fn, DType::f8e5m2};

/// The type of our memory, which is also what is written: little endian. `t` is one of hdf5_dtypes.
Hdf5Handle hdf5_type(DType t);
/// None where no element type of ours has these bits; of either byte order, which HDF5 converts.
std::optional<DType> dtype_of_hdf5(hid_t type);

}  // namespace rlx::formats
