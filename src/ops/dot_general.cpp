#include "ops/contraction.hpp"

#include <algorithm>

namespace rlx::ops {

constexpr Operand dot_general_operands[] = {{"lhs", contractible}, {"rhs", contractible}};

static Axes joined(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
static Axes lhs_free(const DotGeneralAttrs& a, int rank) {
  return axes_except(rank, joined(a.lhs_batch, a.lhs_contract));
}
static Axes rhs_free(const DotGeneralAttrs& a, int rank) {
  return axes_except(rank, joined(a.rhs_batch, a.rhs_contract));
}
static Answer paired_dims(const Signature& s, const Axes& lhs, const Axes& rhs) {
  Answer all = true;
  for (std::size_t i = 0; i < lhs.size(); ++i)
    all = std::move(all) && s.equal(s.tensor(0).dim(lhs[i]), s.tensor(1).dim(rhs[i]));
  return all;
}

constexpr Constraint<DotGeneralAttrs> dot_general_constraints[] = {
    {"C1", "lhs and rhs have one dtype, or both are 8-bit floats",
     [](const DotGeneralAttrs&, const Signature& s) {
       return Answer(s.dtype(0) == s.dtype(1) || (float8.contains(s.dtype(0)) && float8.contains(s.dtype(1))));
     }},
    {"C2", "batch and contracting dimensions come in pairs",
     [](const DotGeneralAttrs& a, const Signature&) {
       return has_length(a.rhs_batch.size(), static_cast<int>(a.lhs_batch.size()), "rhs_batch") &&
              has_length(a.rhs_contract.size(), static_cast<int>(a.lhs_contract.size()), "rhs_contract");
     }},
    {"C3", "batch and contracting dimensions of each operand are distinct and within its rank",
     [](const DotGeneralAttrs& a, const Signature& s) {
       return axes_distinct(joined(a.lhs_batch, a.lhs_contract), s.rank(0)) &&
              axes_distinct(joined(a.rhs_batch, a.rhs_contract), s.rank(1));
     }},
    {"C4", "paired batch dimensions are equal",
     [](const DotGeneralAttrs& a, const Signature& s) { return paired_dims(s, a.lhs_batch, a.rhs_batch); }},
    {"C5", "paired contracting dimensions are equal",
     [](const DotGeneralAttrs& a, const Signature& s) { return paired_dims(s, a.lhs_contract, a.rhs_contract); }},
    {"C6", "accumulate and result are bool (the default) or at least as wide as the operands",
     [](const DotGeneralAttrs& a, const Signature& s) {
       return widens(a.accumulate, s.dtype(0)) && widens(a.result, s.dtype(0));
     }},
    {"C7", "algorithms other than exact take f32 operands", [](const DotGeneralAttrs& a, const Signature& s) {
       return Answer(a.algorithm == Algorithm::exact || s.dtype(0) == DType::f32);
     }}};

static Types dot_general_infer(const DotGeneralAttrs& a, const Signature& s) {
  Shape shape;
  for (int d : a.lhs_batch) shape.push_back(s.tensor(0).dim(d));
  for (int d : lhs_free(a, s.rank(0))) shape.push_back(s.tensor(0).dim(d));
  for (int d : rhs_free(a, s.rank(1))) shape.push_back(s.tensor(1).dim(d));
  return {tensor(a.result == DType::boolean ? s.dtype(0) : a.result, shape)};
}

static HostValues dot_general_reference(const DotGeneralAttrs& a, const ReferenceCall& c) {
  const HostTensor &x = c.tensor(0), &y = c.tensor(1);
  HostTensor r = c.make();
  const Axes free_x = lhs_free(a, x.rank()), free_y = rhs_free(a, y.rank());
  Position contracted;
  for (int d : a.lhs_contract) contracted.push_back(x.shape()[static_cast<std::size_t>(d)]);
  const auto at = [](Position& p, const Axes& dims, const Position& from, std::size_t first) {
    for (std::size_t i = 0; i < dims.size(); ++i) p[static_cast<std::size_t>(dims[i])] = from[first + i];
  };
  Position px(x.shape().size()), py(y.shape().size());
  HostSum sum(x.dtype(), accumulator(a.accumulate, x.dtype()));
  for_each_position(r.shape(), [&](const Position& p, std::int64_t i) {
    at(px, a.lhs_batch, p, 0);
    at(py, a.rhs_batch, p, 0);
    at(px, free_x, p, a.lhs_batch.size());
    at(py, free_y, p, a.lhs_batch.size() + free_x.size());
    for_each_position(contracted, [&](const Position& k, std::int64_t) {
      at(px, a.lhs_contract, k, 0);
      at(py, a.rhs_contract, k, 0);
      sum.add(x, flat(px, x.shape()), y, flat(py, y.shape()));
    });
    sum.store(r, i);
  });
  return {r};
}

// The cotangent contracted with the other operand over the latter's free dimensions; then dimensions go back to their
// order. A cotangent wider than the operands makes the product in its type: nothing is narrowed before the end.
static Value dot_general_pull(const VjpCall<DotGeneralAttrs>& c, bool left) {
  const DotGeneralAttrs& a = c.attrs;
  const Value self = c.in[left ? 0 : 1], t = c.cotangent[0];
  const Value other = convert(conj(c.in[left ? 1 : 0]), t.dtype());
  const int batch = static_cast<int>(a.lhs_batch.size()), lhs_rank = c.in[0].rank(), rhs_rank = c.in[1].rank();
  const Axes &self_batch = left ? a.lhs_batch : a.rhs_batch, &other_batch = left ? a.rhs_batch : a.lhs_batch;
  const Axes &self_contract = left ? a.lhs_contract : a.rhs_contract,
             &other_contract = left ? a.rhs_contract : a.lhs_contract;
  const Axes self_free = left ? lhs_free(a, lhs_rank) : rhs_free(a, rhs_rank),
             other_free = left ? rhs_free(a, rhs_rank) : lhs_free(a, lhs_rank);
  const int first = left ? batch + static_cast<int>(self_free.size()) : batch;  // of other's free dimensions in t
  DotGeneralAttrs d{axes_upto(batch), other_batch, shifted(axes_upto(static_cast<int>(other_free.size())), first),
                    other_free};
  if (t.dtype() == self.dtype()) d.accumulate = a.accumulate;
  if (t.dtype() == DType::f32) d.algorithm = a.algorithm;
  const Value r = dot_general(t, other, d);
  // r: batch, self's free ones, then self's contracted ones in the order in which `other` has them.
  std::vector<std::pair<int, int>> contracted;
  for (std::size_t i = 0; i < self_contract.size(); ++i) contracted.emplace_back(other_contract[i], self_contract[i]);
  std::sort(contracted.begin(), contracted.end());
  Axes order = joined(self_batch, self_free);
  for (const auto& pair : contracted) order.push_back(pair.second);
  return convert(transpose(r, inverse_permutation(order)), self.dtype());
}

static Values dot_general_vjp(const VjpCall<DotGeneralAttrs>& c) {
  return {c.wanted[0] ? dot_general_pull(c, true) : Value{}, c.wanted[1] ? dot_general_pull(c, false) : Value{}};
}
static Values dot_general_jvp(const JvpCall<DotGeneralAttrs>& c) {
  const Value x = c.tangent[0] ? dot_general(c.tangent[0], c.in[1], c.attrs) : Value{};
  const Value y = c.tangent[1] ? dot_general(c.in[0], c.tangent[1], c.attrs) : Value{};
  return {x && y ? add(x, y) : x ? x : y};
}

// Both batched: one more batch dimension. One: one more free dimension, the first of its operand's.
static Batched dot_general_batch(const BatchCall<DotGeneralAttrs>& c) {
  DotGeneralAttrs a = c.attrs;
  const bool left = c.axes[0] >= 0, right = c.axes[1] >= 0;
  int at = 0;
  if (left) a.lhs_batch = shifted(a.lhs_batch), a.lhs_contract = shifted(a.lhs_contract);
  if (right) a.rhs_batch = shifted(a.rhs_batch), a.rhs_contract = shifted(a.rhs_contract);
  if (left && right) a.lhs_batch.insert(a.lhs_batch.begin(), 0), a.rhs_batch.insert(a.rhs_batch.begin(), 0);
  else at = left ? static_cast<int>(a.lhs_batch.size()) : c.in[0].rank() - static_cast<int>(a.lhs_contract.size());
  const Value x = left ? lead(c.in[0], c.axes[0], c.size) : c.in[0],
              y = right ? lead(c.in[1], c.axes[1], c.size) : c.in[1];
  return {{dot_general(x, y, a)}, {at}};
}

static ShardRule dot_general_shard(const DotGeneralAttrs& a, const Signature& s) {
  ShardRule r;
  Axes x(s.shape(0).size(), -1), y(s.shape(1).size(), -1), out;
  const auto factor = [&](ShardRule::Kind kind) {
    r.factors.push_back({kind, 0});
    return static_cast<int>(r.factors.size()) - 1;
  };
  const auto at = [](Axes& axes, int d) -> int& { return axes[static_cast<std::size_t>(d)]; };
  for (std::size_t i = 0; i < a.lhs_batch.size(); ++i) {
    out.push_back(factor(ShardRule::Kind::passed));
    at(x, a.lhs_batch[i]) = at(y, a.rhs_batch[i]) = out.back();
  }
  for (int d : lhs_free(a, s.rank(0))) out.push_back(at(x, d) = factor(ShardRule::Kind::passed));
  for (int d : rhs_free(a, s.rank(1))) out.push_back(at(y, d) = factor(ShardRule::Kind::passed));
  for (std::size_t i = 0; i < a.lhs_contract.size(); ++i)
    at(x, a.lhs_contract[i]) = at(y, a.rhs_contract[i]) = factor(ShardRule::Kind::reduced);
  r.operands = {x, y};
  r.results = {out};
  return r;
}
// A complex product is four multiplications and two additions, its sum two.
static Cost dot_general_cost(const DotGeneralAttrs& a, const Signature& s) {
  const Types r = dot_general_infer(a, s);
  Dim n = std::get<TensorType>(r[0]).numel() * (is_complex(s.dtype(0)) ? 8 : 2);
  for (int d : a.lhs_contract) n = n * s.tensor(0).dim(d);
  return cost_of(s, r, n);
}

extern const OpDef<DotGeneralAttrs> dot_general_op{
    .name = "dot_general",
    .doc = "Sums products of lhs and rhs over contracted dimensions, for each batch index.",
    .operands = dot_general_operands,
    .constraints = dot_general_constraints,
    .infer = dot_general_infer,
    .meaning = Primitive<DotGeneralAttrs>{dot_general_reference},
    .vjp = Vjp<DotGeneralAttrs>{dot_general_vjp},
    .jvp = dot_general_jvp,
    .batch = dot_general_batch,
    .shard = dot_general_shard,
    .cost = dot_general_cost,
    .samples = []() -> std::vector<Sample<DotGeneralAttrs>> {
      using D = DotGeneralAttrs;
      const D product{{}, {}, {1}, {0}};
      const auto typed = [](DType accumulate, DType result, Algorithm algorithm = Algorithm::exact) {
        return D{{}, {}, {1}, {0}, accumulate, result, algorithm};
      };
      const SampleOperand x{f32({2, 2}), {1, 2, 3, 4}}, y{f32({2, 2}), {5, 6, 7, 8}};
      return {
          sample<D>({f64({3, 4}), f64({4, 2})}, product),
          sample<D>({f64({2, 3, 4, 5}), f64({5, 2, 4, 3})}, D{{0}, {1}, {3, 2}, {0, 2}}),
          sample<D>({f64({4, 2, 3}), f64({3, 4, 2})}, D{{1, 0}, {2, 1}, {2}, {0}}),
          sample<D>({f64({2}), f64({3})}),
          sample<D>({c128({2, 3}), c128({3, 2})}, product),
          sample<D>({x, y}, product).expects({{19, 22, 43, 50}}).exact(),
          sample<D>({x, y}, D{{0}, {0}, {}, {}}).expects({{5, 6, 10, 12, 21, 24, 28, 32}}).exact(),
          sample<D>({{c64({1, 1}), {1, 2}}, {c64({1, 1}), {3, -1}}}, product).expects({{5, 5}}).exact(),
          sample<D>({{bf16({1, 2}), {256, 1}}, {bf16({2, 1}), {1, 1}}}, typed(DType::boolean, DType::f32))
              .expects({{257}})
              .exact(),
          sample<D>({{tensor(DType::i8, {1, 2}), {100, 100}}, {tensor(DType::i8, {2, 1}), {100, 100}}},
                    typed(DType::boolean, DType::i32))
              .expects({{20000}})
              .exact(),
          sample<D>({{tensor(DType::i8, {1, 1}), {100}}, {tensor(DType::i8, {1, 1}), {3}}}, product)
              .expects({{44}})
              .exact(),
          sample<D>({{tensor(DType::f8e4m3fn, {1, 1}), {1.5}}, {tensor(DType::f8e5m2, {1, 1}), {4}}},
                    typed(DType::boolean, DType::f32))
              .expects({{6}})
              .exact(),
          sample<D>({f64({2, 0}), f64({0, 3})}, product).expects({{0, 0, 0, 0, 0, 0}}).exact(),
          sample<D>({f64({}), f64({})}),
          sample<D>({f32({2, 2}), f64({2, 2})}, product).breaking("C1"),
          sample<D>({f32({2, 2}), f32({2, 2})}, D{{0}, {}, {}, {}}).breaking("C2"),
          sample<D>({f32({2, 2}), f32({2, 2})}, D{{0}, {0}, {0}, {1}}).breaking("C3"),
          sample<D>({f32({2, 2}), f32({3, 2})}, D{{0}, {0}, {}, {}}).breaking("C4"),
          sample<D>({f32({2, 3}), f32({2, 2})}, product).breaking("C5"),
          sample<D>({f64({2, 2}), f64({2, 2})}, typed(DType::f32, DType::boolean)).breaking("C6"),
          sample<D>({f32({2, 2}), f32({2, 2})}, typed(DType::boolean, DType::i32)).breaking("C6"),
          sample<D>({f64({2, 2}), f64({2, 2})}, typed(DType::boolean, DType::boolean, Algorithm::tf32)).breaking("C7")};
    }};

}  // namespace rlx::ops
