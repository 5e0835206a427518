// The header of a .npy file: a Python dictionary literal.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::formats {

struct NpyHeader {
  DType dtype = DType::f64;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape{};
  std::size_t data_offset = 0;  ///< From the start of the file.
};

/// Throws FormatError, also where the file holds more or fewer bytes than the header says.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& file);

/// NumPy's name of a type, as "<f4"; empty where it has none.
std::string_view npy_descr(DType t);

}  // namespace rlx::formats
