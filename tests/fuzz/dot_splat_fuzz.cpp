// Any bytes either parse to the cloud of their length or are a FormatError.
#include <rlx/formats/dot_splat.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto cloud = rlx::formats::parse_dot_splat({reinterpret_cast<const char*>(data), size}, "fuzz.splat");
    if (static_cast<std::size_t>(cloud.size()) * 32 != size) __builtin_trap();
    (void)summarize(cloud);
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
