#include "ops/moments.hpp"

namespace rlx::ops {

constexpr Operand layer_norm_operands[] = {{"x", floating}, {"scale", floating}, {"bias", floating}};
constexpr Constraint<LayerNormAttrs> layer_norm_constraints[] = {
    {"C1", "all operands have one dtype", same_dtypes<LayerNormAttrs>},
    {"C2", "x has at least one dimension, scale and bias exactly one",
     [](const LayerNormAttrs&, const Signature& s) {
       return Answer(s.rank(0) >= 1 && s.rank(1) == 1 && s.rank(2) == 1);
     }},
    {"C3", "scale and bias have the size of the last dimension of x",
     [](const LayerNormAttrs&, const Signature& s) {
       return s.equal(s.shape(1)[0], s.shape(0).back()) && s.equal(s.shape(2)[0], s.shape(0).back());
     }},
    {"C4", "epsilon >= 0", [](const LayerNormAttrs& a, const Signature&) { return Answer(a.epsilon >= 0); }}};

static Values layer_norm_decompose(Builder&, const LayerNormAttrs& a, ValuesIn in) {
  const Value x = widened(in[0]);
  const int last = x.rank() - 1;
  const Value n = count_along(x, {last}, x.dtype());
  const Value d = sub(x, divide_by(reduce_sum(x, {last}, true), n));
  const Value variance = divide_by(reduce_sum(mul(d, d), {last}, true), n);
  const Value y = mul(d, rsqrt(add(variance, full_like(variance, a.epsilon))));
  const auto along = [&](Value v) { return broadcast(widened(v), x.shape(), {last}); };
  return {convert(add(mul(y, along(in[1])), along(in[2])), in[0].dtype())};
}

extern const OpDef<LayerNormAttrs> layer_norm_op{
    .name = "layer_norm",
    .doc = "The last dimension shifted and scaled to mean 0 and variance 1, then times scale plus bias.",
    .operands = layer_norm_operands,
    .constraints = layer_norm_constraints,
    .infer = infer_first<LayerNormAttrs>,
    .meaning = Composite<LayerNormAttrs>{layer_norm_decompose},
    .vjp = Derived{},
    .jvp = Derived{},
    .batch = Derived{},
    .shard =
        [](const LayerNormAttrs& a, const Signature& s) {
          ShardRule r = shard_positions(s, infer_first<LayerNormAttrs>(a, s), {s.rank(0) - 1});
          r.operands[1] = r.operands[2] = {s.rank(0) - 1};
          return r;
        },
    .cost = cost_consuming<infer_first<LayerNormAttrs>, 8, LayerNormAttrs>,
    .samples = []() -> std::vector<Sample<LayerNormAttrs>> {
      using L = LayerNormAttrs;
      return {sample<L>({f64({2, 5}), f64({5}), f64({5})}),
              sample<L>({f32({3, 2, 8}), f32({8}), f32({8})}, {1e-3}),
              sample<L>({bf16({2, 8}), bf16({8}), bf16({8})}),
              sample<L>({{f32({1, 2}), {1, 5}}, {f32({2}), {1, 2}}, {f32({2}), {0.5, 0}}}, {0}).expects({{-0.5, 2}}),
              sample<L>({f64({0, 2}), f64({2}), f64({2})}),
              sample<L>({f64({1}), f64({1}), f64({1})}),
              sample<L>({f32({2}), f64({2}), f32({2})}).breaking("C1"),
              sample<L>({f32({2}), f32({1, 2}), f32({2})}).breaking("C2"),
              sample<L>({f32({2}), f32({2}), f32({3})}).breaking("C3"),
              sample<L>({f32({2}), f32({2}), f32({2})}, {-1}).breaking("C4")};
    }};

}  // namespace rlx::ops
