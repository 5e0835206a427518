// Any bytes either parse to a cloud that the file can hold or are a FormatError.
#include <rlx/formats/ply.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto cloud = rlx::formats::parse_ply({reinterpret_cast<const char*>(data), size}, "fuzz.ply");
    if (static_cast<std::size_t>(cloud.size()) > size) __builtin_trap();
    check(cloud);
    (void)summarize(cloud);
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
