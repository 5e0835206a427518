// A scene of Gaussians by its file name, whatever the format: .ply, .spz or .splat.
#pragma once
#include <rlx/formats/gaussian_cloud.hpp>

#include <string>

namespace rlx::formats {

/// Throws ArgumentError for another suffix, and what the reader throws.
RLX_API GaussianCloud read_gaussians(const std::string& path);
/// With the defaults of the format's own writer.
RLX_API void write_gaussians(const std::string& path, const GaussianCloud& cloud);

}  // namespace rlx::formats
