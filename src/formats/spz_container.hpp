// The container of SPZ files: header, six arrays of bytes, and the compression around them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rlx::formats {

enum SpzArray : std::size_t {
  spz_means,
  spz_opacities,
  spz_colours,
  spz_scales,
  spz_quaternions,
  spz_harmonics,
  spz_arrays
};

struct SpzContent {
  std::uint32_t version = 3, count = 0;
  int sh_degree = 0, fractional_bits = 12;
  bool antialiased = false;
  std::uint32_t axes = 0;  ///< Of the extension that names them, 1 to 16; 0 where there is none.
  std::array<std::vector<char>, spz_arrays> arrays{};

  /// Bytes a Gaussian.
  std::size_t width(SpzArray array) const;
};

/// Throws FormatError; the arrays of the result have the sizes that width() says.
SpzContent unpack_spz(std::string_view bytes, const std::string& file);
/// The whole file; extensions are not written.
std::string pack_spz(const SpzContent& content);

}  // namespace rlx::formats
