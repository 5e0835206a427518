// PLY files of points without Gaussians: what laser scanners and structure from motion write, and training starts from.
//
// The element `vertex` has x y z, and may have red green blue (or r g b): integers from 0 to 255 or floats from 0 to 1.
// Ascii and both byte orders; what else there is (normals, faces) is skipped.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// Whether the file's vertices are points: they have x y z and neither scales nor packed positions. Throws FormatError
/// where the header is none.
RLX_API bool is_ply_of_points(const std::string& path);

/// Numbered from 1, without tracks or errors; grey where the file has no colours. Throws what parse_ply throws. Numbers
/// that are not finite are kept, but a colour that is NaN is black.
RLX_API SparsePoints parse_ply_points(std::string_view bytes, std::string file = {});
RLX_API SparsePoints read_ply_points(const std::string& path);

}  // namespace rlx::formats
