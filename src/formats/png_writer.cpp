#include <png.h>
#include <rlx/formats/image.hpp>
#include <rlx/ir/error.hpp>

#include <cstdio>
#include <new>
#include <vector>

#include "pending_file.hpp"
#include "sizes.hpp"

namespace rlx::formats {

namespace {

// As in png_reader.cpp: no destructor between a call of libpng and its longjmp.
class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, &on_error, &on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
    png_set_write_fn(png_, this, &on_write, &on_flush);
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  const std::string& encode(const HostTensor& image) {
    std::vector<png_bytep> rows(static_cast<std::size_t>(image.shape()[0]));
    const auto row_bytes = static_cast<std::size_t>(image.bytes() / image.shape()[0]);
    // libpng's rows are not const, but it does not write to them without transformations.
    auto* const data = const_cast<png_bytep>(reinterpret_cast<png_const_bytep>(image.data()));
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = data + y * row_bytes;
    if (!try_encode(image.shape().data(), image.dtype() == DType::u16 ? 16 : 8, rows.data())) {
      if (out_of_memory_) throw std::bad_alloc();
      throw ArgumentError(std::string("an image that PNG cannot hold: ") + message_);
    }
    return bytes_;
  }

 private:
  bool try_encode(const std::int64_t* shape, int bits, png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_))) return false;
    static constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(shape[1]), static_cast<png_uint_32>(shape[0]), bits,
                 types[shape[2] - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (bits == 16) png_set_swap(png_);  // from little endian
    png_write_image(png_, rows);
    png_write_end(png_, info_);
    return true;
  }

  static void on_write(png_structp png, png_bytep data, std::size_t bytes) {
    auto& self = *static_cast<PngWriter*>(png_get_io_ptr(png));
    try {
      self.bytes_.append(reinterpret_cast<const char*>(data), bytes);
    } catch (const std::bad_alloc&) { self.out_of_memory_ = true; }
    if (self.out_of_memory_) png_error(png, "out of memory");
  }
  static void on_flush(png_structp) {}
  static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngWriter*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::string bytes_{};
  bool out_of_memory_ = false;
  char message_[160] = "";
};

}  // namespace

void write_png(const std::string& path, const HostTensor& image) {
  const auto& shape = image.shape();
  const bool typed = image.dtype() == DType::u8 || image.dtype() == DType::u16;
  if (!typed || image.rank() != 3 || image.numel() == 0 || shape[2] > 4)
    throw ArgumentError("a PNG image is u8 or u16[height, width, 1 to 4], not " + std::string(name(image.dtype())) +
                        shape_text(shape));
  PngWriter writer;
  PendingFile out(path);
  out.write(writer.encode(image));
  out.commit();
}

}  // namespace rlx::formats
