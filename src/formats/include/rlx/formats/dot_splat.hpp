// .splat files, as the viewer of Kevin Kwok (antimatter15) defined them: 32 bytes a Gaussian and nothing else.
//
// A record: mean, 3 f32; scale, linear, 3 f32; colour 0 to 255 and opacity 0 to 255, 4 u8; quaternion w x y z, 4 u8,
// each component 128 + 128 times it. There are no harmonics above degree 0, colours outside 0 to 1 are cut off, and
// the file has no magic number: any bytes of a length that 32 divides are such a file.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// FormatError where the length is no multiple of 32. Opacities 0 and 255 become 1e-6 and 1 - 1e-6, so that their
/// logits are finite; a scale that is not positive becomes a log scale that is not finite.
RLX_API GaussianCloud parse_dot_splat(std::string_view bytes, std::string file = {});
RLX_API GaussianCloud read_dot_splat(const std::string& path);

/// Keeps the order of the cloud. What is lost: harmonics above degree 0, the length of quaternions, and what 8 bits
/// cannot tell of colour, opacity and rotation. A quaternion of zero or NaN becomes zero. Throws ArgumentError unless
/// check(cloud) holds. The file is replaced whole or not at all.
RLX_API void write_dot_splat(const std::string& path, const GaussianCloud& cloud);

}  // namespace rlx::formats
