// One tensor by a file name, whatever the format; what command lines and examples use.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <string>

namespace rlx::formats {

/// A tensor's place: "x.npy", "b.mtx", "file.safetensors:name", "file.h5:/group/name" (also .hdf5, .he5). The part
/// behind the colon may be left out when reading a file that holds one tensor. Throws ArgumentError for an unknown
/// extension, listing the known ones, and for a name that the file does not hold; FormatError as the readers do.
/// Of .mtx files: array storage, and coordinate storage of one row or one column; both give rank 2.
RLX_API HostTensor read_tensor(const std::string& place);

/// Writes whole or not at all. In .safetensors and .h5 files that exist the other tensors are kept; without a name the
/// tensor is called "tensor". What a format cannot hold is an ArgumentError; .mtx reads back as f64 or c128.
RLX_API void write_tensor(const std::string& place, const HostTensor& tensor);

/// What write_tensor would refuse of a tensor of this type and rank, found before it is computed: an unknown extension,
/// a bad name, a type or rank that the format has not (ArgumentError), a folder or file that cannot be written, an
/// existing file that is broken (FormatError). Leaves everything as it was.
RLX_API void check_writable(const std::string& place, DType dtype, int rank);

/// Whether write_tensor(written, ...) would replace what `read` names: the same file, however it is spelt, and in a
/// file of several tensors the same name. `read` may be any file. Throws as read_tensor does where a file of several
/// tensors is broken.
RLX_API bool would_replace(const std::string& written, const std::string& read);

}  // namespace rlx::formats
