#include "splat/ops/rasterizing.hpp"

namespace rlx::splat {

using A = RasterizeAttrs;
enum : std::size_t { radii_at = opacities_at + 1 };
constexpr DTypeSet integers{DType::i32};
constexpr Operand boxes_operands[] = {{"means", reals}, {"conics", reals}, {"opacities", reals}, {"radii", integers}};
constexpr Constraint<A> boxes_constraints[] = {
    {"C1", "means, conics and opacities have one dtype",
     [](const A&, const Signature& s) { return one_dtype(s, means_at, opacities_at); }},
    {"C2", "width and height are from 1 to 2^24, tile from 1 to 64", rasterize_sizes},
    {"C3", "means is [c, n, 2]", rasterize_means},
    {"C4", "conics is [c, n, 3], opacities [c, n]", rasterize_gaussians},
    {"C5", "radii is like means",
     [](const A&, const Signature& s) { return has_shape(s, radii_at, s.shape(means_at)); }}};

static Types boxes_infer(const A&, const Signature& s) {
  return {i32({s.shape(means_at)[0], s.shape(means_at)[1], 4})};
}

// The ellipse on which alpha is 1/255 reaches sqrt(2 ln(255 opacity)) deviations from the mean along each axis. A
// little is added, so that no rounding here drops a pixel that the rasterizer would draw.
static Values boxes_decompose(Builder&, const A& a, ValuesIn in) {
  const TileGrid grid(a);
  const Values mean = components(in[means_at]), conic = components(in[conics_at]), radii = components(in[radii_at]);
  const auto positive = [](Value x) { return ops::compare(x, ops::zeros_like(x), ops::Direction::gt); };
  const Value opaque = in[opacities_at] * (1 / least_alpha), one = ops::full_like(opaque, 1);
  const Value det = conic[0] * conic[2] - conic[1] * conic[1];
  Value seen = ops::logical_and(ops::logical_and(positive(radii[0]), positive(radii[1])), positive(det));
  seen = ops::logical_and(seen, ops::compare(opaque, one, ops::Direction::ge));
  const Value square = 2.0 * ops::log(ops::select(seen, opaque, one)) / ops::select(seen, det, one);
  const auto number = [&](double v) { return ops::full_like(det, v); };
  // First tile and number of tiles along an axis, i32.
  const auto range = [&](Value centre, Value across, std::int64_t size) {
    const Value half = ops::sqrt(square * ops::select(seen, across, number(0))) * 1.0001 + 0.001;
    const Value first = ops::clamp(number(0), ops::ceil(centre - half - 0.5), number(static_cast<double>(size)));
    const Value last = ops::clamp(number(-1), ops::floor(centre + half - 0.5), number(static_cast<double>(size - 1)));
    const Value some = ops::logical_and(seen, ops::compare(first, last, ops::Direction::le));
    const auto tile = [&](Value pixel) {
      return ops::convert(ops::floor(ops::select(some, pixel, number(0)) / static_cast<double>(a.tile)), DType::i32);
    };
    const Value from = tile(first), none = ops::zeros_like(from);
    return std::array{from, ops::select(some, ops::add(ops::sub(tile(last), from), ops::full_like(from, 1)), none)};
  };
  const auto [column, columns] = range(mean[0], conic[2], a.width);
  const auto [row, rows] = range(mean[1], conic[0], a.height);
  // Nothing along one axis is nothing at all.
  const Value none = ops::zeros_like(columns);
  const Value some = ops::logical_and(positive(columns), positive(rows));
  const auto kept = [&](Value x) { return ops::select(some, x, none); };
  return {stacked(Values{kept(column), kept(row), kept(columns), kept(rows)})};
}

extern const OpDef<A> tile_boxes_op{
    .name = "splat.tile_boxes",
    .doc =
        "Which tiles the box around each Gaussian meets: first column and row, numbers of columns and rows. The box "
        "holds every "
        "pixel at which alpha is 1/255 or more; a Gaussian with a radius of 0, a determinant that is not positive or "
        "too little opacity has "
        "none.",
    .operands = boxes_operands,
    .constraints = boxes_constraints,
    .infer = boxes_infer,
    .meaning = Composite<A>{boxes_decompose},
    .vjp = Vjp<A>{[](const VjpCall<A>& c) { return Values(c.in.size()); }},
    .jvp = [](const JvpCall<A>&) { return Values(1); },
    .batch = Derived{},
    .shard =
        [](const A&, const Signature&) {
          ShardRule r;
          r.factors.resize(2);  // cameras, Gaussians
          r.operands = {{0, 1, -1}, {0, 1, -1}, {0, 1}, {0, 1, -1}};
          r.results = {{0, 1, -1}};
          return r;
        },
    .cost = [](const A& a,
               const Signature& s) { return cost_of(s, boxes_infer(a, s), s.tensor(opacities_at).numel() * 40); },
    .samples = []() -> std::vector<Sample<A>> {
      // Deviation 2 along x and 1 along y, opacity e^2 / 255: 2 deviations. From 16 - 4 to 16 + 4 and 10 - 2 to 10 + 2:
      // pixels 12 to 19 and 8 to 11, tiles of 8. Then too faint, culled, outside.
      const double o = 7.38905609893065 / 255;
      const auto with = [&](DType t) -> std::vector<SampleOperand> {
        return {{tensor(t, {1, 4, 2}), {16, 10, 16, 10, 16, 10, -9, 10}},
                {tensor(t, {1, 4, 3}), {0.25, 0, 1, 0.25, 0, 1, 0.25, 0, 1, 0.25, 0, 1}},
                {tensor(t, {1, 4}), {o, 0.003, o, o}},
                {i32({1, 4, 2}), {7, 4, 7, 4, 0, 0, 7, 4}}};
      };
      const A small{.width = 30, .height = 20, .tile = 8};
      const std::vector<double> expected{1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
      const auto broken = [&](std::size_t at, SampleOperand operand, std::string_view id) {
        auto in = with(DType::f64);
        in[at] = std::move(operand);
        return sample<A>(std::move(in), small).breaking(id);
      };
      return {sample<A>(with(DType::f64), small).expects({expected}),
              sample<A>(with(DType::f32), small).expects({expected}),
              sample<A>({{f32({2, 30, 2}), Fill::uniform, -10, 60},
                         {f32({2, 30, 3}), Fill::uniform, 0.01, 0.1},
                         {f32({2, 30}), Fill::uniform, 0, 1},
                         {i32({2, 30, 2}), Fill::uniform, 0, 3}},
                        {.width = 50, .height = 40}),
              sample<A>({f32({1, 0, 2}), f32({1, 0, 3}), f32({1, 0}), i32({1, 0, 2})}, small),
              broken(conics_at, f32({1, 4, 3}), "C1"),
              sample<A>(with(DType::f64), {.width = 0}).breaking("C2"),
              broken(means_at, f64({1, 4, 3}), "C3"),
              broken(opacities_at, f64({1, 3}), "C4"),
              broken(radii_at, i32({1, 4}), "C5")};
    }};

}  // namespace rlx::splat
