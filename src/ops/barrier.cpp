#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand barrier_operands[] = {{"values", {}, OperandKind::any, true}};

// Every dimension of a tensor is a factor of its own.
static ShardRule barrier_shard(const NoAttributes&, const Signature& s) {
  ShardRule r;
  for (const Type& t : s.types) {
    std::vector<int> own;
    if (const auto* x = std::get_if<TensorType>(&t))
      for (int d = 0; d < x->rank(); ++d) {
        own.push_back(static_cast<int>(r.factors.size()));
        r.factors.emplace_back();
      }
    r.operands.push_back(std::move(own));
  }
  r.results = r.operands;
  return r;
}

extern const OpDef<NoAttributes> barrier_op{
    .name = "barrier",
    .doc = "The values themselves, none before all are there: nothing is merged or moved across.",
    .operands = barrier_operands,
    .constraints = {},
    .infer = [](const NoAttributes&, const Signature& s) -> Types { return {s.types.begin(), s.types.end()}; },
    .meaning = Primitive<NoAttributes>{[](const NoAttributes&, const ReferenceCall& c) -> HostValues {
      return {c.in.begin(), c.in.end()};
    }},
    .vjp = Vjp<NoAttributes>{[](const VjpCall<NoAttributes>& c) -> Values {
      Values out(c.in.size());
      for (std::size_t i = 0; i < out.size(); ++i)
        if (c.wanted[i]) out[i] = c.cotangent[i];
      return out;
    }},
    .jvp = [](const JvpCall<NoAttributes>& c) -> Values { return {c.tangent.begin(), c.tangent.end()}; },
    .batch = [](const BatchCall<NoAttributes>& c) -> Batched {
      return {c.b.emit("barrier", c.in), {c.axes.begin(), c.axes.end()}};
    },
    .shard = barrier_shard,
    .cost = [](const NoAttributes&, const Signature&) { return Cost{0, 0}; },
    .samples = []() -> Samples {
      return {sample({f64({2, 3}), f64({})}),
              sample({{f32({2}), {1, 2}}, {i32({}), {3}}}).expects({{1, 2}, {3}}).exact(), sample({f16({3})}),
              sample<NoAttributes>({})};
    }};

}  // namespace rlx::ops
