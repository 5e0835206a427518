// Measured angles: two operators that rlx does not have, defined as its own are, one file each.
#pragma once
#include <rlx/catalog.hpp>
#include <rlx/ir/op_def.hpp>
#include <rlx/tensor.hpp>

namespace phase {

struct LogCoshAttrs {
  double scale = 1;
  bool operator==(const LogCoshAttrs&) const = default;
  static constexpr auto fields =
      std::tuple{rlx::Field{"scale", &LogCoshAttrs::scale, "where it turns from square to linear"}};
};

// The definitions, which outlive every catalog, and the kernel of one of them. add_to puts them there.
extern const rlx::OpDef<LogCoshAttrs> log_cosh_op;
extern const rlx::OpDef<rlx::NoAttributes> unwrap_op;
extern const rlx::KernelRecord unwrap_on_cpu;
void add_to(rlx::runtime::Catalog& catalog);

// For graphs, whose registry must have the operators.
rlx::Value log_cosh(rlx::Value x, double scale = 1);
rlx::Value unwrap(rlx::Value x);

// For tensors: what these are called on is traced, compiled, differentiated and batched like any other function.
rlx::Tensor log_cosh(const rlx::Tensor& x, double scale = 1, rlx::Here here = std::source_location::current());
rlx::Tensor unwrap(const rlx::Tensor& x, rlx::Here here = std::source_location::current());

}  // namespace phase
