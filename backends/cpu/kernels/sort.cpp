#include "sort.hpp"

#include "../kokkos/host_pool.hpp"
#include "sort_keys.hpp"
#include "sort_records.hpp"

#include <rlx/ops/attributes/indexing.hpp>

#include <algorithm>

namespace rlx::cpu {
namespace {

using ops::SortAttrs;
using ops::TopKAttrs;

/// Lines of a row-major shape along one dimension. Chunks of lines are teams, with scratch memory for a line; long
/// lines come one after the other and are shared among threads.
struct Lines {
  std::int64_t count = 1, length = 1, stride = 1;
  std::int64_t scratch = 0;  ///< Bytes of a line.

  Lines(const Shape& shape, int axis) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t n = shape[d].constant();
      if (static_cast<int>(d) == axis) length = n;
      else count *= n;
      if (static_cast<int>(d) > axis) stride *= n;
    }
    // Records there and back, and two permutations.
    scratch = HostPool::scratch_of_thread(length * (2 * static_cast<std::int64_t>(sizeof(WideRecord)) + 8));
  }
  bool shared() const { return length >= long_line; }
  /// Of as many threads as there are, or fewer where lines are so long that it would be much.
  std::int64_t workspace() const {
    constexpr std::int64_t most = 64 << 20;
    const std::int64_t lines = shared() ? 1 : most / std::max<std::int64_t>(1, scratch);
    return std::clamp<std::int64_t>(lines, 1, std::min<std::int64_t>(default_threads(), count + 1)) * scratch + 64;
  }
  /// Element 0 of a line; the next one is `stride` elements further.
  std::int64_t first(std::int64_t line) const { return line / stride * stride * length + line % stride; }

  /// f(line, scratch); `together`: on threads where lines are short.
  template <class F>
  void each(const BufferView& workspace, bool together, F f) const {
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.data), first = (address + 63) / 64 * 64;
    auto* const memory = reinterpret_cast<std::byte*>(first);
    if (shared() || !together) {
      for (std::int64_t i = 0; i < count; ++i) f(i, memory);
      return;
    }
    constexpr std::int64_t most_chunks = 64;
    const std::int64_t chunk = std::max<std::int64_t>(1, (count + most_chunks - 1) / most_chunks),
                       room = workspace.type.numel().constant() - static_cast<std::int64_t>(first - address);
    Kokkos::parallel_for("cpu.sort", team_policy(HostPool(memory, room), (count + chunk - 1) / chunk, scratch),
                         [&](const HostTeam& team) {
                           auto* const mine = static_cast<std::byte*>(team.team_scratch(0).get_shmem(scratch));
                           const std::int64_t begin = team.league_rank() * chunk;
                           for (std::int64_t i = begin; i < std::min(count, begin + chunk); ++i) f(i, mine);
                         });
  }
};

/// f(i) for the elements of one line, on threads if the line is shared among them.
template <class F>
void over_line(const Lines& lines, F f) {
  if (!lines.shared())
    for (std::int64_t i = 0; i < lines.length; ++i) f(i);
  else
    Kokkos::parallel_for("cpu.sort.line", Kokkos::RangePolicy<HostPool>(0, lines.length, Kokkos::ChunkSize(1 << 15)),
                         f);
}

/// Records of a line's elements in the order of `order` (null: as they are).
template <class Record>
void fill(const Lines& lines, const SortKeys& keys, const void* data, std::int64_t first, const std::uint32_t* order,
          Record* to) {
  with_width(keys.bits(), [&]<int width>() {
    over_line(lines, [&](std::int64_t i) {
      to[i] = Record(keys.key(element_bits<width>(data, first + (order ? order[i] : i) * lines.stride)),
                     static_cast<std::uint32_t>(i));
    });
  });
}

template <class F>
void with_record(int bits, F f) {
  if (bits <= 32) f.template operator()<NarrowRecord>();
  else f.template operator()<WideRecord>();
}

/// to[first + i * stride] = from[first + order[i] * stride]
void permute(const Lines& lines, DType t, const void* from, void* to, std::int64_t first, const std::uint32_t* order) {
  const auto move = [&]<class T>(T) {
    const T* x = static_cast<const T*>(from) + first;
    T* y = static_cast<T*>(to) + first;
    over_line(lines, [=, stride = lines.stride](std::int64_t i) { y[i * stride] = x[order[i] * stride]; });
  };
  struct Sixteen {
    std::uint64_t parts[2];
  };
  switch (bit_width(t)) {
    case 4:  // elements share bytes, which is why such lines are not put on several threads
      for (std::int64_t i = 0; i < lines.length; ++i) {
        const std::int64_t at = first + i * lines.stride;
        auto& byte = static_cast<std::uint8_t*>(to)[at / 2];
        const int shift = static_cast<int>(at % 2) * 4;
        byte = static_cast<std::uint8_t>((byte & ~(15u << shift)) |
                                         element_bits<4>(from, first + order[i] * lines.stride) << shift);
      }
      return;
    case 8:
      return move(std::uint8_t{});
    case 16:
      return move(std::uint16_t{});
    case 32:
      return move(std::uint32_t{});
    case 64:
      return move(std::uint64_t{});
    default:
      return move(Sixteen{});
  }
}

Answer positions_fit(const Dim& n) {
  if (n.is_constant() && n.constant() > UINT32_MAX) return Answer::no("more than 2^32 - 1 elements in a line");
  return true;
}

bool plain(const TensorType& t) { return !t.layout && !t.quantization; }

}  // namespace

Answer accepts_sort(const Instance& i) {
  for (std::size_t k = 0; k < i.signature.size(); ++k)
    if (!plain(i.signature.tensor(k))) return Answer::no("operand is not row-major or is quantized");
  return positions_fit(i.signature.tensor(0).dim(i.attrs->as<SortAttrs>().axis));
}

std::int64_t sort_workspace(const Instance& i) {
  return Lines(i.signature.shape(0), i.attrs->as<SortAttrs>().axis).workspace();
}

void launch_sort(const LaunchCall& call) {
  const auto& a = call.instance.attrs->as<SortAttrs>();
  const Lines lines(call.in[0].type.shape, a.axis);
  const std::int64_t n = lines.length;
  if (n == 0 || lines.count == 0) return;
  const auto run = [&](std::int64_t line, std::byte* scratch) {
    const std::int64_t first = lines.first(line);
    auto* order = reinterpret_cast<std::uint32_t*>(scratch + 2 * n * static_cast<std::int64_t>(sizeof(WideRecord)));
    std::uint32_t* next = order + n;
    // From the last key to the first: each sort keeps the order of equals that the ones before made.
    for (int k = a.keys; k-- > 0;) {
      const auto at = static_cast<std::size_t>(k);
      const SortKeys keys(call.in[at].type.dtype, !a.descending.empty() && a.descending[at]);
      const bool ordered = k != a.keys - 1;
      with_record(keys.bits(), [&]<class Record>() {
        auto* records = reinterpret_cast<Record*>(scratch);
        fill(lines, keys, call.in[at].data, first, ordered ? order : nullptr, records);
        if (lines.shared()) sort_records_on_threads(records, records + n, n, keys.bits());
        else sort_records(records, records + n, n, keys.bits());
        over_line(lines,
                  [=](std::int64_t i) { next[i] = ordered ? order[records[i].position()] : records[i].position(); });
      });
      std::swap(order, next);
    }
    for (std::size_t k = 0; k < call.in.size(); ++k)
      permute(lines, call.in[k].type.dtype, call.in[k].data, call.out[k].data, first, order);
  };
  const bool nibbles =
      std::any_of(call.in.begin(), call.in.end(), [](const BufferView& v) { return bit_width(v.type.dtype) < 8; });
  lines.each(call.workspace, !nibbles, run);
}

Answer accepts_top_k(const Instance& i) {
  if (!plain(i.signature.tensor(0))) return Answer::no("operand is not row-major or is quantized");
  return positions_fit(i.signature.shape(0).back());
}

std::int64_t top_k_workspace(const Instance& i) {
  return Lines(i.signature.shape(0), i.signature.rank(0) - 1).workspace();
}

void launch_top_k(const LaunchCall& call) {
  const std::int64_t k = call.instance.attrs->as<TopKAttrs>().k;
  const TensorType& type = call.in[0].type;
  const Lines lines(type.shape, type.rank() - 1);
  const std::int64_t n = lines.length;
  if (k == 0 || n == 0 || lines.count == 0) return;
  const SortKeys keys(type.dtype, true, true);
  lines.each(call.workspace, true, [&](std::int64_t line, std::byte* scratch) {
    with_record(keys.bits(), [&]<class Record>() {
      auto* records = reinterpret_cast<Record*>(scratch);
      fill(lines, keys, call.in[0].data, line * n, nullptr, records);
      if (k < n / 8) {
        std::nth_element(records, records + k, records + n);
        std::sort(records, records + k);
      } else if (lines.shared()) {
        sort_records_on_threads(records, records + n, n, keys.bits());
      } else {
        sort_records(records, records + n, n, keys.bits());
      }
      auto* indices = static_cast<std::int32_t*>(call.out[1].data) + line * k;
      for (std::int64_t i = 0; i < k; ++i) indices[i] = static_cast<std::int32_t>(records[i].position());
    });
    const auto* indices = static_cast<const std::int32_t*>(call.out[1].data) + line * k;
    with_width(bit_width(type.dtype), [&]<int width>() {
      for (std::int64_t i = 0; i < k; ++i) {
        const std::uint64_t v = element_bits<width>(call.in[0].data, line * n + indices[i]);
        std::memcpy(static_cast<std::byte*>(call.out[0].data) + (line * k + i) * (width / 8), &v,
                    width / 8);  // little-endian
      }
    });
  });
}

}  // namespace rlx::cpu
