#include "sort.hpp"

#include "../thread_pool.hpp"
#include "sort_keys.hpp"
#include "sort_records.hpp"

#include <rlx/ops/attributes.hpp>

#include <algorithm>

namespace rlx::cpu {
namespace {

using ops::SortAttrs;
using ops::TopKAttrs;

/// Lines of a row-major shape along one dimension. Chunks of lines have a scratch each; long lines come one after the
/// other and are shared among threads.
struct Lines {
  std::int64_t count = 1, length = 1, stride = 1;
  std::int64_t scratch = 0, chunk = 1;  ///< Bytes a chunk, lines a chunk.

  Lines(const Shape& shape, int axis) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t n = shape[d].constant();
      if (static_cast<int>(d) == axis) length = n;
      else count *= n;
      if (static_cast<int>(d) > axis) stride *= n;
    }
    // Records there and back, and two permutations.
    scratch = (length * (2 * static_cast<std::int64_t>(sizeof(WideRecord)) + 8) + 63) / 64 * 64;
    constexpr std::int64_t most_scratch = 64 << 20, most_chunks = 64;
    const std::int64_t chunks =
        shared() ? 1 : std::clamp<std::int64_t>(most_scratch / std::max<std::int64_t>(1, scratch), 1, most_chunks);
    chunk = std::max<std::int64_t>(1, (count + chunks - 1) / chunks);
  }
  bool shared() const { return length >= long_line; }
  std::int64_t chunks() const { return (count + chunk - 1) / chunk; }
  std::int64_t workspace() const { return chunks() * scratch + 64; }
  /// Element 0 of a line; the next one is `stride` elements further.
  std::int64_t first(std::int64_t line) const { return line / stride * stride * length + line % stride; }

  /// f(line, scratch of its chunk)
  template <class F>
  void each(void* workspace, F f) const {
    auto* memory = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(workspace) + 63) / 64 * 64);
    if (shared()) {
      for (std::int64_t i = 0; i < count; ++i) f(i, memory);
      return;
    }
    struct Context {
      const Lines& lines;
      std::byte* memory;
      F& f;
    } c{*this, memory, f};
    parallel_for(
        count, chunk, 0,
        [](void* p, std::int64_t begin, std::int64_t end) {
          const auto& k = *static_cast<const Context*>(p);
          for (std::int64_t i = begin; i < end; ++i) k.f(i, k.memory + begin / k.lines.chunk * k.lines.scratch);
        },
        &c);
  }
};

/// f(begin, end) over the elements of one line, on threads if the line is shared among them.
template <class F>
void over_line(const Lines& lines, F f) {
  constexpr std::int64_t grain = 1 << 15;
  if (!lines.shared()) return f(0, lines.length);
  parallel_for(
      lines.length, grain, 0, [](void* p, std::int64_t begin, std::int64_t end) { (*static_cast<F*>(p))(begin, end); },
      &f);
}

/// Records of a line's elements in the order of `order` (null: as they are).
template <class Record>
void fill(const Lines& lines, const SortKeys& keys, const void* data, std::int64_t first, const std::uint32_t* order,
          Record* to) {
  with_width(keys.bits(), [&]<int width>() {
    over_line(lines, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
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
    over_line(lines, [&](std::int64_t begin, std::int64_t end) {
      const T* x = static_cast<const T*>(from) + first;
      T* y = static_cast<T*>(to) + first;
      for (std::int64_t i = begin; i < end; ++i) y[i * lines.stride] = x[order[i] * lines.stride];
    });
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
        over_line(lines, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i)
            next[i] = ordered ? order[records[i].position()] : records[i].position();
        });
      });
      std::swap(order, next);
    }
    for (std::size_t k = 0; k < call.in.size(); ++k)
      permute(lines, call.in[k].type.dtype, call.in[k].data, call.out[k].data, first, order);
  };
  const bool nibbles =
      std::any_of(call.in.begin(), call.in.end(), [](const BufferView& v) { return bit_width(v.type.dtype) < 8; });
  if (!nibbles) return lines.each(call.workspace.data, run);
  for (std::int64_t i = 0; i < lines.count; ++i)
    run(i, reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(call.workspace.data) + 63) / 64 * 64));
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
  lines.each(call.workspace.data, [&](std::int64_t line, std::byte* scratch) {
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
