// NumPy's .npy files, versions 1 to 3.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// Reads f2 f4 f8, c8 c16, i1 to i8, u1 to u8 and b1 in either byte order; Fortran order becomes row-major. Structured,
/// text, date and object types are refused with FormatError, as are bytes beyond the array. The elements are copied,
/// because other programs overwrite such files in place.
RLX_API HostTensor parse_npy(std::string_view bytes, std::string file = {});
RLX_API HostTensor read_npy(const std::string& path);

/// Version 1, little endian, row-major, data aligned to 64 bytes. Throws ArgumentError for types that NumPy has not
/// (bf16, f8, i4). The file is replaced whole or not at all.
RLX_API void write_npy(const std::string& path, const HostTensor& tensor);

}  // namespace rlx::formats
