// Any bytes either parse to a tensor of the size that they hold or are a FormatError.
#include <rlx/formats/npy.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const rlx::HostTensor t = rlx::formats::parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
    if (static_cast<std::size_t>(t.bytes()) >= size) __builtin_trap();
    if (t.numel() > 0) (void)t.get_c128(t.numel() - 1);
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
