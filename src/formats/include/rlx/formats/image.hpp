// Photographs: PNG and JPEG. An image is a tensor [height, width, channels], u8 or u16, of 1 to 4 channels: grey, grey
// and alpha, RGB, RGBA.
#pragma once
#include <rlx/ir/export.hpp>
#include <rlx/ir/host_tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace rlx::formats {

struct ImageHeader {
  std::int64_t width = 0, height = 0;
  int channels = 0, bits = 8;  ///< Of the tensor that the reader makes.
};

/// The first bytes tell the format, not the name. Values are as stored: no gamma, no colour profile, and the
/// orientation that EXIF may ask for is not applied (as COLMAP, whose cameras are of the stored pixels). Palettes
/// become RGB, transparent colours an alpha channel, fewer than 8 bits 8. Throws FormatError for what is damaged or cut
/// short, for more pixels than so many compressed bytes can give, for CMYK and for arithmetic coding, MemoryError where
/// the image cannot be had.
RLX_API HostTensor parse_image(std::string_view bytes, std::string file = {});
RLX_API HostTensor read_image(const std::string& path);
RLX_API ImageHeader parse_image_header(std::string_view bytes, std::string file = {});
RLX_API ImageHeader read_image_header(const std::string& path);

/// f32, 0 to 1, of u8 or u16. Throws ArgumentError for other types.
RLX_API HostTensor unit_floats(const HostTensor& image);

/// `image`: u8 or u16. Throws ArgumentError for other types, shapes that are no image, and an image without pixels. The file
/// is replaced whole or not at all.
RLX_API void write_png(const std::string& path, const HostTensor& image);

}  // namespace rlx::formats
