// PLY files of 3D Gaussians: the attribute layout of Kerbl et al. 2023, and the packed layout of PlayCanvas.
//
// The element `vertex` has the float properties x y z, f_dc_0..2, f_rest_0..m (m + 1 = 0, 9, 24, 45 or 72: degree 0 to
// 4, all coefficients of a channel together), opacity, scale_0..2 and rot_0..3, in any order and of any type.
// Properties and elements of other names (normals, faces) are skipped, lists among them too. Ascii and both byte orders
// are read; headers with comments, obj_info and LF, CRLF or CR line ends. A comment that is the word `antialiased` says
// what the Gaussians were trained for: the layout has no place for it, and other programs skip it.
//
// The packed layout has an element `chunk` with the limits of 256 Gaussians a row, packed_position, packed_rotation,
// packed_scale and packed_color in `vertex`, and f_rest_* as bytes in an element `sh`. It is read only. Its opacities 0
// and 255 become 1e-6 and 1 - 1e-6, so that their logits are finite.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// Throws FormatError where the header lacks a property or contradicts itself, where rows are missing or bytes follow
/// the last, and on a packed file whose chunks do not fit its vertices. Numbers that are not finite are kept.
RLX_API GaussianCloud parse_ply(std::string_view bytes, std::string file = {});
RLX_API GaussianCloud read_ply(const std::string& path);

enum class PlyEncoding : std::uint8_t { binary, ascii };  ///< Binary is little endian.

/// f32 throughout, with the normals that some programs expect, all zero; both encodings read back to the same bits.
/// Throws ArgumentError unless check(cloud) holds. The file is replaced whole or not at all.
RLX_API void write_ply(const std::string& path, const GaussianCloud& cloud, PlyEncoding encoding = PlyEncoding::binary);

}  // namespace rlx::formats
