// Any three files either link to a reconstruction that check() accepts or are a FormatError. The first byte tells the
// encoding, the next four the sizes of cameras and images, and the rest are the files.
#include <rlx/formats/colmap.hpp>
#include <rlx/ir/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace rlx::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 5, size - 5);
  const auto file = [&](std::size_t wanted) {
    const std::string_view f = rest.substr(0, std::min(wanted, rest.size()));
    rest.remove_prefix(f.size());
    return f;
  };
  ColmapFiles files;
  files.cameras = file(data[1] | static_cast<std::size_t>(data[2]) << 8);
  files.images = file(data[3] | static_cast<std::size_t>(data[4]) << 8);
  files.points3d = rest;
  try {
    check(parse_colmap(files, data[0] & 1 ? ColmapEncoding::text : ColmapEncoding::binary, "fuzz"));
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
