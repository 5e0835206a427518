#include <rlx/formats/image.hpp>
#include <rlx/ir/error.hpp>

#include <array>

#include "image_decoders.hpp"
#include "mapped_file.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

[[noreturn]] void unknown(std::string_view bytes, const std::string& file) {
  if (bytes.empty()) throw FormatError(file, 0, "the file is empty, expected an image");
  throw FormatError(file, 0, "expected a PNG or JPEG image, found " + in_quotes(bytes.substr(0, 8)));
}

template <class T>
HostTensor divided(const HostTensor& image, float largest) {
  HostTensor out(DType::f32, image.shape());
  if (out.numel() == 0) return out;
  const auto from = image.as<T>();
  float* to = out.as_mutable<float>().data();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]) / largest;
  return out;
}

}  // namespace

HostTensor make_image(const ImageHeader& h) {
  return HostTensor(h.bits == 16 ? DType::u16 : DType::u8, {h.height, h.width, h.channels});
}

HostTensor parse_image(std::string_view bytes, std::string file) {
  if (is_png(bytes)) return parse_png(bytes, file);
  if (is_jpeg(bytes)) return parse_jpeg(bytes, file);
  unknown(bytes, file);
}

HostTensor read_image(const std::string& path) { return parse_image(MappedFile::open(path)->bytes(), path); }

ImageHeader parse_image_header(std::string_view bytes, std::string file) {
  if (is_png(bytes)) return parse_png_header(bytes, file);
  if (is_jpeg(bytes)) return parse_jpeg_header(bytes, file);
  unknown(bytes, file);
}

ImageHeader read_image_header(const std::string& path) {
  return parse_image_header(MappedFile::open(path)->bytes(), path);
}

HostTensor unit_floats(const HostTensor& image) {
  if (image.dtype() == DType::u8) return divided<std::uint8_t>(image, 255);
  if (image.dtype() == DType::u16) return divided<std::uint16_t>(image, 65535);
  throw ArgumentError("an image must be u8 or u16, not " + std::string(name(image.dtype())));
}

}  // namespace rlx::formats
