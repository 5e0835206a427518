// Random numbers that are a function of a seed and of what they are for: nothing needs to be kept of a generator for a
// run to be taken up again with the same numbers.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace rlx::splat {

/// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t purpose = 0, std::uint64_t counter = 0) : state_(seed) {
    state_ = bits() ^ purpose * 0x9e3779b97f4a7c15u;
    state_ = bits() ^ counter * 0xd1342543de82ef95u;
  }
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  ///< In [0, 1).
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>(uniform() * static_cast<double>(n)); }
  double normal() {  // Box and Muller (1958), one of the two.
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace rlx::splat
