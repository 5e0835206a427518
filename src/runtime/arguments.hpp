// What a call is given.
#pragma once
#include <rlx/ir/error.hpp>
#include <rlx/ir/host_value.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace rlx::runtime {

/// The arguments of a call, which the caller keeps, or gives so that the program may write over them and take them.
class Arguments {
 public:
  static Arguments kept(std::span<const HostValue> values) { return Arguments(values, {}); }
  static Arguments given(std::span<HostValue> values) { return Arguments(values, values); }

  std::span<const HostValue> values() const { return values_; }
  /// The argument itself.
  HostValue& to_take(std::size_t i) const {
    if (i >= given_.size()) throw InternalError("a program takes an argument that its caller keeps");
    return given_[i];
  }

 private:
  Arguments(std::span<const HostValue> values, std::span<HostValue> given) : values_(values), given_(given) {}
  std::span<const HostValue> values_;
  std::span<HostValue> given_;  // Empty, or the same.
};

/// Those of one value: at most the three of a sparse matrix.
template <class Tensor>
struct Arrays {
  std::array<Tensor*, 3> held{};
  std::size_t count = 0;
  Tensor* const* begin() const { return held.data(); }
  Tensor* const* end() const { return held.data() + count; }
  std::size_t size() const { return count; }
  Tensor* operator[](std::size_t i) const { return held[i]; }
};

/// The arrays of a host value in the order of a program's inputs and outputs; a resource or token has none.
inline Arrays<const HostTensor> arrays(const HostValue& v) {
  if (const auto* t = std::get_if<HostTensor>(&v)) return {{t}, 1};
  if (const auto* s = std::get_if<HostSparse>(&v)) return {{&s->offsets, &s->indices, &s->values}, 3};
  return {};
}
inline Arrays<HostTensor> arrays(HostValue& v) {
  if (auto* t = std::get_if<HostTensor>(&v)) return {{t}, 1};
  if (auto* s = std::get_if<HostSparse>(&v)) return {{&s->offsets, &s->indices, &s->values}, 3};
  return {};
}

}  // namespace rlx::runtime
