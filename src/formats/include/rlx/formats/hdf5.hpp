// Datasets of HDF5 files, through the serial library.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <map>
#include <string>
#include <vector>

namespace rlx::formats {

/// Reads f16 bf16 f32 f64, f8e4m3fn, f8e5m2, i8 to i64, u8 to u64 in either byte order, complex as a compound {r, i} of
/// floats, bool as h5py's enumeration {FALSE, TRUE}; FormatError for anything else in the file and for files that are
/// damaged or no HDF5, ArgumentError when there is no such dataset. HDF5 prints nothing, and its error settings are
/// left as found.
RLX_API HostTensor read_hdf5(const std::string& path, const std::string& dataset);
/// Paths of all datasets, as "/group/name", in the order of their names.
RLX_API std::vector<std::string> list_hdf5(const std::string& path);

/// A new file with these datasets; groups are made as the names ask. ArgumentError for types not named above.
RLX_API void write_hdf5(const std::string& path, const std::map<std::string, HostTensor>& datasets);
/// Adds or replaces one dataset and keeps the rest of the file. It works on a copy, which then takes the file's place:
/// an error leaves the file as it was, and the cost grows with the size of the file.
RLX_API void update_hdf5(const std::string& path, const std::string& dataset, const HostTensor& tensor);

}  // namespace rlx::formats
