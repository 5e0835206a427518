#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs the two above and does not name them.
#include <jerror.h>
#include <jpeglib.h>
#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <limits>

#include "image_decoders.hpp"

namespace rlx::formats {

namespace {

// A block of 8 x 8 pixels takes at least one bit.
constexpr std::uint64_t most_pixels_a_byte = 64 * 8;
// Every scan of a progressive image goes through all of it again; encoders write about ten.
constexpr int most_scans = 200;

// libjpeg leaves a failing call by our longjmp, as libpng does: see png_reader.cpp.
class JpegReader {
 public:
  JpegReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = &on_error;
    errors_.emit_message = &on_message;
    errors_.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = &on_progress;
    jpeg_.client_data = this;
    if (bytes.size() > std::numeric_limits<unsigned long>::max()) throw FormatError(file, 0, "the file is too large");
    if (!try_create()) {
      jpeg_destroy_decompress(&jpeg_);
      fail();
    }
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  ImageHeader header() {
    if (!try_header()) fail();
    const std::uint64_t pixels = std::uint64_t{jpeg_.image_width} * jpeg_.image_height;
    if (jpeg_.arith_code) throw FormatError(file_, 0, "JPEG with arithmetic coding is not supported");
    if (jpeg_.num_components != 1 && jpeg_.num_components != 3)
      throw FormatError(file_, 0,
                        "JPEG of " + std::to_string(jpeg_.num_components) + " components (CMYK) is not supported");
    if (pixels / most_pixels_a_byte > bytes_.size())
      throw FormatError(file_, 0,
                        "an image of " + std::to_string(jpeg_.image_width) + " x " +
                            std::to_string(jpeg_.image_height) + " pixels does not fit in " +
                            std::to_string(bytes_.size()) + " compressed bytes");
    return {jpeg_.image_width, jpeg_.image_height, jpeg_.num_components, 8};
  }

  HostTensor pixels() {
    const ImageHeader h = header();
    // Progressive images are held as coefficients of 16 bits until the last scan.
    require_memory(file_, static_cast<std::uint64_t>(3 * h.width * h.height * h.channels));
    HostTensor image = make_image(h);
    if (!try_pixels(reinterpret_cast<JSAMPROW>(image.mutable_data()))) fail();
    return image;
  }

 private:
  [[noreturn]] void fail() const {
    const std::size_t left = jpeg_.src ? jpeg_.src->bytes_in_buffer : bytes_.size();
    throw FormatError(file_, left <= bytes_.size() ? bytes_.size() - left : bytes_.size(),
                      std::string("damaged JPEG image: ") + message_);
  }

  bool try_create() {
    if (setjmp(jump_)) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                 static_cast<unsigned long>(bytes_.size()));
    return true;
  }
  bool try_header() {
    if (setjmp(jump_)) return false;
    jpeg_read_header(&jpeg_, TRUE);
    jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    return true;
  }
  bool try_pixels(JSAMPROW row) {
    if (setjmp(jump_)) return false;
    jpeg_start_decompress(&jpeg_);
    const std::size_t row_bytes = std::size_t{jpeg_.output_width} * static_cast<std::size_t>(jpeg_.output_components);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW at = row + jpeg_.output_scanline * row_bytes;
      jpeg_read_scanlines(&jpeg_, &at, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  [[noreturn]] static void on_error(j_common_ptr jpeg) {
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    std::snprintf(self.message_, sizeof self.message_, "%s", text);
    std::longjmp(self.jump_, 1);
  }
  // What libjpeg only warns of is a picture that is partly made up; but for a few faults that lose nothing.
  static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    const int code = jpeg->err->msg_code;
    if (code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR) on_error(jpeg);
  }
  static void on_progress(j_common_ptr jpeg) {
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    if (self.jpeg_.input_scan_number <= most_scans) return;
    std::snprintf(self.message_, sizeof self.message_, "more than %d scans", most_scans);
    std::longjmp(self.jump_, 1);
  }

  std::string_view bytes_;
  const std::string& file_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX] = "";
};

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

ImageHeader parse_jpeg_header(std::string_view bytes, const std::string& file) {
  return JpegReader(bytes, file).header();
}

HostTensor parse_jpeg(std::string_view bytes, const std::string& file) { return JpegReader(bytes, file).pixels(); }

}  // namespace rlx::formats
