// The JSON header of a safetensors file.
#pragma once
#include <rlx/ir/dtype.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::formats {

struct SafeTensorEntry {
  std::string name{};
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape{};
  std::uint64_t begin = 0, end = 0;  ///< Within the data that follows the header.
  std::size_t offset = 0;            ///< Of its description in the file, for errors.
};

struct SafeTensorsHeader {
  std::vector<SafeTensorEntry> entries{};  ///< In the order of their data.
  std::map<std::string, std::string> metadata{};
  std::size_t data_offset = 0;
};

/// Throws FormatError unless the header is well formed and its tensors cover the data of `bytes` exactly.
SafeTensorsHeader parse_safetensors_header(std::string_view bytes, const std::string& file);

/// "F32"; empty where the format has no such type.
std::string_view safetensors_dtype(DType t);

inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

}  // namespace rlx::formats
