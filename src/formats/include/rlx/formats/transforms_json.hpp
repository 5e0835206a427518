// transforms.json: posed photographs as NeRF programs (instant-ngp, nerfstudio, the synthetic scenes) state them.
//
// Intrinsics, for all frames or in a frame: fl_x fl_y cx cy w h, or camera_angle_x [camera_angle_y] in radians; k1 k2
// k3 k4 p1 p2; camera_model or is_fisheye. Frames: file_path and transform_matrix, camera to world with OpenGL's camera
// axes (x right, y up, z back). The world is kept as it is; other keys (applied_transform, aabb_scale) say nothing
// here.
#pragma once
#include <rlx/formats/image.hpp>
#include <rlx/formats/reconstruction.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace rlx::formats {

/// The header of the image of that file_path, for files that state no size.
using ImageHeaders = std::function<ImageHeader(const std::string& file_path)>;

/// Cameras that are the same become one; ids count from 1 in the order of the file. Throws FormatError for what is no
/// JSON, with its offset, and for missing keys, numbers that are not finite, matrices that are no rotation within 1e-3
/// and a translation, camera models other than pinhole, OpenCV and OpenCV's fisheye, and names that are repeated, with
/// the place in the document. Without `headers` a file that states no size is such an error too.
RLX_API Reconstruction parse_transforms_json(std::string_view bytes, std::string file = {},
                                             const ImageHeaders& headers = {});
/// Looks for images beside the file, with .png, .jpg or .jpeg behind a file_path that is no file as it stands, which is
/// then the name in the result.
RLX_API Reconstruction read_transforms_json(const std::string& path);

/// In the keys of nerfstudio, intrinsics once where all images have one camera. Observations and points are not
/// written. Throws ArgumentError unless check(r) holds, and for lenses with k4 to k6 beside tangential distortion,
/// which the format cannot state. The file is replaced whole or not at all.
RLX_API void write_transforms_json(const std::string& path, const Reconstruction& r);

}  // namespace rlx::formats
