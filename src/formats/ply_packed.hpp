// The packed layout of PLY: see ply.hpp.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include "ply_header.hpp"

namespace rlx::formats {

/// Told by the number of properties f_rest_*; FormatError where it is that of no degree.
int ply_sh_degree(const PlyElement& e, const std::string& file);

/// `header` is that of `bytes`, and `vertex` its element of that name.
GaussianCloud read_packed_ply(const PlyHeader& header, const PlyElement& vertex, std::string_view bytes,
                              const std::string& file);

}  // namespace rlx::formats
