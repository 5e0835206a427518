// SPZ files (Niantic): Gaussians in 8 to 24 bits a number, compressed.
//
// Versions 1 to 3 are one gzip stream, version 4 a plain header, a table and a zstd stream an array. Means are 24-bit
// fixed point; log scales, opacities and colours 8 bits; quaternions 3 x 8 bits, or from version 3 the three smallest
// components in 10 bits each; harmonics 8 bits. Extensions are skipped, but for the one that names the axes.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace rlx::formats {

/// The axes that the numbers of a file refer to. The format says right, up, back; some programs store those of PLY
/// (right, down, front) without saying so. An extension in the file that names its axes is obeyed before this.
enum class SpzAxes : std::uint8_t { right_up_back, right_down_front };

/// Throws FormatError for what is no SPZ file, for a count that the compressed bytes cannot hold, streams that do not
/// decompress to the sizes that follow from the header, and axes that are not a flip of ours. Opacities 0 and 255
/// become 1e-6 and 1 - 1e-6, so that their logits are finite.
RLX_API GaussianCloud parse_spz(std::string_view bytes, std::string file = {}, SpzAxes axes = SpzAxes::right_up_back);
RLX_API GaussianCloud read_spz(const std::string& path, SpzAxes axes = SpzAxes::right_up_back);

struct SpzOptions {
  std::optional<int> version{};  ///< 2, 3 or 4; by default 3, which most programs read, and 4 for degree 4.
  SpzAxes axes = SpzAxes::right_up_back;
  int degree_1_bits = 5, other_bits = 4;  ///< 1 to 8: what is kept of harmonics of degree 1, and of higher ones.
};

/// Means get 12 fractional bits, or as many as their range leaves. What is lost: see above; harmonics beyond -1 to 1
/// and log scales beyond -10 to 5.9375 are cut off, quaternions lose their length, and one of zero becomes (1, 0, 0,
/// 0). Throws ArgumentError where a mean is not finite or beyond 2^23, on a version that is not written or holds no
/// degree 4, and unless check(cloud) holds. The file is replaced whole or not at all.
RLX_API void write_spz(const std::string& path, const GaussianCloud& cloud, const SpzOptions& options = {});

}  // namespace rlx::formats
