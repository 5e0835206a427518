// Any bytes either parse to a reconstruction that check() accepts or are a FormatError.
#include <rlx/formats/cameras_json.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

using namespace rlx::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(parse_cameras_json({reinterpret_cast<const char*>(data), size}, "fuzz.json"));
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
