// Sorts of (key, position) records. No two are equal, so every way of sorting gives the one order, which is stable.
#pragma once
#include "../kokkos/host_pool.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>

namespace rlx::cpu {

/// Keys of at most 32 bits, above the position.
struct NarrowRecord {
  std::uint64_t bits;
  NarrowRecord() = default;
  NarrowRecord(std::uint64_t key, std::uint32_t position) : bits(key << 32 | position) {}
  std::uint64_t key() const { return bits >> 32; }
  std::uint32_t position() const { return static_cast<std::uint32_t>(bits); }
  auto operator<=>(const NarrowRecord&) const = default;
};
struct WideRecord {
  std::uint64_t bits;
  std::uint64_t at;
  WideRecord() = default;
  WideRecord(std::uint64_t key, std::uint32_t position) : bits(key), at(position) {}
  std::uint64_t key() const { return bits; }
  std::uint32_t position() const { return static_cast<std::uint32_t>(at); }
  auto operator<=>(const WideRecord&) const = default;
};

/// Sorts x[0, n), given in the order of positions, by keys of `bits` bits; `other` is as long.
template <class Record>
void sort_records(Record* x, Record* other, std::int64_t n, int bits) {
  constexpr std::int64_t too_short_for_radix = 512;
  if (n < too_short_for_radix) {
    std::sort(x, x + n);
    return;
  }
  Record* from = x;
  for (int shift = 0; shift < bits; shift += 8) {
    std::int64_t count[257] = {};
    for (std::int64_t i = 0; i < n; ++i) ++count[(from[i].key() >> shift & 255) + 1];
    if (std::any_of(count + 1, count + 257, [n](std::int64_t c) { return c == n; })) continue;  // one digit for all
    for (int d = 1; d < 257; ++d) count[d] += count[d - 1];
    for (std::int64_t i = 0; i < n; ++i) other[count[from[i].key() >> shift & 255]++] = from[i];
    std::swap(from, other);
  }
  if (from != x) std::memcpy(static_cast<void*>(x), from, static_cast<std::size_t>(n) * sizeof(Record));
}

constexpr std::int64_t long_line = 1 << 17;  ///< From here a line is shared among threads.

/// The same order, by runs sorted on their own and merged pairwise, each merge cut into pieces.
template <class Record>
void sort_records_on_threads(Record* x, Record* other, std::int64_t n, int bits) {
  constexpr std::int64_t run = 1 << 16, piece = 1 << 15;  // Pieces divide runs.
  using Range = Kokkos::RangePolicy<HostPool>;
  Record *from = x, *to = other;
  Kokkos::parallel_for("cpu.sort.runs", Range(0, (n + run - 1) / run, Kokkos::ChunkSize(1)), [=](std::int64_t r) {
    sort_records(from + r * run, to + r * run, std::min(run, n - r * run), bits);
  });
  for (std::int64_t width = run; width < n; width *= 2, std::swap(from, to))
    Kokkos::parallel_for(
        "cpu.sort.merge", Range(0, (n + piece - 1) / piece, Kokkos::ChunkSize(1)), [=](std::int64_t p) {
          const std::int64_t begin = p * piece, end = std::min(n, begin + piece);
          const std::int64_t low = begin / (2 * width) * (2 * width), middle = std::min(n, low + width),
                             high = std::min(n, low + 2 * width);
          const Record *a = from + low, *b = from + middle;
          const std::int64_t a_size = middle - low, b_size = high - middle;
          // How many of the first `count` merged records come from a.
          const auto from_a = [&](std::int64_t count) {
            std::int64_t least = std::max<std::int64_t>(0, count - b_size), most = std::min(count, a_size);
            while (least < most) {
              const std::int64_t i = (least + most) / 2;
              if (a[i] < b[count - i - 1]) least = i + 1;
              else most = i;
            }
            return least;
          };
          const std::int64_t i0 = from_a(begin - low), i1 = from_a(end - low);
          std::merge(a + i0, a + i1, b + (begin - low - i0), b + (end - low - i1), to + begin);
        });
  if (from != x) std::memcpy(static_cast<void*>(x), from, static_cast<std::size_t>(n) * sizeof(Record));
}

}  // namespace rlx::cpu
