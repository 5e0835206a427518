#include <rlx/formats/npy.hpp>
#include <rlx/ir/counted.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstring>

#include "mapped_file.hpp"
#include "npy_header.hpp"
#include "pending_file.hpp"
#include "sizes.hpp"
#include "writable.hpp"

namespace rlx::formats {

namespace {

void swap_bytes(std::byte* data, std::int64_t bytes, int width) {
  for (std::int64_t at = 0; at < bytes; at += width) std::reverse(data + at, data + at + width);
}

// Walks the result in order and gathers from the first-index-fastest source; the last dimension is the inner loop.
template <std::size_t width>
void from_fortran(const char* source, std::byte* out, const std::vector<std::int64_t>& shape) {
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> stride(rank, width), index(rank, 0);
  for (std::size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * shape[d - 1];
  const std::int64_t inner = shape[rank - 1], step = stride[rank - 1];
  for (const char* from = source;;) {
    for (std::int64_t k = 0; k < inner; ++k, out += width) std::memcpy(out, from + k * step, width);
    std::size_t d = rank - 1;
    while (d > 0) {
      --d;
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (rank == 1) return;
  }
}

void copy_fortran(const char* source, std::byte* out, const std::vector<std::int64_t>& shape, int width) {
  switch (width) {
    case 1:
      return from_fortran<1>(source, out, shape);
    case 2:
      return from_fortran<2>(source, out, shape);
    case 4:
      return from_fortran<4>(source, out, shape);
    case 8:
      return from_fortran<8>(source, out, shape);
    default:
      return from_fortran<16>(source, out, shape);
  }
}

}  // namespace

HostTensor parse_npy(std::string_view bytes, std::string file) {
  const NpyHeader h = parse_npy_header(bytes, file);
  const std::string_view data = bytes.substr(h.data_offset);
  if (h.dtype == DType::boolean)
    if (const auto bad = find_bad_bool(data.data(), data.size()))
      throw FormatError(file, h.data_offset + *bad, "a bool must be 0 or 1");
  HostTensor t(h.dtype, h.shape);
  if (data.empty()) return t;
  std::byte* const out = t.mutable_data();
  const bool transposed =
      h.fortran_order && std::count_if(h.shape.begin(), h.shape.end(), [](auto d) { return d != 1; }) > 1;
  if (transposed) copy_fortran(data.data(), out, h.shape, bit_width(h.dtype) / 8);
  else std::memcpy(out, data.data(), data.size());
  if (h.big_endian) swap_bytes(out, t.bytes(), bit_width(real_of(h.dtype)) / 8);
  return t;
}

HostTensor read_npy(const std::string& path) { return parse_npy(MappedFile::open(path)->bytes(), path); }

void check_npy_type(DType t, int rank) {
  if (npy_descr(t).empty())
    throw ArgumentError("NumPy has no type for " + std::string(name(t)) + ": use .safetensors or .h5");
  if (rank > 64) throw ArgumentError("NumPy has no arrays of " + counted(rank, "dimension"));
}

void write_npy(const std::string& path, const HostTensor& tensor) {
  check_npy_type(tensor.dtype(), tensor.rank());
  std::string header = "{'descr': '" + std::string(npy_descr(tensor.dtype())) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dim : tensor.shape()) header += std::to_string(dim) + ", ";
  if (tensor.rank() > 0) header.erase(header.size() - (tensor.rank() == 1 ? 1 : 2));  // "(3,)" but "(2, 3)"
  header += "), }";
  constexpr std::size_t prefix = 10, alignment = 64;
  header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ');
  header += '\n';

  PendingFile out(path);
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 255),
                                     static_cast<char>(header.size() >> 8)};
  out.write("\x93NUMPY");
  out.write(version_and_length, sizeof version_and_length);
  out.write(header);
  out.write(tensor.data(), static_cast<std::size_t>(tensor.bytes()));
  out.commit();
}

}  // namespace rlx::formats
