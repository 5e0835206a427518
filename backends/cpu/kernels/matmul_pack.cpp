#include "matmul_pack.hpp"

#include "half_rows.hpp"
#include "transpose.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace rlx::cpu {
namespace {

/// A bf16 as it is stored, so that templates tell it from an integer.
struct Bf16 {
  std::uint16_t bits;
};

/// Lanes [0, count) whose units of one word lie one after the other from `k` on: the blocks that registers hold;
/// returns how many units. Brings nearer what lies `ahead` elements further.
template <class Word>
std::int64_t transpose_units(const PackSource& s, const std::byte* base, int element_bytes, std::int64_t k,
                             std::int64_t units, std::int64_t ahead, std::uint32_t flip, int width, Word* to) {
  constexpr int side = 16 / sizeof(Word);
  const std::int64_t blocks = units / side;
  // Bytes: a row of narrower elements starts where no word may.
  const auto row = [&](int lane) { return base + (s.lanes[lane] + s.depth[k]) * element_bytes; };
  constexpr auto word = static_cast<std::int64_t>(sizeof(Word));
  const std::int64_t bytes_ahead = ahead * element_bytes;
  int lane = 0;
  for (; lane + side <= s.count; lane += side) {
    const std::byte* from[side];
    for (int i = 0; i < side; ++i) from[i] = row(lane + i);
    for (std::int64_t q = 0; q < blocks; ++q) {
      if (q % 4 == 0)
        for (const std::byte* p : from) __builtin_prefetch(p + q * side * word + bytes_ahead);
      const std::byte* at[side];
      for (int i = 0; i < side; ++i) at[i] = from[i] + q * side * word;
      transpose(at, flip, to + q * side * width + lane, width);
    }
  }

  for (; lane < s.count; ++lane) {
    const std::byte* from = row(lane);
    for (std::int64_t q = 0; q < blocks * side; ++q) {
      if (q % (4 * side) == 0) __builtin_prefetch(from + q * word + bytes_ahead);
      Word w;
      std::memcpy(&w, from + q * word, sizeof w);
      w ^= static_cast<Word>(flip);  // of 32 bits only
      std::memcpy(to + q * width + lane, &w, sizeof w);
    }
  }
  return blocks * side;
}

/// A strip of `width` lanes; `flip` is xored into each stored byte (i8 only).
template <class From, class To, int step>
void pack(const PackSource& s, int width, int group_units, unsigned char flip, void* out) {
  const auto* base = static_cast<const From*>(s.base);
  auto* to = static_cast<To*>(out);
  const int group = step * group_units;
  const std::int64_t units = (s.k + group - 1) / group * group_units, row = static_cast<std::int64_t>(width) * step;
  const auto put = [&](To* at, From v) {
    if constexpr (sizeof(To) == 1) *at = static_cast<To>(static_cast<unsigned char>(v) ^ flip);
    else if constexpr (std::is_same_v<To, Bf16>) *at = v;
    else *at = static_cast<To>(v);
  };
  if (s.count < width || s.k % group) std::memset(out, 0, static_cast<std::size_t>(units * row) * sizeof(To));
  if (s.lanes_adjacent) {
    const From* first = base + s.lanes[0];
    if constexpr (step == 1 && std::is_same_v<From, To>) {
      for (std::int64_t k = 0; k < s.k; ++k)
        std::memcpy(to + k * row, first + s.depth[k], static_cast<std::size_t>(s.count) * sizeof(To));
      return;
    }
    std::int64_t k = 0;
    for (; k + step <= s.k; k += step) {
      To* at = to + k / step * row;
      const From* p[step];
      for (int e = 0; e < step; ++e) p[e] = first + s.depth[k + e];
      int i = 0;
      if constexpr (step == 4)
        for (; i + 16 <= s.count; i += 16) {
          const From* q[4] = {p[0] + i, p[1] + i, p[2] + i, p[3] + i};
          interleave4(q, flip, at + i * 4);
        }
      for (; i < s.count; ++i)
        for (int e = 0; e < step; ++e) put(at + i * step + e, p[e][i]);
    }
    for (; k < s.k; ++k)
      for (int i = 0; i < s.count; ++i) put(to + k / step * row + i * step + k % step, first[s.depth[k] + i]);
    return;
  }
  const std::int64_t apart = s.count > 1 ? (s.lanes[s.count - 1] - s.lanes[0]) / (s.count - 1) * s.count : 0;
  for (std::int64_t k = 0; k < s.k;) {
    // All lanes of a short piece, so that both sides of the transposition stay in the first level.
    constexpr std::int64_t piece = 1024 / sizeof(From);
    const std::int64_t run = std::min({s.runs[k], s.k - k, piece}),
                       ahead = k + run < s.k ? piece : apart - k;  // the next strip's, after the last piece
    std::int64_t done = k;
    if constexpr (std::is_same_v<From, To> && sizeof(To) * step >= 4) {
      using Word = std::conditional_t<sizeof(To) * step == 8, std::uint64_t, std::uint32_t>;
      if (k % step == 0)
        done += step * transpose_units(s, reinterpret_cast<const std::byte*>(base), sizeof(From), k, run / step, ahead,
                                       flip * 0x01010101u, width, reinterpret_cast<Word*>(to) + k / step * width);
    }
    k += run;
    for (int i = 0; i < s.count; ++i)
      for (std::int64_t q = done; q < k; ++q)
        put(to + q / step * row + i * step + q % step, base[s.lanes[i] + s.depth[q]]);
  }
}

/// Whole panels next to each other whose elements are stored as they are: along the rows of B, which are long runs.
template <int bytes>
void copy_rows(const PackSource& s, int panels, std::int64_t element_bytes, std::int64_t apart, std::byte* to) {
  const std::byte* first = static_cast<const std::byte*>(s.base) + s.lanes[0] * element_bytes;
  for (std::int64_t k = 0; k < s.k; ++k) {
    const std::byte *from = first + s.depth[k] * element_bytes,
                    *ahead = first + s.depth[std::min(k + 4, s.k - 1)] * element_bytes;
    for (int p = 0; p < panels; ++p) {
      for (int line = 0; line < bytes; line += 64) __builtin_prefetch(ahead + p * bytes + line);
      std::memcpy(to + p * apart + k * bytes, from + p * bytes, bytes);
    }
  }
}

void widen(DType from_type, const std::uint16_t* from, float* to, std::int64_t n) {
  if (from_type == DType::f16) return widen_f16(from, to, n);
  for (std::int64_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16);
}

/// f16 and bf16 to f32, in runs.
void pack_widened(const PackSource& s, int width, int group, float* to) {
  const auto* base = static_cast<const std::uint16_t*>(s.base);
  if (s.count < width || s.k % group)
    std::memset(to, 0, static_cast<std::size_t>((s.k + group - 1) / group * group * width) * sizeof(float));
  if (s.lanes_adjacent) {
    for (std::int64_t k = 0; k < s.k; ++k) widen(s.dtype, base + s.lanes[0] + s.depth[k], to + k * width, s.count);
    return;
  }
  constexpr std::int64_t run = 128, most_lanes = 64;
  float rows[most_lanes * run];
  for (std::int64_t k0 = 0; k0 < s.k; k0 += run, to += run * width) {
    const std::int64_t n = std::min(run, s.k - k0);
    for (int i = 0; i < s.count; ++i) {
      const std::uint16_t* lane = base + s.lanes[i];
      float* row = rows + i * run;
      for (std::int64_t k = 0, run = 0; k < n; k += run) {
        run = std::min(s.runs[k0 + k], n - k);
        widen(s.dtype, lane + s.depth[k0 + k], row + k, run);
      }
    }
    for (std::int64_t k = 0; k < n; ++k)
      for (int i = 0; i < s.count; ++i) to[k * width + i] = rows[i * run + k];
  }
}

/// A strip for tile registers: [k / e][width][e] with e elements of 64 bytes.
template <class T>
void pack_rows(const PackSource& s, int width, void* out) {
  constexpr std::int64_t line = 64 / sizeof(T);
  const auto* base = static_cast<const T*>(s.base);
  auto* to = static_cast<T*>(out);
  if (s.count < width || s.k % line)
    std::memset(out, 0, static_cast<std::size_t>((s.k + line - 1) / line * line * width) * sizeof(T));
  for (std::int64_t k0 = 0; k0 < s.k; k0 += line, to += width * line) {
    const std::int64_t n = std::min(line, s.k - k0);
    if (s.runs[k0] < n)
      for (std::int64_t e = 0; e < n; ++e)
        for (int i = 0; i < s.count; ++i) to[i * line + e] = base[s.lanes[i] + s.depth[k0 + e]];
    else if (n == line)
      for (int i = 0; i < s.count; ++i) std::memcpy(to + i * line, base + s.lanes[i] + s.depth[k0], 64);
    else
      for (int i = 0; i < s.count; ++i)
        std::memcpy(to + i * line, base + s.lanes[i] + s.depth[k0], static_cast<std::size_t>(n) * sizeof(T));
  }
}

void pack_units(const Microkernel& m, const PackSource& s, int width, unsigned char flip, void* to) {
  switch (m.kind) {
    case PackedKind::f64:
      return pack<double, double, 1>(s, width, m.group, 0, to);
    case PackedKind::bf16_pairs:
    case PackedKind::bf16_tiles:
      return pack<Bf16, Bf16, 2>(s, width, m.group, 0, to);
    case PackedKind::i8_quads:
    case PackedKind::i8_tiles:
      return pack<std::int8_t, std::int8_t, 4>(s, width, m.group, flip, to);
    case PackedKind::i16_pairs:
      return pack<std::int8_t, std::int16_t, 2>(s, width, m.group, 0, to);
    case PackedKind::i32:
      return pack<std::int8_t, std::int32_t, 1>(s, width, m.group, 0, to);
    case PackedKind::f32:
      if (s.dtype != DType::f32) return pack_widened(s, width, m.group, static_cast<float*>(to));
      return pack<float, float, 1>(s, width, m.group, 0, to);
  }
}

}  // namespace

bool adjacent(const std::int64_t* offsets, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i)
    if (offsets[i] != offsets[0] + i) return false;
  return true;
}

std::vector<std::int64_t> runs(const std::vector<std::int64_t>& offsets) {
  std::vector<std::int64_t> r(offsets.size(), 1);
  for (std::size_t i = r.size(); i-- > 1;)
    if (offsets[i] == offsets[i - 1] + 1) r[i - 1] = r[i] + 1;
  return r;
}

std::int64_t packed_units(const Microkernel& m, std::int64_t k) {
  const int group = m.step * m.group;
  return (k + group - 1) / group * m.group;
}
std::int64_t strip_bytes(const Microkernel& m, std::int64_t k) { return packed_units(m, k) * m.mr * m.unit_bytes; }
std::int64_t panel_bytes(const Microkernel& m, std::int64_t k, int width) {
  return static_cast<std::int64_t>(width) * (m.column_header + packed_units(m, k) * m.unit_bytes);
}

void pack_strip(const Microkernel& m, const PackSource& s, void* to) {
  if (m.kind == PackedKind::bf16_tiles) pack_rows<Bf16>(s, m.mr, to);
  else if (m.kind == PackedKind::i8_tiles) pack_rows<std::int8_t>(s, m.mr, to);
  else pack_units(m, s, m.mr, 0x80, to);
}

namespace {
void pack_panel(const Microkernel& m, const PackSource& s, int width, std::int64_t from, void* to) {
  auto* body = static_cast<std::byte*>(to) + panel_bytes(m, from, width);
  pack_units(m, s, width, 0, body);
  if (!m.column_header) return;
  auto* start = static_cast<std::int32_t*>(to);
  if (from == 0) std::fill_n(start, width, 0);
  const auto* b = reinterpret_cast<const std::int8_t*>(body);
  for (std::int64_t q = 0; q < packed_units(m, s.k); ++q, b += 4 * width)
    for (int j = 0; j < width; ++j) start[j] -= 128 * (b[4 * j] + b[4 * j + 1] + b[4 * j + 2] + b[4 * j + 3]);
}
}  // namespace

void pack_panels(const Microkernel& m, const PackSource& s, void* to, std::int64_t from, std::int64_t k) {
  const std::int64_t apart = panel_bytes(m, k, m.nr), element = bit_width(s.dtype) / 8;
  const int whole = s.count / m.nr;
  int done = 0;
  if (s.lanes_adjacent && (m.kind == PackedKind::f64 || (m.kind == PackedKind::f32 && s.dtype == DType::f32)) &&
      s.k % m.group == 0) {
    auto* out = static_cast<std::byte*>(to) + panel_bytes(m, from, m.nr);
    const auto copy = [&](auto bytes) {
      copy_rows<bytes()>(s, whole, element, apart, out);
      done = whole;
    };
    switch (m.nr * m.unit_bytes) {
      case 192:
        copy(std::integral_constant<int, 192>());
        break;
      case 128:
        copy(std::integral_constant<int, 128>());
        break;
      case 64:
        copy(std::integral_constant<int, 64>());
        break;
      case 32:
        copy(std::integral_constant<int, 32>());
        break;
      default:
        break;
    }
  }
  for (int p = done; p * m.nr < s.count; ++p) {
    PackSource one = s;
    one.lanes += p * m.nr;
    one.count = std::min(m.nr, s.count - p * m.nr);
    pack_panel(m, one, m.width(one.count), from, static_cast<std::byte*>(to) + p * apart);
  }
}

}  // namespace rlx::cpu
