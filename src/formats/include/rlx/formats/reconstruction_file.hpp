// Posed photographs by the name of their file, whatever the format.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <string>

namespace rlx::formats {

/// A COLMAP folder, or one that has a COLMAP model in sparse/0 or sparse; a .json file: transforms.json where it has
/// frames, else cameras.json. Throws what the readers throw, ArgumentError for another name.
RLX_API Reconstruction read_reconstruction(const std::string& path);

}  // namespace rlx::formats
