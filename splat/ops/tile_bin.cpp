#include "splat/entries.hpp"
#include "splat/ops/common.hpp"

namespace rlx::splat {

using A = TileBinAttrs;
constexpr DTypeSet integers{DType::i32};
constexpr Operand bin_operands[] = {{"boxes", integers}, {"depths", reals}};
constexpr Constraint<A> bin_constraints[] = {
    {"C1", "columns and rows are from 1 to 2^20, and i32 counts their product",
     [](const A& a, const Signature&) -> Answer {
       constexpr std::int64_t most = std::int64_t{1} << 20;
       return a.columns >= 1 && a.columns <= most && a.rows >= 1 && a.rows <= most && a.columns * a.rows <= INT32_MAX;
     }},
    {"C2", "boxes is [c, n, 4]",
     [](const A&, const Signature& s) -> Answer {
       if (s.rank(0) != 3) return Answer::no("rank " + std::to_string(s.rank(0)));
       return s.equal(s.shape(0)[2], 4);
     }},
    {"C3", "depths is [c, n]",
     [](const A&, const Signature& s) { return has_shape(s, 1, {s.shape(0)[0], s.shape(0)[1]}); }},
    {"C4", "size is not negative, or a symbol by itself", [](const A& a, const Signature&) -> Answer {
       if (a.size.is_constant()) return a.size.constant() >= 0;
       const std::vector<std::string> symbols = a.size.symbols();
       return symbols.size() == 1 && a.size == Dim::symbol(symbols[0]);
     }}};

static Types bin_infer(const A& a, const Signature& s) {
  if (a.size.is_constant()) require_counted(a.size.constant());
  return {i32({a.size}), i32({s.shape(0)[0] * (a.columns * a.rows) + 1})};
}

/// Tiles of each box, i32 [c, n].
static Value tiles_of(Value boxes) { return component(boxes, 2) * component(boxes, 3); }

static Value bin_count(Builder&, const A&, ValuesIn in) {
  return ops::reduce_sum(ops::convert(tiles_of(in[0]), DType::i64), {0, 1});
}

// Every Gaussian once for each tile of its box, in the order of the Gaussians; then sorted by tile and depth, which
// keeps that order where both are equal. Places beyond the count come last.
static Values bin_decompose(Builder& b, const A& a, ValuesIn in) {
  const Dim c = in[0].shape()[0], n = in[0].shape()[1], tiles = c * (a.columns * a.rows);
  const Value counts = ops::reshape(tiles_of(in[0]), {c * n});
  const Values copies = ops::repeat(counts, a.size, DType::i32, a.bound);
  const Value used = ops::compare(copies[0], ops::zeros_like(copies[0]), ops::Direction::ge);
  const Value id = ops::max(copies[0], ops::zeros_like(copies[0]));
  // A row more, so that there is one to read where there are no Gaussians.
  const Value none = ops::full(b, DType::i32, {1, 4}, 0), no_depth = ops::full(b, in[1].dtype(), {1}, 0);
  const Value box = ops::take(ops::concat(Values{ops::reshape(in[0], {c * n, 4}), none}, 0), id, 0);
  const auto number = [&](Value like, Dim v) {
    return ops::broadcast_to(ops::dim_size(b, std::move(v), DType::i32), like.shape());
  };
  const Value wide = ops::max(component(box, 2), ops::full_like(id, 1)), image = ops::div(id, number(id, n));
  const Value row = component(box, 1) + ops::div(copies[1], wide),
              column = component(box, 0) + ops::rem(copies[1], wide);
  const Value tile = ops::select(
      used, (image * static_cast<double>(a.rows) + row) * static_cast<double>(a.columns) + column, number(id, tiles));
  const Value depth = ops::take(ops::concat(Values{ops::reshape(in[1], {c * n}), no_depth}, 0), id, 0);
  const Values sorted = ops::sort(Values{tile, depth, id}, {.axis = 0, .keys = 2});
  const Value lengths = ops::index_add(ops::full(b, DType::i32, {tiles + 1}, 0), tile, ops::full_like(tile, 1));
  return {sorted[2], ops::cumsum(lengths, 0, false, true)};
}

extern const OpDef<A> tile_bin_op{
    .name = "splat.tile_bin",
    .doc =
        "Lists of Gaussians for each tile, nearest first, from the boxes of tiles that they meet: numbers of "
        "Gaussians, counted "
        "through all images, and where the list of each tile begins; equal depths keep the order of the Gaussians. "
        "Where size is a number, "
        "places beyond the count hold 0 and belong to no list. More entries than i32 counts are a MemoryError.",
    .operands = bin_operands,
    .constraints = bin_constraints,
    .infer = bin_infer,
    .meaning = Composite<A>{bin_decompose},
    .vjp = Vjp<A>{[](const VjpCall<A>& c) { return Values(c.in.size()); }},
    .jvp = [](const JvpCall<A>&) { return Values(2); },
    .batch = Derived{},
    .shard = Never{"the lists of all tiles lie in one vector"},
    .cost = [](const A& a,
               const Signature& s) { return cost_of(s, bin_infer(a, s), s.tensor(1).numel() * 8 + a.size * 40); },
    .samples = []() -> std::vector<Sample<A>> {
      // Two images of 2 x 2 tiles, two Gaussians each.
      const SampleOperand boxes{i32({2, 2, 4}), {0, 0, 2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 1, 1, 1, 1}};
      const SampleOperand depths{f32({2, 2}), {3, 2, 0, 5}}, equal{f32({2, 2}), {3, 3, 0, 5}};
      const auto with = [](std::int64_t size) { return A{.columns = 2, .rows = 2, .size = size}; };
      const SampleOperand some{i32({1, 5, 4}), Fill::uniform, 0, 2}, far{f64({1, 5}), Fill::distinct, 1, 9};
      return {sample<A>({boxes, depths}, with(5)).expects({{1, 0, 0, 1, 3}, {0, 2, 3, 4, 4, 4, 4, 4, 5}}).exact(),
              sample<A>({boxes, equal}, with(5)).expects({{0, 1, 0, 1, 3}, {0, 2, 3, 4, 4, 4, 4, 4, 5}}).exact(),
              sample<A>({boxes, depths}, with(7)).expects({{1, 0, 0, 1, 3, 0, 0}, {0, 2, 3, 4, 4, 4, 4, 4, 5}}).exact(),
              sample<A>({some, far}, {.columns = 4, .rows = 4, .size = 20}),
              sample<A>({i32({1, 0, 4}), f32({1, 0})}, with(0)).expects({{}, {0, 0, 0, 0, 0}}).exact(),
              sample<A>({boxes, depths}, {.columns = 0, .rows = 2, .size = 5}).breaking("C1"),
              sample<A>({i32({2, 2, 3}), depths}, with(5)).breaking("C2"),
              sample<A>({boxes, f32({4})}, with(5)).breaking("C3"),
              sample<A>({boxes, depths}, with(-1)).breaking("C4")};
    },
    .size = {&A::size, bin_count, [](const A& a, const Signature&) { return a.bound; }}};

}  // namespace rlx::splat
