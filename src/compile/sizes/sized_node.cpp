#include "compile/sizes/sized_node.hpp"

#include <rlx/ir/error.hpp>
#include <rlx/ir/op.hpp>
#include <rlx/ops/build.hpp>

#include <algorithm>
#include <limits>

namespace rlx::compile {

SizedNode::SizedNode(Builder& builder, const Graph& g, const Node& n, ValuesIn operands, const Sizes& known,
                     bool is_checked)
    : b(builder),
      graph(g),
      node(n),
      attrs(n.attrs.substitute(known.capacities)),
      in(operands),
      checked(is_checked),
      known_(known) {}

// Infinity saturates to the limits of an integer.
Value neutral_of(Builder& b, ops::Combine kind, DType t) {
  if (kind == ops::Combine::mul) return ops::scalar(b, t, 1);
  if (kind != ops::Combine::min && kind != ops::Combine::max) return ops::scalar(b, t, 0);
  const bool greatest = kind == ops::Combine::min;
  if (t == DType::boolean) return ops::scalar(b, t, greatest);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return ops::scalar(b, t, greatest ? infinity : -infinity);
}

bool SizedNode::varies(const Dim& d) const {
  if (d.is_constant()) return false;
  const std::vector<std::string> symbols = d.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return known_.counts.contains(s); });
}

Axes SizedNode::varying(std::size_t operand, const Axes& axes) const {
  Axes out;
  for (int a : axes)
    if (varies(operand, a)) out.push_back(a);
  return out;
}

Axes SizedNode::varying(std::size_t operand) const {
  Axes out;
  for (int a = 0; a < static_cast<int>(shape(operand).size()); ++a)
    if (varies(operand, a)) out.push_back(a);
  return out;
}

std::int64_t SizedNode::capacity(const Dim& d) const {
  const std::int64_t extent = d.evaluate(known_.capacities);
  if (!d.is_constant() && bounds(d, known_.symbols).upper > extent)
    throw SizeRefusal{"dimension " + d.to_string() + " is not at its greatest where its sizes are"};
  return extent;
}

Value SizedNode::value(const Dim& d, DType t) const {
  if (d.is_constant()) return ops::dim_size(b, d, t);
  const auto number = [&](std::int64_t v) { return ops::dim_size(b, v); };
  Value sum;
  for (const DimTerm& term : terms(d)) {
    Value product;
    for (const DimFactor& f : term.factors) {
      Value x;
      if (f.kind == DimFactor::Kind::symbol) x = known_.counts.at(f.symbol);
      else {
        // Rounded down: what is divided may be negative.
        const Value inner = value(f.inner), by = number(f.divisor), rest = ops::rem(inner, by);
        const Value negative = ops::compare(rest, number(0), ops::Direction::lt);
        x = f.kind == DimFactor::Kind::mod ? ops::select(negative, rest + by, rest)
                                           : ops::div(inner, by) - ops::convert(negative, DType::i64);
      }
      for (int p = 0; p < f.power; ++p) product = product ? product * x : x;
    }
    const Value scaled = !product                ? number(term.coefficient)
                         : term.coefficient == 1 ? product
                                                 : product * number(term.coefficient);
    sum = sum ? sum + scaled : scaled;
  }
  return ops::convert(sum, t);
}

Value SizedNode::within(const Shape& s, const Axes& axes) const {
  Shape extents;
  for (const Dim& d : s) extents.push_back(capacity(d));
  Value all;
  for (int a : axes) {
    const Dim& d = s[static_cast<std::size_t>(a)];
    const Dim extent = extents[static_cast<std::size_t>(a)];
    const DType t = extent.constant() <= INT32_MAX ? DType::i32 : DType::i64;
    const Value inside =
        ops::compare(ops::iota(b, t, {extent}, 0), ops::broadcast(value(d, t), {extent}, {}), ops::Direction::lt);
    const Value spread = ops::broadcast(inside, extents, {a});
    all = all ? ops::logical_and(all, spread) : spread;
  }
  return all;
}

Value SizedNode::masked(std::size_t i, const Axes& axes, Value fill) const {
  const Axes padded = varying(i, axes);
  if (padded.empty()) return in[i];
  return ops::select(within(shape(i), padded), in[i], ops::broadcast(fill, in[i].shape(), {}));
}

Value SizedNode::masked(std::size_t i, const Axes& axes, double fill) const {
  return varying(i, axes).empty() ? in[i] : masked(i, axes, ops::scalar(b, in[i].dtype(), fill));
}

Values SizedNode::emit(ValuesIn operands) const {
  std::vector<RegionBody> bodies;
  for (RegionId r : node.regions) bodies.push_back([this, r](ValuesIn a) { return b.inline_region(graph, r, a); });
  return b.emit(node.op->name(), operands, attrs, bodies);
}

}  // namespace rlx::compile
