// Sums of f16 are formed in f32 whatever the device, because the type of partial results is an attribute; which type a
// minimum or maximum passes through makes no difference, so that lowerings leave the operand's.
// The combination is associative and the identities are neutral: neither is checked, and the order of combination is
// free. Identities therefore have no derivative. Where several elements attain a minimum or maximum they share its
// cotangent.
#include "ops/combine.hpp"
#include "ops/regions.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

constexpr Operand reduce_operands[] = {{"xs and identities", storable, OperandKind::tensor, true}};
constexpr Constraint<ReduceAttrs> reduce_constraints[] = {
    {"C1", "operands are followed by as many identities, scalars of the same dtypes",
     [](const ReduceAttrs&, const Signature& s) { return operands_and_identities(s); }},
    {"C2", "all xs have one shape", [](const ReduceAttrs&, const Signature& s) { return one_shape(s); }},
    {"C3", "axes ascend within the rank of xs",
     [](const ReduceAttrs& a, const Signature& s) { return axes_ascending(a.axes, s.rank(0)); }},
    {"C4", "one region combines two scalars for each of xs, of its type in accumulate, into one",
     [](const ReduceAttrs& a, const Signature& s) { return combines_scalars(a.accumulate, s); }},
    {"C5",
     "accumulate and result are empty or have for each of xs bool (the default) or a type of its kind that is at least "
     "as wide",
     [](const ReduceAttrs& a, const Signature& s) { return types_widen(a.accumulate, a.result, s); }}};

static Types reduce_infer(const ReduceAttrs& a, const Signature& s) {
  Types types;
  for (std::size_t i = 0; i < s.size() / 2; ++i)
    types.push_back(tensor(listed_type(a.result, i, s.dtype(i)), shape_without(s.shape(i), a.axes)));
  return types;
}

static HostValues reduce_reference(const ReduceAttrs& a, const ReferenceCall& c) {
  const std::size_t n = c.in.size() / 2;
  std::vector<HostTensor> partial, y;
  for (std::size_t k = 0; k < n; ++k) {
    y.push_back(c.make(k));
    partial.emplace_back(combined_type(a.accumulate, k, c.tensor(k).dtype()), y[k].shape());
    for (std::int64_t i = 0; i < y[k].numel(); ++i) convert_element(partial[k], i, c.tensor(n + k), 0);
  }
  const Axes kept = axes_except(c.tensor(0).rank(), a.axes);
  for_each_position(c.tensor(0).shape(), [&](const Position& p, std::int64_t j) {
    Position to;
    for (int d : kept) to.push_back(p[static_cast<std::size_t>(d)]);
    combine_by_region(c, partial, flat(to, y[0].shape()), n, j);
  });
  for (std::size_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < y[k].numel(); ++i) convert_element(y[k], i, partial[k], i);
  return HostValues(y.begin(), y.end());
}

static Combine reduce_kind(const Graph& g, RegionId region, const char* rule, std::size_t k) {
  if (const auto kind = recognise_combine(g, region, k)) return *kind;
  refuse_rule("reduce", rule, "the region is not add, mul, min or max of result " + std::to_string(k));
}

// d result / d x at every element of x, for all combinations but add, in type `t`.
static Value reduce_slope(Combine kind, Value x, Value y, const Axes& axes, DType t) {
  x = convert(x, t);
  if (kind == Combine::mul) return product_of_others(x, axes);
  const Value hit = convert(compare(x, stretch(convert(y, t), x.shape(), axes), Direction::eq), t);
  return div(hit, stretch(reduce_sum(hit, axes), x.shape(), axes));
}

// The slope and its product with a cotangent or tangent have the type of partial results, and one rounding follows.
static Value reduce_pull(const VjpCall<ReduceAttrs>& c, Combine kind, std::size_t k) {
  const DType x = c.in[k].dtype();
  const Value t = stretch(c.cotangent[k], c.in[k].shape(), c.attrs.axes);
  if (kind == Combine::add) return convert(t, x);
  const DType wide = combined_type(c.attrs.accumulate, k, x);
  return convert(mul(convert(t, wide), conj(reduce_slope(kind, c.in[k], c.out[k], c.attrs.axes, wide))), x);
}

static Values reduce_vjp(const VjpCall<ReduceAttrs>& c) {
  Values out(c.in.size());
  const RegionId region = c.node.regions[0];  // emission may move the node
  for (std::size_t k = 0; k < c.in.size() / 2; ++k)
    if (c.wanted[k] && c.cotangent[k]) out[k] = reduce_pull(c, reduce_kind(c.graph, region, "vjp", k), k);
  return out;
}

static Values reduce_jvp(const JvpCall<ReduceAttrs>& c) {
  Values out(c.out.size());
  const RegionId region = c.node.regions[0];
  for (std::size_t k = 0; k < c.out.size(); ++k) {
    if (!c.tangent[k]) continue;
    const Combine kind = reduce_kind(c.graph, region, "jvp", k);
    const DType wide = combined_type(c.attrs.accumulate, k, c.in[k].dtype()), y = c.out[k].dtype();
    const Axes& axes = c.attrs.axes;
    Value t = convert(c.tangent[k], wide);
    if (kind != Combine::add) t = mul(t, reduce_slope(kind, c.in[k], c.out[k], axes, wide));
    out[k] = convert(reduce_sum(t, axes), y);
  }
  return out;
}

static Batched reduce_batch(const BatchCall<ReduceAttrs>& c) {
  const std::size_t n = c.in.size() / 2;
  for (std::size_t k = n; k < 2 * n; ++k)
    if (c.axes[k] >= 0) refuse_rule("reduce", "batch", "an identity differs from member to member");
  const RegionBody body = same_region(c.b, c.graph, c.node);
  const Values xs = lead_with_batch(c.in.first(n), c.axes.first(n), c.size);
  ReduceAttrs a = c.attrs;
  a.axes = shifted(a.axes);
  const Values out = reduce(xs, c.in.subspan(n), std::move(a), body);
  return {out, std::vector<int>(out.size(), 0)};
}

static ShardRule reduce_shard(const ReduceAttrs& a, const Signature& s) {
  ShardRule r = shard_positions(s, {}, {});
  for (int d : a.axes) r.factors[static_cast<std::size_t>(d)].kind = ShardRule::Kind::reduced;
  for (std::size_t k = 0; k < s.size() / 2; ++k) {
    r.operands[s.size() / 2 + k] = {};
    r.results.push_back(axes_except(s.rank(0), a.axes));
  }
  return r;
}

extern const OpDef<ReduceAttrs> reduce_op{
    .name = "reduce",
    .doc =
        "Combines all elements along some dimensions by a region that is associative, in the types of accumulate, and "
        "rounds once. Identities must be neutral in the region, such as 0 in a sum, which is not checked: they enter "
        "any number of times, and the order of combination is free. What a result is to start from is combined with it "
        "afterwards.",
    .operands = reduce_operands,
    .constraints = reduce_constraints,
    .infer = reduce_infer,
    .meaning = Primitive<ReduceAttrs>{reduce_reference},
    .vjp = Vjp<ReduceAttrs>{reduce_vjp},
    .jvp = reduce_jvp,
    .batch = reduce_batch,
    .shard = reduce_shard,
    .cost = cost_consuming<reduce_infer, 1, ReduceAttrs>,
    .samples = []() -> std::vector<Sample<ReduceAttrs>> {
      const auto body = [](Combine kind) -> RegionBody {
        return [kind](ValuesIn v) { return Values{combined(kind, v[0], v[1])}; };
      };
      const SampleOperand zero = neutral_operand(DType::f64, 0), one = neutral_operand(DType::f64, 1),
                          low = neutral_operand(DType::f64, -INFINITY), high = neutral_operand(DType::f64, INFINITY);
      const SampleOperand complex_zero = neutral_operand(DType::c128, 0);
      const SampleOperand x{f64({2, 3, 4})}, apart{f64({3, 4}), Fill::distinct}, few{f32({2, 2}), {1, 2, 3, 4}};
      // The index of the greatest element, with the element: two operands reduced together.
      const RegionBody greatest = [](ValuesIn v) {
        const Value second = compare(v[2], v[0], Direction::gt);
        return Values{select(second, v[2], v[0]), select(second, v[3], v[1])};
      };
      return {sample<ReduceAttrs>({x, zero}, {{0, 2}}).with(body(Combine::add)),
              sample<ReduceAttrs>({x, one}, {{1, 2}}).with(body(Combine::mul)),
              sample<ReduceAttrs>({apart, low}, {{1}}).with(body(Combine::max)),
              sample<ReduceAttrs>({apart, high}, {{0}}).with(body(Combine::min)),
              sample<ReduceAttrs>({{f64({3}), {0, 2, 3}}, one}, {{0}}).with(body(Combine::mul)).expects({{0}}).exact(),
              sample<ReduceAttrs>({few, neutral_operand(DType::f32, 0)}, {{0}})
                  .with(body(Combine::add))
                  .expects({{4, 6}})
                  .exact(),
              sample<ReduceAttrs>({few, neutral_operand(DType::f32, 1)}, {{0, 1}})
                  .with(body(Combine::mul))
                  .expects({{24}})
                  .exact(),
              sample<ReduceAttrs>({{f32({3}), {1, NAN, 3}}, neutral_operand(DType::f32, -INFINITY)}, {{0}})
                  .with(body(Combine::max))
                  .expects({{NAN}})
                  .without_gradients(),
              sample<ReduceAttrs>({{boolean({2, 2}), {1, 0, 1, 1}}, neutral_operand(DType::boolean, 1)}, {{1}})
                  .with(body(Combine::min))
                  .expects({{0, 1}})
                  .exact(),
              sample<ReduceAttrs>({{f32({3}), {4, 7, 5}},
                                   {i32({3}), {0, 1, 2}},
                                   neutral_operand(DType::f32, -INFINITY),
                                   neutral_operand(DType::i32, -1)},
                                  {{0}})
                  .with(greatest)
                  .expects({{7}, {1}})
                  .exact()
                  .without_gradients(),
              // 2048 + 1 is 2048 in f16, 256 + 1 is 256 in bf16, and f8e4m3fn has nothing between 16 and 18.
              sample<ReduceAttrs>({{f16({3}), {2048, 1, 1}}, neutral_operand(DType::f16, 0)}, {{0}})
                  .with(body(Combine::add))
                  .expects({{2050}})
                  .exact(),
              sample<ReduceAttrs>({{bf16({3}), {256, 1, 1}}, neutral_operand(DType::bf16, 0)}, {{0}})
                  .with(body(Combine::add))
                  .expects({{258}})
                  .exact(),
              sample<ReduceAttrs>({{tensor(DType::f8e4m3fn, {3}), {16, 1, 0.25}}, neutral_operand(DType::f8e4m3fn, 0)},
                                  {{0}, {}, {DType::f32}})
                  .with(body(Combine::add))
                  .expects({{17.25}})
                  .exact(),
              sample<ReduceAttrs>({{tensor(DType::i8, {3}), {100, 100, 100}}, neutral_operand(DType::i8, 0)}, {{0}})
                  .with(body(Combine::add))
                  .expects({{44}})
                  .exact(),
              sample<ReduceAttrs>({{tensor(DType::i8, {3}), {100, 100, 100}}, neutral_operand(DType::i8, 0)},
                                  {{0}, {}, {DType::i32}})
                  .with(body(Combine::add))
                  .expects({{300}})
                  .exact(),
              sample<ReduceAttrs>({x, zero}, {{0, 2}, {DType::f64}, {DType::f64}}).with(body(Combine::add)),
              sample<ReduceAttrs>({f64({0, 2}), zero}, {{0}}).with(body(Combine::add)).expects({{0, 0}}).exact(),
              sample<ReduceAttrs>({f64({1}), zero}, {{0}}).with(body(Combine::add)),
              sample<ReduceAttrs>({c128({3}), complex_zero}, {{0}}).with(body(Combine::add)),
              sample<ReduceAttrs>({f64({2}), zero}).with(body(Combine::add)),
              sample<ReduceAttrs>({f64({2}), f32({})}, {{0}}).with(body(Combine::add)).breaking("C1"),
              sample<ReduceAttrs>({f64({2}), f64({3}), zero, zero}, {{0}})
                  .with([](ValuesIn v) { return Values{v[0], v[1]}; })
                  .breaking("C2"),
              sample<ReduceAttrs>({f64({2, 2}), zero}, {{1, 0}}).with(body(Combine::add)).breaking("C3"),
              sample<ReduceAttrs>({f64({2}), zero}, {{1}}).with(body(Combine::add)).breaking("C3"),
              sample<ReduceAttrs>({f64({2}), zero}, {{0}})
                  .with([](ValuesIn v) { return Values{compare(v[0], v[1], Direction::lt)}; })
                  .breaking("C4"),
              sample<ReduceAttrs>({f64({2}), zero}, {{0}, {DType::f32}}).with(body(Combine::add)).breaking("C5"),
              sample<ReduceAttrs>({f64({2}), zero}, {{0}, {}, {DType::i64}}).with(body(Combine::add)).breaking("C5"),
              sample<ReduceAttrs>({f64({2}), zero}, {{0}, {DType::f64, DType::f64}})
                  .with(body(Combine::add))
                  .breaking("C5"),
              sample<ReduceAttrs>({f64({2}), zero}, {{0}}).breaking("regions")};
    },
    .region_arguments = [](const ReduceAttrs& a, const Signature& s) -> std::vector<Types> {
      return {combine_arguments(a.accumulate, s)};
    }};

}  // namespace rlx::ops
