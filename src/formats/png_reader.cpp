#include <png.h>
#include <rlx/ir/error.hpp>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "gzip.hpp"
#include "image_decoders.hpp"

namespace rlx::formats {

namespace {

// libpng leaves a failing call by longjmp, past every destructor between; so each member function that calls it has
// nothing to destroy, tells by its result that it failed, and the error is thrown outside.
class PngReader {
 public:
  PngReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &on_error, &on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, this, &on_read);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ImageHeader header() {
    if (!try_header()) fail();
    // What deflate makes of the whole file at most, against the rows as they are stored, a filter byte each.
    const std::uint64_t stored = (stored_row_ + 1) * png_get_image_height(png_, info_);
    if (stored > GzipReader::most_output(bytes_.size()))
      throw FormatError(file_, 16,
                        "an image of " + std::to_string(png_get_image_width(png_, info_)) + " x " +
                            std::to_string(png_get_image_height(png_, info_)) + " pixels does not fit in " +
                            std::to_string(bytes_.size()) + " compressed bytes");
    return {png_get_image_width(png_, info_), png_get_image_height(png_, info_), png_get_channels(png_, info_),
            png_get_bit_depth(png_, info_)};
  }

  HostTensor pixels() {
    HostTensor image = make_image(header());
    std::vector<png_bytep> rows(png_get_image_height(png_, info_));
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    auto* const data = reinterpret_cast<png_bytep>(image.mutable_data());
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = data + y * row_bytes;
    if (!try_pixels(rows.data())) fail();
    return image;
  }

 private:
  [[noreturn]] void fail() const { throw FormatError(file_, at_, std::string("damaged PNG image: ") + message_); }

  bool try_header() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_info(png_, info_);
    stored_row_ = png_get_rowbytes(png_, info_);
    png_set_expand(png_);  // palettes, fewer than 8 bits, transparent colours
    png_set_swap(png_);    // 16 bits become little endian
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool try_pixels(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  static void on_read(png_structp png, png_bytep out, std::size_t bytes) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (bytes > self.bytes_.size() - self.at_) {
      self.at_ = self.bytes_.size();
      png_error(png, "the file ends too early");
    }
    std::memcpy(out, self.bytes_.data() + self.at_, bytes);
    self.at_ += bytes;
  }
  static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  std::string_view bytes_;
  const std::string& file_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::size_t at_ = 0, stored_row_ = 0;
  char message_[160] = "";
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

ImageHeader parse_png_header(std::string_view bytes, const std::string& file) {
  return PngReader(bytes, file).header();
}

HostTensor parse_png(std::string_view bytes, const std::string& file) { return PngReader(bytes, file).pixels(); }

}  // namespace rlx::formats
