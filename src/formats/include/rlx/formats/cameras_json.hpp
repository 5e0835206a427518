// cameras.json: the list of cameras that the program of Kerbl et al. 2023 writes beside its scenes, and that viewers
// read.
//
// An array of objects, or one of them: width, height, fx and fy in pixels, position, rotation (3 rows, from the
// camera's axes, x right, y down, z forward, to the world), img_name, id; cx and cy too where the centre is not in the
// middle.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

/// A PINHOLE camera an entry; images are numbered from 1 in the order of the file and named by img_name, else by their
/// number. Throws FormatError for what is no JSON, with its offset, and for missing keys, numbers that are not finite,
/// rotations that are none within 1e-3, cameras that check() refuses and names that are repeated, with the place in the
/// document.
RLX_API Reconstruction parse_cameras_json(std::string_view bytes, std::string file = {});
RLX_API Reconstruction read_cameras_json(const std::string& path);

}  // namespace rlx::formats
