#include "ops/sized.hpp"

namespace rlx::ops {

constexpr Operand nonzero_operands[] = {{"mask", DTypeSet{DType::boolean}}};

static Value nonzero_count(Builder&, const SizedAttrs&, ValuesIn in) {
  return reduce_sum(convert(in[0], DType::i64), {0});
}

static Dim nonzero_bound(const SizedAttrs& a, const Signature& s) {
  const Dim& n = s.shape(0)[0];
  const bool both = n.is_constant() && a.bound.is_constant() && a.bound.constant() >= 0;
  return both ? Dim(std::min(n.constant(), a.bound.constant())) : a.bound == -1 ? n : a.bound;
}

// Each true element writes its position where the number of those before it says.
static Values nonzero_decompose(Builder& b, const SizedAttrs& a, ValuesIn in) {
  const std::int64_t room = capacity("nonzero", a);
  const Value mask = in[0], ends = cumsum(convert(mask, DType::i64), 0);
  const Value last = full_like(ends, static_cast<double>(room));
  const Value fits = logical_and(mask, compare(ends, last, Direction::le));
  const Value slots = select(fits, ends - 1, full_like(ends, static_cast<double>(dropped_index(DType::i64))));
  const Value unused = full(b, a.index, {room}, static_cast<double>(no_place));
  const Value places =
      scatter(unused, slots, iota(b, a.index, mask.shape(), 0),
              {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1});
  const Value count = within_capacity(nonzero_count(b, a, in), "nonzero", room);
  const Value used = compare(iota(b, DType::i64, {room}, 0), broadcast(count, {room}, {}), Direction::lt);
  return {select(used, places, unused)};
}

extern const OpDef<SizedAttrs> nonzero_op{
    .name = "nonzero",
    .doc = "Positions of the true elements, ascending; -1 beyond their number where `size` is a greater number.",
    .operands = nonzero_operands,
    .constraints = sized_constraints,
    .infer = [](const SizedAttrs& a, const Signature&) -> Types { return {tensor(a.index, {a.size})}; },
    .meaning = Composite<SizedAttrs>{nonzero_decompose},
    .vjp = Vjp<SizedAttrs>{zero_vjp<SizedAttrs>},
    .jvp = zero_jvp<SizedAttrs>,
    .batch = Derived{},
    .shard =
        [](const SizedAttrs&, const Signature&) {
          ShardRule r;
          r.operands = r.results = {{-1}};
          return r;
        },
    .cost =
        [](const SizedAttrs& a, const Signature& s) {
          return Cost{s.tensor(0).numel() * 4 + a.size * 2, bytes_of(s.types[0]) + bytes_of(a.index, a.size)};
        },
    .samples = []() -> std::vector<Sample<SizedAttrs>> {
      using S = SizedAttrs;
      const SampleOperand mask{boolean({5}), {0, 1, 1, 0, 1}};
      return {sample<S>({mask}, {.size = 3}).expects({{1, 2, 4}}).exact(),
              sample<S>({mask}, {.size = 5, .index = DType::i64}).expects({{1, 2, 4, -1, -1}}).exact(),
              sample<S>({boolean({40})}, {.size = 40}),
              sample<S>({{boolean({3}), {0, 0, 0}}}, {.size = 0}).expects({{}}).exact(),
              sample<S>({boolean({0})}, {.size = 2}).expects({{-1, -1}}).exact(),
              sample<S>({boolean({2, 2})}, {.size = 4}).breaking("C1"),
              sample<S>({mask}, {.size = -1}).breaking("C2"),
              sample<S>({mask}, {.size = Dim::symbol("k") + 1}).breaking("C2"),
              sample<S>({mask}, {.size = 5, .index = DType::u8}).breaking("C3"),
              sample<S>({mask}, {.size = 5, .bound = -2}).breaking("C4"),
              sample<S>({i32({5})}, {.size = 5}).breaking("dtype")};
    },
    .size = {&SizedAttrs::size, nonzero_count, nonzero_bound}};

}  // namespace rlx::ops
