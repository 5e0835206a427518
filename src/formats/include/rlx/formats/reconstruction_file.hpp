// Posed photographs by the name of their file, whatever the format.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <string>

namespace rlx::formats {

/// Where the posed photographs are that `path` names: a folder with a COLMAP model, itself or its sparse/0 or sparse;
/// else its transforms.json; a .json file itself. Throws ArgumentError for what is none of these.
RLX_API std::string locate_reconstruction(const std::string& path);

/// What is there; a .json file is a transforms.json where it has frames, else a cameras.json. Throws what the readers
/// throw.
RLX_API Reconstruction read_reconstruction(const std::string& path);

}  // namespace rlx::formats
