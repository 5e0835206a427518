#include "sized.hpp"

#include "../kokkos/host_pool.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>

#include <algorithm>
#include <utility>

namespace rlx::cpu {
namespace {

constexpr std::int64_t chunk = 1 << 14;  // Elements: the same cuts for any number of threads.

std::int64_t chunks(std::int64_t n) { return (n + chunk - 1) / chunk; }

using Range = Kokkos::RangePolicy<HostPool>;

/// f(chunk, begin, end) for every chunk of n elements.
template <class F>
void each_chunk(const std::string& name, std::int64_t n, F f) {
  Kokkos::parallel_for(name, Range(0, chunks(n), Kokkos::ChunkSize(1)),
                       [=](std::int64_t c) { f(c, c * chunk, std::min(n, (c + 1) * chunk)); });
}

/// Where the results of each chunk begin.
using Starts = HostView<std::int64_t*>;

Starts starts_of(const LaunchCall& call, std::int64_t n) {
  const auto address = (reinterpret_cast<std::uintptr_t>(call.workspace.data) + 7) / 8 * 8;
  return Starts(reinterpret_cast<std::int64_t*>(address), chunks(n));
}

/// Counts the results of each chunk, count(begin, end), to where they begin; gives their sum.
template <class F>
std::int64_t place_chunks(const LaunchCall& call, std::int64_t n, const Starts& starts, F count) {
  each_chunk("cpu.sized.count", n,
             [=](std::int64_t c, std::int64_t begin, std::int64_t end) { starts(c) = count(begin, end); });
  std::int64_t total = 0;
  Kokkos::parallel_scan(
      "cpu.sized.places", Range(0, chunks(n), Kokkos::ChunkSize(chunk)),
      [=](std::int64_t c, std::int64_t& at, bool last) {
        const std::int64_t results = starts(c);
        if (last) starts(c) = at;
        at += results;
      },
      total);
  const std::int64_t room = call.out[0].type.shape[0].constant();
  const std::string_view op = call.instance.op->name();
  if (total > room) throw size_error(op, size_text(op, {}, {0, room}), total);
  return total;
}

template <class F>
void with_index(DType t, F f) {
  t == DType::i32 ? f(std::int32_t{}) : f(std::int64_t{});
}

template <class I>
void fill_rest(const BufferView& out, std::int64_t used) {
  auto* y = static_cast<I*>(out.data);
  const std::int64_t room = out.type.shape[0].constant();
  each_chunk("cpu.sized.rest", room - used, [=](std::int64_t, std::int64_t begin, std::int64_t end) {
    std::fill(y + used + begin, y + used + end, static_cast<I>(-1));
  });
}

}  // namespace

Answer accepts_sized(const Instance& i) {
  return i.signature.tensor(0).layout ? Answer::no("operand is not row-major") : Answer(true);
}

std::int64_t sized_workspace(const Instance& i) { return (chunks(i.signature.shape(0)[0].constant()) + 1) * 8; }

void launch_nonzero(const LaunchCall& call) {
  const auto* mask = static_cast<const std::uint8_t*>(call.in[0].data);
  const std::int64_t n = call.in[0].type.shape[0].constant();
  const Starts starts = starts_of(call, n);
  const std::int64_t used = place_chunks(call, n, starts, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) count += mask[i];
    return count;
  });
  with_index(call.out[0].type.dtype, [&]<class I>(I) {
    auto* y = static_cast<I*>(call.out[0].data);
    each_chunk("cpu.nonzero", n, [=](std::int64_t c, std::int64_t begin, std::int64_t end) {
      I* to = y + starts(c);
      for (std::int64_t i = begin; i < end; ++i)
        if (mask[i]) *to++ = static_cast<I>(i);
    });
    fill_rest<I>(call.out[0], used);
  });
}

void launch_repeat(const LaunchCall& call) {
  const std::int64_t n = call.in[0].type.shape[0].constant();
  with_index(call.in[0].type.dtype, [&]<class C>(C) {
    const auto* counts = static_cast<const C*>(call.in[0].data);
    const Starts starts = starts_of(call, n);
    const std::int64_t used = place_chunks(call, n, starts, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t sum = 0;
      for (std::int64_t i = begin; i < end; ++i) sum += std::max<C>(counts[i], 0);
      return sum;
    });
    with_index(call.out[0].type.dtype, [&]<class I>(I) {
      auto *owner = static_cast<I*>(call.out[0].data), *rank = static_cast<I*>(call.out[1].data);
      each_chunk("cpu.repeat", n, [=](std::int64_t c, std::int64_t begin, std::int64_t end) {
        std::int64_t at = starts(c);
        for (std::int64_t i = begin; i < end; ++i)
          for (C r = 0; r < counts[i]; ++r, ++at) owner[at] = static_cast<I>(i), rank[at] = static_cast<I>(r);
      });
      fill_rest<I>(call.out[0], used);
      fill_rest<I>(call.out[1], used);
    });
  });
}

}  // namespace rlx::cpu
