// What lowering watches sizes and indices with: the one operator that may refuse what it computes from.
#include "ops/structure.hpp"

#include <rlx/ir/sizes.hpp>

namespace rlx::ops {

constexpr Operand check_within_operands[] = {{"x", DTypeSet{DType::i64}}, {"limit", DTypeSet{DType::i64}}};
constexpr Constraint<CheckWithinAttrs> check_within_constraints[] = {
    {"C1", "limit is a scalar", [](const CheckWithinAttrs&, const Signature& s) { return Answer(s.rank(1) == 0); }},
    {"C2", "what is not empty", [](const CheckWithinAttrs& a, const Signature&) { return Answer(!a.what.empty()); }}};

static HostValues check_within_reference(const CheckWithinAttrs& a, const ReferenceCall& c) {
  const HostTensor& x = c.tensor(0);
  const std::int64_t limit = c.tensor(1).get_i64(0);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t v = x.get_i64(i);
    if (a.lower <= v && v <= limit) continue;
    if (a.of.empty())
      throw ArgumentError(a.what + " " + std::to_string(v) + " is out of range" +
                          (a.expected.empty() ? "" : ": expected " + a.expected));
    throw size_error(a.of, a.what, v);
  }
  return {x};
}

static Batched check_within_batch(const BatchCall<CheckWithinAttrs>& c) {
  if (c.axes[1] >= 0) refuse_rule("check_within", "batch", "the limit differs from member to member");
  return {c.b.emit("check_within", c.in, c.attrs), {c.axes[0]}};
}

extern const OpDef<CheckWithinAttrs> check_within_op{
    .name = "check_within",
    .doc =
        "x, whose elements must lie from `lower` to `limit`; the first that does not is reported when the program "
        "has run.",
    .operands = check_within_operands,
    .constraints = check_within_constraints,
    .infer = [](const CheckWithinAttrs&, const Signature& s) -> Types { return {i64(s.shape(0))}; },
    .meaning = Primitive<CheckWithinAttrs>{check_within_reference},
    .vjp = Vjp<CheckWithinAttrs>{zero_vjp<CheckWithinAttrs>},
    .jvp = zero_jvp<CheckWithinAttrs>,
    .batch = check_within_batch,
    .shard =
        [](const CheckWithinAttrs&, const Signature& s) {
          ShardRule r = shard_positions(s, {}, {});
          r.operands[1] = {};
          r.results = {r.operands[0]};
          return r;
        },
    .cost = [](const CheckWithinAttrs&,
               const Signature& s) { return Cost{s.tensor(0).numel() * 2, bytes_of(s.types[0]) * 2}; },
    .samples = []() -> std::vector<Sample<CheckWithinAttrs>> {
      using C = CheckWithinAttrs;
      const C a{.what = "position"};
      return {sample<C>({{i64({3}), {0, 4, 2}}, {i64({}), {4}}}, a).expects({{0, 4, 2}}).exact(),
              sample<C>({{i64({}), {-3}}, {i64({}), {-1}}}, {.what = "size of x", .of = "x", .lower = -3})
                  .expects({{-3}})
                  .exact(),
              sample<C>({{i64({0, 2})}, {i64({}), {0}}}, a),
              sample<C>({i64({2}), i64({1})}, a).breaking("C1"),
              sample<C>({i64({2}), i64({})}).breaking("C2"),
              sample<C>({i32({2}), i64({})}, a).breaking("dtype")};
    }};

}  // namespace rlx::ops
