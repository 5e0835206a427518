// COLMAP's sparse models: a folder with cameras, images and points3D, as .bin or as .txt.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <string>
#include <string_view>

namespace rlx::formats {

enum class ColmapEncoding : std::uint8_t { binary, text };

/// The contents of the three files.
struct ColmapFiles {
  std::string_view cameras{}, images{}, points3d{};
};

/// Rotations are normalised. Throws FormatError for what contradicts itself or the files' sizes, ids that are repeated
/// or that nothing has, camera models that are not supported (by name), poses that are not finite, rotations of zero
/// and cameras that check() refuses. `folder` begins the names of files in errors.
RLX_API Reconstruction parse_colmap(const ColmapFiles& files, ColmapEncoding encoding, const std::string& folder = {});
/// The binary files where there are such, else the texts. Rigs and frames, which newer versions write beside them, say
/// nothing that images do not.
RLX_API Reconstruction read_colmap(const std::string& folder);

/// Makes the folder where it is not there. Reads back to the same numbers. Throws ArgumentError unless check(r) holds,
/// and for a name that is empty or holds a line end, tab or zero byte, in a text also a blank at an end. Each file is
/// replaced whole or not at all.
RLX_API void write_colmap(const std::string& folder, const Reconstruction& r,
                          ColmapEncoding encoding = ColmapEncoding::binary);

}  // namespace rlx::formats
