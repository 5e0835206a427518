// Any bytes either parse to tensors that cover the data or are a FormatError; views and copies agree.
#include <rlx/formats/safetensors.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

using namespace rlx::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const SafeTensors copies = parse_safetensors(bytes, "fuzz.safetensors");
    static const int keeper = 0;
    const SafeTensors views =
        parse_safetensors(bytes, "fuzz.safetensors", std::shared_ptr<const void>(&keeper, [](const void*) {}));
    std::size_t covered = 0;
    for (const auto& [name, tensor] : copies.tensors) {
      covered += static_cast<std::size_t>(tensor.bytes());
      if (!views.tensors.at(name).identical(tensor)) __builtin_trap();
    }
    if (covered > size) __builtin_trap();
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > size) __builtin_trap();
  }
  return 0;
}
