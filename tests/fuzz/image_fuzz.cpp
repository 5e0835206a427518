// Any bytes either are an image as its header says or a FormatError.
#include <rlx/formats/image.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

using namespace rlx::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const ImageHeader h = parse_image_header(bytes, "fuzz");
    const rlx::HostTensor image = parse_image(bytes, "fuzz");
    if (image.shape() != std::vector<std::int64_t>{h.height, h.width, h.channels}) __builtin_trap();
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
