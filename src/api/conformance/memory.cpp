#include "api/conformance/checks.hpp"
#include "api/conformance/rungs.hpp"

#include <cstddef>

namespace rlx::conformance {

namespace {

std::vector<std::byte> pattern(std::int64_t bytes) {
  std::vector<std::byte> p(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<std::byte>((i * 37 + i / 256) & 0xff);
  return p;
}

struct Held {
  runtime::Device& device;
  runtime::Allocation memory;
  Held(runtime::Device& d, std::int64_t bytes) : device(d), memory(d.allocate(bytes)) {}
  ~Held() { device.release(memory); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

// Up, from one buffer into another at odd offsets, down; what surrounds the copied part stays as it was.
std::string copied(runtime::Device& d, std::int64_t bytes) {
  const Held from(d, bytes), to(d, bytes);
  const std::vector<std::byte> sent = pattern(bytes), clear(sent.size());
  std::vector<std::byte> got(sent.size()), expected(sent.size());
  d.upload(from.memory, 0, sent.data(), bytes);
  d.upload(to.memory, 0, clear.data(), bytes);
  const std::int64_t source = bytes / 5, target = bytes / 3, count = bytes / 2;
  d.copy(to.memory, target, from.memory, source, count);
  d.download(got.data(), to.memory, 0, bytes);
  d.synchronize();
  for (std::int64_t i = 0; i < count; ++i)
    expected[static_cast<std::size_t>(target + i)] = sent[static_cast<std::size_t>(source + i)];
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      return "byte " + std::to_string(i) + " of " + std::to_string(bytes) + " differs after upload, copy and download";
  return {};
}

}  // namespace

void check_memory(runtime::Device& device, Collector& out) {
  const std::string& name = device.target().device;
  for (const std::int64_t bytes : {1, 64, 4099, 1 << 20}) {
    std::string why;
    try {
      why = copied(device, bytes);
    } catch (const std::exception& e) { why = text_of(e); }
    out.add_plain("memory.copy." + name + "." + std::to_string(bytes), "copy", memory_rung, std::move(why));
  }
}

}  // namespace rlx::conformance
