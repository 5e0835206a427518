// Any bytes either parse to a cloud or are a FormatError. The first byte chooses: the rest is a file as it is, or what
// a gzip stream holds, which no fuzzer finds through its checksum.
#include <formats/gzip.hpp>
#include <rlx/formats/spz.hpp>
#include <rlx/ir/error.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string file(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 1) file = rlx::formats::gzip(file);
  try {
    const auto cloud = rlx::formats::parse_spz(file, "fuzz.spz");
    check(cloud);
    (void)summarize(cloud);
  } catch (const rlx::MemoryError&) {
  } catch (const rlx::FormatError& e) {
    if (e.offset() > file.size()) __builtin_trap();
  }
  return 0;
}
