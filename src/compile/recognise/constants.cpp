#include "compile/recognise/constants.hpp"

#include <rlx/ir/op.hpp>
#include <rlx/ops/attributes/source.hpp>

#include <cstring>

namespace rlx::compile {
namespace {

constexpr int deepest = 8;
constexpr std::int64_t most_elements = 4096;

std::optional<HostTensor> uniform_constant(const HostTensor& t) {
  const std::int64_t n = t.numel();
  if (n < 1 || n > most_elements) return {};
  if (n == 1) return t.reshaped({});
  const std::int64_t each = t.bytes() / n;
  if (each < 1 || each * n != t.bytes()) return {};  // Packed elements.
  const std::byte* data = t.data();
  for (std::int64_t i = 1; i < n; ++i)
    if (std::memcmp(data, data + i * each, static_cast<std::size_t>(each)) != 0) return {};
  HostTensor one(t.dtype(), {});
  std::memcpy(one.mutable_data(), data, static_cast<std::size_t>(each));
  return one;
}

// Rounded once: the exact sum, product or quotient of two f32 rounded to f64 and then to f32 is that rounded to f32 at
// once, since f64 has more than twice its bits and two; so too for the smaller types.
std::optional<HostTensor> folded(std::string_view op, const HostTensor& x, const HostTensor& y) {
  if (!is_floating(x.dtype()) || x.dtype() != y.dtype()) return {};
  const double a = x.get_f64(0), b = y.get_f64(0);
  double r = 0;
  if (op == "add") r = a + b;
  else if (op == "sub") r = a - b;
  else if (op == "mul") r = a * b;
  else if (op == "div" && b != 0) r = a / b;
  else return {};
  return HostTensor::scalar(x.dtype(), r);
}

std::optional<HostTensor> uniform_within(const Graph& g, ValueId v, int depth) {
  const NodeId id = g.value(v).node;
  if (id < 0 || depth > deepest) return {};
  const Node& n = g.node(id);
  const std::string_view op = n.op->name();
  if (op == "constant") return uniform_constant(n.attrs.as<ops::ConstantAttrs>().value);
  if (op == "dim_size") {
    const auto& d = n.attrs.as<ops::DimSizeAttrs>();
    return d.size.is_constant() ? std::optional(HostTensor::scalar_i64(d.dtype, d.size.constant())) : std::nullopt;
  }
  if (op == "broadcast" || op == "reshape") return uniform_within(g, n.operands[0], depth + 1);
  if (op != "add" && op != "sub" && op != "mul" && op != "div") return {};
  const std::optional<HostTensor> x = uniform_within(g, n.operands[0], depth + 1);
  if (!x) return {};
  const std::optional<HostTensor> y = uniform_within(g, n.operands[1], depth + 1);
  return y ? folded(op, *x, *y) : std::nullopt;
}

}  // namespace

std::optional<HostTensor> uniform_value(const Graph& g, ValueId v) { return uniform_within(g, v, 0); }

}  // namespace rlx::compile
