// Records of COLMAP's files as they are read, with ids in place of indices, and where each one lies.
#pragma once
#include <rlx/formats/reconstruction.hpp>

#include <string_view>

namespace rlx::formats {

inline constexpr std::uint64_t no_colmap_point = ~std::uint64_t{0};

/// What links the files: resolved when all three are read.
struct ColmapRecords {
  Reconstruction result{};
  std::vector<std::uint32_t> image_cameras{};                                   ///< Ids, one an image.
  std::vector<std::vector<std::uint64_t>> observed_points{};                    ///< Ids, one an observation.
  std::vector<std::uint32_t> track_images{};                                    ///< Ids, one a track element.
  std::vector<std::size_t> camera_offsets{}, image_offsets{}, point_offsets{};  ///< In their files.
  std::vector<double> positions{}, errors{};
  std::vector<std::uint8_t> colours{};
};

// Each reads one file; `file` names it in errors.
void parse_binary_cameras(std::string_view bytes, const std::string& file, ColmapRecords& r);
void parse_binary_images(std::string_view bytes, const std::string& file, ColmapRecords& r);
void parse_binary_points(std::string_view bytes, const std::string& file, ColmapRecords& r);
void parse_text_cameras(std::string_view bytes, const std::string& file, ColmapRecords& r);
void parse_text_images(std::string_view bytes, const std::string& file, ColmapRecords& r);
void parse_text_points(std::string_view bytes, const std::string& file, ColmapRecords& r);

/// All models that COLMAP has names for, supported or not.
std::string_view colmap_model_name(int number);
int colmap_model_number(CameraModel m);

}  // namespace rlx::formats
