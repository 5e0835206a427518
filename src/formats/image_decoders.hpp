// One decoder a format; image.hpp says what they throw and make.
#pragma once
#include <rlx/formats/image.hpp>

namespace rlx::formats {

bool is_png(std::string_view bytes);
ImageHeader parse_png_header(std::string_view bytes, const std::string& file);
HostTensor parse_png(std::string_view bytes, const std::string& file);

bool is_jpeg(std::string_view bytes);
ImageHeader parse_jpeg_header(std::string_view bytes, const std::string& file);
HostTensor parse_jpeg(std::string_view bytes, const std::string& file);

/// Zeros of [height, width, channels].
HostTensor make_image(const ImageHeader& header);

}  // namespace rlx::formats
