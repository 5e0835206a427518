// Any bytes either parse to a cloud, or points, that the file can hold or are a FormatError.
#include <rlx/formats/ply.hpp>
#include <rlx/formats/ply_points.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

namespace {

template <class Parse>
void parses_or_refuses(std::size_t size, const Parse& parse) {
  try {
    if (static_cast<std::size_t>(parse()) > size) __builtin_trap();
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  parses_or_refuses(size, [&] {
    const auto cloud = rlx::formats::parse_ply(bytes, "fuzz.ply");
    check(cloud);
    (void)summarize(cloud);
    return cloud.size();
  });
  parses_or_refuses(size, [&] {
    const auto points = rlx::formats::parse_ply_points(bytes, "fuzz.ply");
    check(rlx::formats::Reconstruction{.points = points});
    return points.size();
  });
  return 0;
}
