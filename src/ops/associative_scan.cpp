// The combination is associative and the identities are neutral (not checked), so that prefixes may be formed in a
// tree.
#include "ops/combine.hpp"
#include "ops/regions.hpp"
#include "ops/structure.hpp"

namespace rlx::ops {

using ScanAlong = AssociativeScanAttrs;

constexpr Operand associative_scan_operands[] = {{"xs and identities", storable, OperandKind::tensor, true}};
constexpr Constraint<ScanAlong> associative_scan_constraints[] = {
    {"C1", "operands are followed by as many identities, scalars of the same dtypes",
     [](const ScanAlong&, const Signature& s) { return operands_and_identities(s); }},
    {"C2", "all xs have one shape", [](const ScanAlong&, const Signature& s) { return one_shape(s); }},
    {"C3", "0 <= axis < rank(xs)",
     [](const ScanAlong& a, const Signature& s) { return axis_within(a.axis, s.rank(0)); }},
    {"C4", "one region combines two scalars for each of xs, of its type in accumulate, into one",
     [](const ScanAlong& a, const Signature& s) { return combines_scalars(a.accumulate, s); }},
    {"C5",
     "accumulate and result are empty or have for each of xs bool (the default) or a type of its kind that is at least "
     "as wide",
     [](const ScanAlong& a, const Signature& s) { return types_widen(a.accumulate, a.result, s); }}};

static Types associative_scan_infer(const ScanAlong& a, const Signature& s) {
  Types types;
  for (std::size_t i = 0; i < s.size() / 2; ++i)
    types.push_back(tensor(listed_type(a.result, i, s.dtype(i)), s.shape(i)));
  return types;
}

static HostValues associative_scan_reference(const ScanAlong& a, const ReferenceCall& c) {
  const std::size_t n = c.in.size() / 2;
  const auto axis = static_cast<std::size_t>(a.axis);
  const Position& shape = c.tensor(0).shape();
  std::vector<HostTensor> y, start, state;
  for (std::size_t k = 0; k < n; ++k) {
    y.push_back(c.make(k));
    start.push_back(converted_element(c.tensor(n + k), 0, combined_type(a.accumulate, k, c.tensor(k).dtype())));
  }
  const auto store = [&](std::int64_t at) {
    for (std::size_t k = 0; k < n; ++k) convert_element(y[k], at, state[k], 0);
  };
  Position lines = shape;
  lines[axis] = std::min<std::int64_t>(1, shape[axis]);
  for_each_position(lines, [&](Position p, std::int64_t) {
    state = start;
    for (std::int64_t i = 0; i < shape[axis]; ++i) {
      p[axis] = a.reverse ? shape[axis] - 1 - i : i;
      const std::int64_t at = flat(p, shape);
      if (a.exclusive) store(at);
      if (a.exclusive || i > 0) combine_by_region(c, state, 0, n, at);
      else
        for (std::size_t k = 0; k < n; ++k) convert_element(state[k], 0, c.tensor(k), at);
      if (!a.exclusive) store(at);
    }
  });
  return HostValues(y.begin(), y.end());
}

static Value associative_scan_of(Combine kind, Value x, const ScanAlong& a) {
  const Value neutral = identity(*x.builder, kind, x.dtype());
  return associative_scan({&x, 1}, {&neutral, 1}, a,
                          [kind](ValuesIn v) { return Values{combined(kind, v[0], v[1])}; })[0];
}

/// Moves elements by one along the axis, against the scan's direction where `back`; a zero enters.
static Value associative_scan_shift(Value x, const ScanAlong& a, bool back) {
  std::vector<std::int64_t> low(static_cast<std::size_t>(x.rank()), 0), high = low;
  low[static_cast<std::size_t>(a.axis)] = a.reverse == back ? 1 : -1;
  high[static_cast<std::size_t>(a.axis)] = a.reverse == back ? -1 : 1;
  return pad(x, scalar(*x.builder, x.dtype(), 0), low, high);
}

/// s[i] = b[i] + a[i] * s[i before], along the scan.
static Value associative_scan_linear(Value a, Value b, const ScanAlong& attrs) {
  const Values xs{a, b}, neutral{scalar(*a.builder, a.dtype(), 1), scalar(*a.builder, a.dtype(), 0)};
  return associative_scan(xs, neutral, attrs,
                          [](ValuesIn v) { return Values{mul(v[2], v[0]), add(mul(v[2], v[1]), v[3])}; })[1];
}

static Combine associative_scan_kind(const Graph& g, RegionId region, const char* rule, std::size_t k) {
  if (const auto kind = recognise_combine(g, region, k)) return *kind;
  refuse_rule("associative_scan", rule, "the region is not add, mul, min or max of result " + std::to_string(k));
}

// Of y[i] = combine(y[i before], x[i]), for all combinations but add: d y[i] / d y[i before] and d y[i] / d x[i]. An
// extremum goes to the operand that has it, in a tie half to each, as with two operands.
struct ScanSlopes {
  Value keep, enter;
};
static ScanSlopes associative_scan_slopes(Combine kind, Value x, const ScanAlong& a) {
  const Value before = associative_scan_of(kind, x, {.axis = a.axis, .reverse = a.reverse, .exclusive = true});
  if (kind == Combine::mul) return {x, before};
  const Value one = full_like(x, 1);
  const Value enter = share(one, compare(x, before, kind == Combine::max ? Direction::gt : Direction::lt),
                            compare(x, before, Direction::eq));
  return {sub(one, enter), enter};
}

// Slopes and their products with cotangents or tangents have the type of partial results.
static DType associative_scan_wide(const ScanAlong& a, std::size_t k, Value x) {
  return combined_type(a.accumulate, k, x.dtype());
}

// add: the reversed scan. Else x[k] gets enter[k] * S[k], where S sums the later cotangents times the slopes between:
// S[k] = t[k] + keep[k after] * S[k after]. No division, so zeros are fine.
static Values associative_scan_vjp(const VjpCall<ScanAlong>& c) {
  Values out(c.in.size());
  const RegionId region = c.node.regions[0];  // emission may move the node
  const ScanAlong& a = c.attrs;
  const ScanAlong back{.axis = a.axis, .reverse = !a.reverse};
  for (std::size_t k = 0; k < c.in.size() / 2; ++k) {
    if (!c.wanted[k] || !c.cotangent[k]) continue;
    const Combine kind = associative_scan_kind(c.graph, region, "vjp", k);
    const DType x = c.in[k].dtype(), wide = associative_scan_wide(a, k, c.in[k]);
    const Value cotangent = convert(c.cotangent[k], wide);
    if (kind == Combine::add) {
      const ScanAlong other{.axis = a.axis, .reverse = !a.reverse, .exclusive = a.exclusive};
      out[k] = convert(associative_scan_of(Combine::add, cotangent, other), x);
      continue;
    }
    const ScanSlopes s = associative_scan_slopes(kind, convert(c.in[k], wide), a);
    const Value t = a.exclusive ? associative_scan_shift(cotangent, a, true) : cotangent;
    out[k] =
        convert(mul(conj(s.enter), associative_scan_linear(associative_scan_shift(conj(s.keep), a, true), t, back)), x);
  }
  return out;
}

// dY[i] = keep[i] * dY[i before] + enter[i] * dx[i].
static Values associative_scan_jvp(const JvpCall<ScanAlong>& c) {
  Values out(c.out.size());
  const RegionId region = c.node.regions[0];
  const ScanAlong& a = c.attrs;
  const ScanAlong along{.axis = a.axis, .reverse = a.reverse};
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!c.tangent[k]) continue;
    const Combine kind = associative_scan_kind(c.graph, region, "jvp", k);
    const DType y = c.out[k].dtype(), wide = associative_scan_wide(a, k, c.in[k]);
    const Value t = convert(c.tangent[k], wide);
    if (kind == Combine::add) {
      const ScanAlong same{.axis = a.axis, .reverse = a.reverse, .exclusive = a.exclusive};
      out[k] = convert(associative_scan_of(Combine::add, t, same), y);
      continue;
    }
    const ScanSlopes s = associative_scan_slopes(kind, convert(c.in[k], wide), a);
    const Value d = associative_scan_linear(s.keep, mul(s.enter, t), along);
    out[k] = convert(a.exclusive ? associative_scan_shift(d, a, false) : d, y);
  }
  return out;
}

static Batched associative_scan_batch(const BatchCall<ScanAlong>& c) {
  const std::size_t n = c.in.size() / 2;
  for (std::size_t k = n; k < 2 * n; ++k)
    if (c.axes[k] >= 0) refuse_rule("associative_scan", "batch", "an identity differs from member to member");
  const RegionBody body = same_region(c.b, c.graph, c.node);
  ScanAlong a = c.attrs;
  ++a.axis;
  const Values out =
      associative_scan(lead_with_batch(c.in.first(n), c.axes.first(n), c.size), c.in.subspan(n), a, body);
  return {out, std::vector<int>(out.size(), 0)};
}
static ShardRule associative_scan_shard(const ScanAlong& a, const Signature& s) {
  return shard_positions(s, associative_scan_infer(a, s), {a.axis});
}

extern const OpDef<ScanAlong> associative_scan_op{
    .name = "associative_scan",
    .doc =
        "Prefix combinations along one dimension by a region that is associative, carried in the types of accumulate "
        "and each rounded once. Identities must be neutral in the region for the elements there are, such as 0 in a "
        "sum, which is not checked: they enter any number of times, and prefixes may be formed in a tree.",
    .operands = associative_scan_operands,
    .constraints = associative_scan_constraints,
    .infer = associative_scan_infer,
    .meaning = Primitive<ScanAlong>{associative_scan_reference},
    .vjp = Vjp<ScanAlong>{associative_scan_vjp},
    .jvp = associative_scan_jvp,
    .batch = associative_scan_batch,
    .shard = associative_scan_shard,
    .cost = cost_consuming<associative_scan_infer, 1, ScanAlong>,
    .samples = []() -> std::vector<Sample<ScanAlong>> {
      const auto body = [](Combine kind) -> RegionBody {
        return [kind](ValuesIn v) { return Values{combined(kind, v[0], v[1])}; };
      };
      const SampleOperand zero = neutral_operand(DType::f64, 0), one = neutral_operand(DType::f64, 1), x{f64({3, 4})},
                          few{f32({3}), {1, 2, 4}}, apart{f64({3, 4}), Fill::distinct},
                          least = neutral_operand(DType::f64, -2), most = neutral_operand(DType::f64, 2);
      const RegionBody linear = [](ValuesIn v) { return Values{mul(v[2], v[0]), add(mul(v[2], v[1]), v[3])}; };
      std::vector<Sample<ScanAlong>> all;
      for (bool reverse : {false, true})
        for (bool exclusive : {false, true}) {
          all.push_back(sample<ScanAlong>({x, zero}, {1, reverse, exclusive}).with(body(Combine::add)));
          all.push_back(sample<ScanAlong>({x, one}, {0, reverse, exclusive}).with(body(Combine::mul)));
          all.push_back(sample<ScanAlong>({apart, least}, {1, reverse, exclusive}).with(body(Combine::max)));
          all.push_back(sample<ScanAlong>({apart, most}, {0, reverse, exclusive}).with(body(Combine::min)));
        }
      std::vector<Sample<ScanAlong>> more{
          sample<ScanAlong>({few, neutral_operand(DType::f32, 0)})
              .with(body(Combine::add))
              .expects({{1, 3, 7}})
              .exact(),
          sample<ScanAlong>({few, neutral_operand(DType::f32, 0)}, {0, true, false})
              .with(body(Combine::add))
              .expects({{7, 6, 4}})
              .exact(),
          sample<ScanAlong>({few, neutral_operand(DType::f32, 0)}, {0, false, true})
              .with(body(Combine::add))
              .expects({{0, 1, 3}})
              .exact(),
          sample<ScanAlong>({few, neutral_operand(DType::f32, 1)}, {0, true, true})
              .with(body(Combine::mul))
              .expects({{8, 4, 1}})
              .exact(),
          sample<ScanAlong>({{f32({3}), {1, 3, 2}}, neutral_operand(DType::f32, -INFINITY)})
              .with(body(Combine::max))
              .expects({{1, 3, 3}})
              .exact(),
          sample<ScanAlong>({{f32({3}), {2, 2, 2}},
                             {f32({3}), {1, 1, 1}},
                             neutral_operand(DType::f32, 1),
                             neutral_operand(DType::f32, 0)})
              .with(linear)
              .expects({{2, 4, 8}, {1, 3, 7}})
              .exact()
              .without_gradients(),
          // In f16 2048 + 1 is 2048, in i8 100 + 100 is -56.
          sample<ScanAlong>({{f16({4}), {2048, 1, 1, 2}}, neutral_operand(DType::f16, 0)})
              .with(body(Combine::add))
              .expects({{2048, 2048, 2050, 2052}})
              .exact(),
          sample<ScanAlong>({{tensor(DType::i8, {3}), {100, 100, 100}}, neutral_operand(DType::i8, 0)})
              .with(body(Combine::add))
              .expects({{100, -56, 44}})
              .exact(),
          sample<ScanAlong>({{tensor(DType::i8, {3}), {100, 100, 100}}, neutral_operand(DType::i8, 0)},
                            {.result = {DType::i32}})
              .with(body(Combine::add))
              .expects({{100, 200, 300}})
              .exact(),
          sample<ScanAlong>({{tensor(DType::f8e4m3fn, {3}), {16, 1, 0.25}}, neutral_operand(DType::f8e4m3fn, 0)},
                            {.exclusive = true, .result = {DType::f32}})
              .with(body(Combine::add))
              .expects({{0, 16, 17}})
              .exact(),
          sample<ScanAlong>({f64({0}), zero}).with(body(Combine::add)),
          sample<ScanAlong>({f64({1, 1}), one}).with(body(Combine::mul)),
          sample<ScanAlong>({f64({2}), f32({})}).with(body(Combine::add)).breaking("C1"),
          sample<ScanAlong>({f64({2}), f64({3}), zero, zero})
              .with([](ValuesIn v) { return Values{v[0], v[1]}; })
              .breaking("C2"),
          sample<ScanAlong>({f64({2}), zero}, {1, false, false}).with(body(Combine::add)).breaking("C3"),
          sample<ScanAlong>({f64({2}), zero}).with([](ValuesIn) { return Values{}; }).breaking("C4"),
          sample<ScanAlong>({f64({2}), zero}, {.accumulate = {DType::f32}}).with(body(Combine::add)).breaking("C5"),
          sample<ScanAlong>({f64({2}), zero}, {.result = {DType::c128}}).with(body(Combine::add)).breaking("C5"),
          sample<ScanAlong>({f64({2}), zero}, {.result = {DType::f64, DType::f64}})
              .with(body(Combine::add))
              .breaking("C5")};
      all.insert(all.end(), more.begin(), more.end());
      return all;
    },
    .region_arguments = [](const ScanAlong& a, const Signature& s) -> std::vector<Types> {
      return {combine_arguments(a.accumulate, s)};
    }};

}  // namespace rlx::ops
