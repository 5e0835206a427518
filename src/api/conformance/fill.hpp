// Operands of samples. A counter-based generator: the same sample gets the same operand in every run and on every
// device.
#pragma once
#include <rlx/ir/host_value.hpp>
#include <rlx/ir/registry.hpp>
#include <rlx/ir/sample.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace rlx::conformance {

/// Words that depend on the seed and on how many were taken before.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t word();
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }  ///< In [0, 1).
  double in(double low, double high) { return low + (high - low) * unit(); }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t seed_, counter_ = 0;
};

/// A seed for one operand: operator, sample, operand, member of a batch.
std::uint64_t seed_of(std::string_view op, std::size_t sample, std::size_t operand, std::size_t member = 0);

/// Whether it is the communicator of one rank, which is given like a tensor; others need ranks to share.
bool is_lone_communicator(const Type& t);
/// Why no value can be made of the operand's type: communicators of several ranks, other resources that no operator
/// makes of a matrix, formats other than csr, symbolic dimensions.
std::optional<std::string> cannot_fill(const SampleOperand& o, const Registry& registry);
/// Of a type that is no resource but a lone communicator.
HostValue filled(const SampleOperand& o, std::uint64_t seed);
/// A tensor with these elements, (real, imaginary) pairs of complex ones.
HostTensor from_literal(DType t, const std::vector<std::int64_t>& shape, const std::vector<double>& elements);

// The parts of `filled`.
void fill_tensor(HostTensor& x, const SampleOperand& o, Generator& g);
HostSparse fill_csr(const SparseType& t, const SampleOperand& o, Generator& g);
/// An element of a tensor of the type: uniform in [low, high), integers inclusive of both ends.
void set_uniform(HostTensor& x, std::int64_t i, double low, double high, Generator& g);

}  // namespace rlx::conformance
