#include "sized.hpp"

#include "../thread_pool.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ir/sizes.hpp>

#include <algorithm>
#include <utility>

namespace rlx::cpu {
namespace {

constexpr std::int64_t chunk = 1 << 14;  // Elements: the same cuts for any number of threads.

std::int64_t chunks(std::int64_t n) { return (n + chunk - 1) / chunk; }

/// f(begin, end) for every chunk of n elements.
template <class F>
void each_chunk(std::int64_t n, F f) {
  parallel_for(
      n, chunk, 0, [](void* p, std::int64_t begin, std::int64_t end) { (*static_cast<F*>(p))(begin, end); }, &f);
}

/// Room for one number a chunk, which is how many results it gives, then where they begin; gives their sum.
template <class F>
std::int64_t place_chunks(const LaunchCall& call, std::int64_t n, std::int64_t*& starts, F count) {
  starts = reinterpret_cast<std::int64_t*>((reinterpret_cast<std::uintptr_t>(call.workspace.data) + 7) / 8 * 8);
  each_chunk(n, [&](std::int64_t begin, std::int64_t end) { starts[begin / chunk] = count(begin, end); });
  std::int64_t total = 0;
  for (std::int64_t c = 0; c < chunks(n); ++c) total += std::exchange(starts[c], total);
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
  each_chunk(room - used, [&](std::int64_t begin, std::int64_t end) {
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
  std::int64_t* starts = nullptr;
  const std::int64_t used = place_chunks(call, n, starts, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i) count += mask[i];
    return count;
  });
  with_index(call.out[0].type.dtype, [&]<class I>(I) {
    auto* y = static_cast<I*>(call.out[0].data);
    each_chunk(n, [&](std::int64_t begin, std::int64_t end) {
      I* to = y + starts[begin / chunk];
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
    std::int64_t* starts = nullptr;
    const std::int64_t used = place_chunks(call, n, starts, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t sum = 0;
      for (std::int64_t i = begin; i < end; ++i) sum += std::max<C>(counts[i], 0);
      return sum;
    });
    with_index(call.out[0].type.dtype, [&]<class I>(I) {
      auto *owner = static_cast<I*>(call.out[0].data), *rank = static_cast<I*>(call.out[1].data);
      each_chunk(n, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t at = starts[begin / chunk];
        for (std::int64_t i = begin; i < end; ++i)
          for (C r = 0; r < counts[i]; ++r, ++at) owner[at] = static_cast<I>(i), rank[at] = static_cast<I>(r);
      });
      fill_rest<I>(call.out[0], used);
      fill_rest<I>(call.out[1], used);
    });
  });
}

}  // namespace rlx::cpu
