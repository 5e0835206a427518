// Types of partial sums, and sums of products on the host: what dot_general, ragged_dot and conv share.
#pragma once
#include "ops/structure.hpp"

namespace rlx::ops {

inline constexpr DTypeSet contractible = numbers | float8 | DTypeSet{DType::i4};

inline DType accumulator(DType wanted, DType operand) {
  return wanted == DType::boolean ? default_accumulator(operand) : wanted;
}
/// Constraint: `wanted` is bool (the default) or a type of the operand's kind that is at least as wide.
inline Answer widens(DType wanted, DType operand) {
  const auto kind = [](DType t) {
    return is_floating(t) ? 0 : is_complex(t) ? 1 : is_signed_integer(t) ? 2 : is_unsigned_integer(t) ? 3 : 4;
  };
  if (wanted == DType::boolean || wanted == operand) return true;
  if (kind(wanted) == kind(operand) && bit_width(wanted) > bit_width(operand)) return true;
  return Answer::no(std::string(name(wanted)) + " cannot hold sums of " + std::string(name(operand)));
}

/// A sum of products, formed as exactly as the host can (f64, or modulo 2^64), rounded to the accumulator when stored.
class HostSum {
 public:
  HostSum(DType operand, DType accumulate) : operand_(operand), accumulate_(accumulate) {}
  void add(const HostTensor& x, std::int64_t i, const HostTensor& y, std::int64_t j) {
    if (is_complex(operand_)) sum_ += x.get_c128(i) * y.get_c128(j);
    else if (is_floating(operand_)) sum_ += x.get_f64(i) * y.get_f64(j);
    else bits_ += bits(x, i) * bits(y, j);
  }
  void store(HostTensor& to, std::int64_t i) {
    HostTensor rounded(accumulate_, {});
    if (is_complex(operand_)) rounded.set_c128(0, sum_), to.set_c128(i, rounded.get_c128(0));
    else if (is_floating(operand_)) rounded.set_f64(0, sum_.real()), to.set_f64(i, rounded.get_f64(0));
    else to.set_i64(i, static_cast<std::int64_t>(bits_));
    sum_ = 0;
    bits_ = 0;
  }

 private:
  static std::uint64_t bits(const HostTensor& x, std::int64_t i) {
    return is_unsigned_integer(x.dtype()) ? x.get_u64(i) : static_cast<std::uint64_t>(x.get_i64(i));
  }
  DType operand_, accumulate_;
  std::complex<double> sum_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace rlx::ops
