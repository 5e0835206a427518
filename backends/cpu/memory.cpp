#include "memory.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/memory.hpp>

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>

namespace rlx::cpu {

namespace {
constexpr std::int64_t huge_page = 2ll << 20, ask_from = 4ll << 20;
}  // namespace

void* allocate(std::int64_t bytes) {
  if (bytes < 0) throw ArgumentError("a buffer of negative size");
  require_memory("a buffer", static_cast<std::uint64_t>(bytes));
  void* memory = nullptr;
  const bool huge = bytes >= ask_from;
  const auto alignment = static_cast<std::size_t>(huge ? huge_page : 64);
  if (::posix_memalign(&memory, alignment, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 64))))
    throw MemoryError("a buffer", static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(available_memory()));
  if (huge) ::madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // advice: failing is fine
  return memory;
}

void release(void* memory) noexcept { std::free(memory); }

}  // namespace rlx::cpu
