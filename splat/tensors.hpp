// Functions over tensors from the family's builder functions, and room for the lists of tiles.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/jit.hpp>
#include <rlx/splat/render.hpp>
#include <rlx/splat/tensor.hpp>
#include <rlx/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

namespace rlx::splat {

/// The one result of `emit`, which is given the operands as values of a graph.
template <class F>
Tensor one(const Handles& operands, const F& emit) {
  ensure_registered();
  return Tensor(build(operands, [&](Builder&, ValuesIn v) { return Values{emit(v)}; })[0]);
}

/// Entries of the lists of tiles that programs are compiled for. Room only grows, by a factor, so that there are few.
class Room {
 public:
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

  explicit Room(std::int64_t entries) : entries_(std::clamp<std::int64_t>(entries, 1 << 12, most)) {}
  std::int64_t entries() const { return entries_; }

  /// f(), again and again with more room, until the lists fit: element `at` of what it returns says how many entries
  /// they would have had (Rendered::wanted).
  template <class F>
  Tensors fitted(std::size_t at, const F& f) {
    for (;;) {
      Tensors out = f();
      const auto wanted = out[at].item<std::int64_t>();
      if (wanted <= entries_) return out;
      if (wanted > most)
        throw MemoryError("lists of tiles", static_cast<std::uint64_t>(wanted) * sizeof(std::int32_t),
                          static_cast<std::uint64_t>(most) * sizeof(std::int32_t));
      while (entries_ < std::min(most, wanted + wanted / 2)) entries_ = std::min(most, 2 * entries_);
    }
  }

 private:
  std::int64_t entries_;
};

/// A traced function of a list of tensors.
using Program = Jit<std::function<Tensors(const Tensors&)>>;

}  // namespace rlx::splat
