// RLX_CHECK_NUMERICS: which stored values are not finite.
#pragma once
#include <rlx/ir/host_tensor.hpp>

#include <cstdint>

namespace rlx::runtime {

enum class Numbers : std::uint8_t { finite, infinite, nan };  ///< The worst that an array holds.

struct Worst {
  Numbers numbers = Numbers::finite;
  std::int64_t index = -1;  ///< Of the first element of that kind; -1 where all are finite.
};

/// Of floating and complex elements; others are finite.
Worst worst_of(const HostTensor& t);

}  // namespace rlx::runtime
